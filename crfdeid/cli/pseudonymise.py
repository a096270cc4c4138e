"""Replace the PHI of annotated notes by near words, to share them as shuffled sentences that a model can learn from."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from crfdeid.cli.arguments import add_corpus_options, read_notes, require_outside
from crfdeid.cli.shell import file_path, whole_number
from crfdeid.errors import UsageError
from crfdeid.validation import MOST_SEED

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

_MOST_NEIGHBOURS = 100_000
_SUFFIX = ".jsonl"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid pseudonymise``."""
    parser.add_argument("--train", type=file_path, required=True, metavar="PATH", help="annotated notes")
    text = (
        "public word vectors, learned from other text than the notes (word2vec, GloVe or fastText): they say which "
        "words are near"
    )
    parser.add_argument("--vectors", type=file_path, required=True, metavar="FILE", help=text)
    text = "replace each word of PHI by one of its N nearest, each as likely, itself among them (default: 100)"
    parser.add_argument("--neighbours", type=whole_number(2, _MOST_NEIGHBOURS), default=100, metavar="N", help=text)
    parser.add_argument("--out", type=file_path, required=True, metavar="FILE", help="new file to write, NAME.jsonl")
    add_corpus_options(parser, doing="keep")
    text = "random seed, for experiments: it allows undoing the replacement (default: none, the operating system draws)"
    parser.add_argument("--seed", type=whole_number(0, MOST_SEED), metavar="N", help=text)


def run(options: argparse.Namespace) -> None:
    """Write the sentences, and print what they leave of the PHI.

    Raises:
        UsageError: options that cannot work.
        DataError: notes or vectors that cannot be read, or a file that cannot be written.
    """
    from crfdeid.corpora import write_corpus  # noqa: PLC0415
    from crfdeid.registry import import_string  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    _require_new_file(options.out, source=options.train)
    one_thread()
    notes = read_notes(options.train, options)
    vectors = import_string("rnn.embeddings:read_vectors")(options.vectors)
    work, as_document = (
        import_string("rnn.privacy.substitution:pseudonymise"),
        import_string("rnn.privacy.substitution:as_document"),
    )
    made = work(notes, vectors, count=options.neighbours, seed=options.seed)
    write_corpus([as_document(labelled) for labelled in made.sentences], options.out, format="jsonl")
    for line in _summary(options, made, len(notes.documents)):
        print(line)


def _require_new_file(path: Path, *, source: Path) -> None:
    if path.exists() or path.is_symlink():
        raise UsageError(f"--out: {path} is there already: name a new file, nothing is overwritten")
    if path.suffix.lower() != _SUFFIX:
        raise UsageError(f"--out: {path} would not be read as JSON Lines: let its name end in {_SUFFIX}")
    require_outside(path, {"--train": source})


def _summary(options: argparse.Namespace, made: Any, notes: int) -> Iterator[str]:
    """Lines about the written sentences and the PHI that remains in them."""
    count, remains = options.neighbours, made.remains
    yield f"{options.out}: {len(made.sentences)} sentences of {notes} notes, shuffled, each its own document"
    if made.left_out:
        yield f"left out: {made.left_out} sentences with PHI that begins within a token or crosses the sentence's end"
    yield (
        f"{remains.tokens} tokens of PHI, each replaced by one of its {count} nearest words: "
        f"{_share(remains.unchanged, remains.tokens)} are what they were (itself is one of the {count}), "
        f"{_share(remains.containing, remains.tokens)} still hold the old word, alone or as a part"
    )
    yield f"of the {count} neighbours of a word of PHI, {made.containing:.2f} others hold it on average"
    if made.unknown:
        yield (
            f"{made.unknown} of {made.words} words of PHI have no vector: they became frequent words, or other digits"
        )
    yield "PHI that was not annotated is unchanged, as are all words that are no PHI: read a sample before you share"
    if options.seed is not None:
        yield "the seed allows undoing the replacement: do not share it"


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / max(whole, 1):.2f} %)"
