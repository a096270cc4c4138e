"""How fast the review page is with many notes, by keys alone: python tests/experiments/review_speed.py [NOTES [DIR]].

It makes invented notes of some 1,500 characters, leaves every tenth mark out, opens the page on a desktop and on a
phone, steps through all notes by keys, marks a word in each of the first ten, and downloads. DIR gets two pictures.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from chromium import Browser, Page

from crfdeid.corpora import read_corpus
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.documents import Document
from crfdeid.review.page import GOLD, comparison_notes, review_html

_VIEWS = {"desktop": {"width": 1200, "height": 900}, "phone": {"width": 360, "height": 740}}
_OPENED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


def measure(browser: Browser, path: Path, view: str, pictures: Path | None) -> None:
    """Open the page, work on it by keys alone, and print what each took."""
    page = browser.open(path, **_VIEWS[view])
    page.wait(lambda: page.evaluate(f"{_OPENED} > 0 && document.getElementById('text').textContent !== ''"))
    print(f"{view}: opened in {page.evaluate(_OPENED):.0f} ms, with the first note drawn")
    notes = int(page.evaluate("document.getElementById('count').textContent").replace(",", ""))
    for _ in range(10):
        press(page, "ArrowRight", "m", "r")
    began = time.perf_counter()
    press(page, *"j" * (notes - 11))
    took = 1000 * (time.perf_counter() - began) / (notes - 11)
    last = page.evaluate("document.getElementById('number').value")
    print(f"{view}: note {last} of {notes} reached by keys, {took:.1f} ms a note, the way to the browser in it")
    with tempfile.TemporaryDirectory() as folder:
        page.send("Page.setDownloadBehavior", behavior="allow", downloadPath=folder)
        press(page, "d")
        file = Path(folder, "marks.jsonl")
        page.wait(file.is_file)
        print(f"{view}: {page.evaluate('document.getElementById(`status`).textContent')}")
        print(f"{view}: {len(read_corpus(file))} notes downloaded")
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    print(f"{view}: {wide} pixels wider than the screen")
    if pictures is not None:
        press(page, "k")
        page.screenshot(pictures / f"review-{view}.png")
    page.close()


def press(page: Page, *keys: str) -> None:
    """Press keys, one after the other."""
    for key in keys:
        page.press(key, key if len(key) == 1 else "")


def main() -> None:
    """Make the notes and the page, and measure."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    pictures = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    few = list(generate_notes(min(count, 50), seed=0))
    notes = [Document(f"n{n}", few[n % len(few)].text, few[n % len(few)].spans) for n in range(count)]
    found = {note.id: [span for n, span in enumerate(note.spans) if n % 10] for note in notes}
    with tempfile.TemporaryDirectory() as folder, Browser(Path(folder, "profile")) as browser:
        path = Path(folder, "review.html")
        path.write_text(review_html(comparison_notes(notes, found), GOLD), encoding="utf-8")
        length = sum(len(note.text) for note in notes) / count
        print(f"{count:,} notes of {length:.0f} characters, {path.stat().st_size / 1e6:.1f} MB")
        for view in _VIEWS:
            measure(browser, path, view, pictures)


if __name__ == "__main__":
    main()
