"""Makes the pictures of docs/: python tests/experiments/screenshots.py RESULTS docs/images.

RESULTS has explanations: ``python -m experiments.report RESULTS --explain crf,elman``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from chromium import Browser

# The picture's name: the page, the address within it, what to scroll to, and the view.
PICTURES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "report-errors": ("report.html", "#errors?category=boundary", "#errors", {"height": 1000}),
    "inside-words": ("explanations/20.html", "#word=9", "#text-title", {"height": 1100}),
}


def main(results: Path, images: Path) -> None:
    """Write every picture."""
    images.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile, Browser(Path(profile)) as browser:
        for name, (file, fragment, place, view) in PICTURES.items():
            page = browser.open(results / file, fragment, **view)
            page.evaluate("Promise.all([...document.images].map((image) => image.decode()))")
            page.evaluate(f"document.querySelector('{place}').scrollIntoView({{ behavior: 'instant' }})")
            page.screenshot(images / f"{name}.png")
            page.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
