"""Checks of the hand-written pages: `python docs/checks.py` prints their lengths and what breaks the house style."""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGES = ("index.md", "teaching.md", "tutorials/*.md", "how-to/*.md", "reference/*.md", "explanation/*.md")
MOST_WORDS, MOST_WORDS_OF_A_PAGE, MEDIAN = 30_000, 1_800, 900
README, MOST_WORDS_OF_README = DOCS.parent / "README.md", 700
"""Code and tables of the README do not count."""
MOST_WORDS_OF_A_SENTENCE = 30
"""The house style asks for 25; a few sentences with names of code are longer."""
PHRASES = re.compile(
    r"\b(what is (?!a\b|the\b)\w+ed|whoever|nobody|stands?|beside|goes on|told apart|tells? apart|is given"
    r"|was to be had|lets? go of|in the house|at work|hangs? on|the one who|today|an earlier run)\b",
    re.IGNORECASE,
)
FIGURES = re.compile(
    r"\d\.\d+ ?%|\b\d\d\.\d{1,2}\b|\b\d+(\.\d+)? times (as|faster|slower)|\d (notes|tokens|MB) (a|per) second|\d ms\b"
)
"""Measurements: they belong to the page of benchmarks, which is generated."""


def pages() -> list[Path]:
    """The hand-written pages, without those that the build generates or includes."""
    ignored = (DOCS.parent / ".gitignore").read_text(encoding="utf-8").splitlines()
    generated = tuple(line.removeprefix("/docs/") for line in ignored if line.startswith("/docs/"))
    found = [page for pattern in PAGES for page in sorted(DOCS.glob(pattern))]
    return [page for page in found if not page.relative_to(DOCS).as_posix().startswith(generated)]


def too_long(lengths: dict[str, int]) -> list[str]:
    """What exceeds the bounds on words: a page, all pages, their median, or the README."""
    found = [f"{name} has {length:,} words" for name, length in lengths.items() if length > MOST_WORDS_OF_A_PAGE]
    if sum(lengths.values()) > MOST_WORDS:
        found.append(f"all pages have {sum(lengths.values()):,} words")
    if statistics.median(lengths.values()) > MEDIAN:
        found.append(f"the median is {statistics.median(lengths.values()):g} words")
    readme = sum(len(sentence.split()) for sentence in sentences(README.read_text(encoding="utf-8")))
    if readme > MOST_WORDS_OF_README:
        found.append(f"README.md has {readme:,} words")
    return found


def sentences(text: str) -> Iterator[str]:
    """Sentences of a page, without code, tables and headings."""
    text = re.sub(r"^(`{3,}|:{3,}).*?^\1\s*$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"^(\||#).*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`\n]*`", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for paragraph in re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.) ", text, flags=re.MULTILINE):
        yield from (one for one in re.split(r"(?<=[.!?])[)*_\"]*\s+(?=[A-Z*\"(])", " ".join(paragraph.split())) if one)


def problems(text: str) -> Iterator[str]:
    """What breaks the house style: long sentences, phrases to avoid, figures."""
    for sentence in sentences(text):
        count = len(re.findall(r"[\w'-]*\w[\w'-]*", sentence))
        if count > MOST_WORDS_OF_A_SENTENCE:
            yield f"{count} words in one sentence: {sentence[:70]}..."
        yield from (f"phrase to avoid: '{found[0]}' in: {sentence[:70]}" for found in PHRASES.finditer(sentence))
        yield from (f"figure outside the benchmarks: {found[0]}" for found in FIGURES.finditer(sentence))


def main() -> int:
    """Print the lengths of all pages and their problems; the exit code is 1 if there are any."""
    texts = {page.relative_to(DOCS).as_posix(): page.read_text(encoding="utf-8") for page in pages()}
    lengths = {name: len(text.split()) for name, text in texts.items()}
    for name, length in lengths.items():
        print(f"{length:6,}  {name}")
    print(f"{sum(lengths.values()):6,}  in {len(lengths)} pages; median {statistics.median(lengths.values()):g}")
    texts["README.md"] = README.read_text(encoding="utf-8")
    found = too_long(lengths)
    found += [f"{name}: {problem}" for name, text in texts.items() for problem in problems(text)]
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
