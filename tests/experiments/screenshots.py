"""Makes the pictures of docs/report.md: python tests/experiments/screenshots.py RESULTS docs/images."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from chromium import Browser

# The picture's name: the address within the page, what to scroll to, and the view.
PICTURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "report-summary": ("", "body", {"height": 1000}),
    "report-plots": ("", "#plots", {"height": 1000}),
    "report-errors": ("#errors?category=boundary", "#errors", {"height": 1000}),
    "report-errors-dark": ("#errors?system=crf&category=wrong", "#errors", {"height": 1000, "dark": True}),
    "report-phone": ("#errors?category=boundary", "#error-count", {"width": 360, "height": 740}),
}


def main(results: Path, images: Path) -> None:
    """Write every picture."""
    images.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile, Browser(Path(profile)) as browser:
        for name, (fragment, place, view) in PICTURES.items():
            page = browser.open(results / "report.html", fragment, **view)
            page.evaluate("Promise.all([...document.images].map((image) => image.decode()))")
            page.evaluate(f"document.querySelector('{place}').scrollIntoView({{ behavior: 'instant' }})")
            page.screenshot(images / f"{name}.png")
            page.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
