"""Pages that explain the tag of every word of a document with errors (`docs/inside.md`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crfdeid.errors import OptionConflictError, SettingError, UnknownNameError
from crfdeid.explain import explain_document
from crfdeid.explain.page import ModelView, text_page
from crfdeid.pipeline import Deidentifier
from crfdeid.registry import load_tagger
from experiments.results.folder import Folder

FOLDER = "explanations"
MOST_SYSTEMS = 2
MOST_PAGES = 100  # each is a whole document with all of its words explained, some 100 kB
_WARNING = "It quotes a note, and words of the notes that the models were trained on. Keep it as safe as the notes."


def explanation_pages(
    folder: Folder, results: Mapping[str, Any], systems: Sequence[str], *, most: int = MOST_PAGES
) -> tuple[dict[str, str], int]:
    """Pages of the documents in which one of some systems has an error, by the page's name in the folder.

    The models are those of each system's first seed, without document consistency, as in the error counts.

    Args:
        folder: of the experiment, with texts and fitted models.
        results: the content of results.json.
        systems: one or two of its systems.
        most: maximum number of pages; documents with the most errors come first.

    Returns:
        The pages, and the number of documents with errors that have none.

    Raises:
        UsageError: an unknown system, or the folder has no model of it, or no texts.
        DataError: a file is missing or damaged.
    """
    texts = folder.texts()
    if texts is None:
        raise OptionConflictError(
            "--explain shows text, and this folder has none: run the experiment with --include-text"
        )
    if len(systems) > MOST_SYSTEMS:
        raise SettingError(f"--explain names {len(systems)} systems: at most {MOST_SYSTEMS} can be compared")
    seeds = {system: _first_seed(results, system) for system in systems}
    models = {s: Deidentifier(_tagger(folder.path, s, seed), consistent=False) for s, seed in seeds.items()}
    wrong = Counter(error.document_id for system, seed in seeds.items() for error in folder.errors(system, seed))
    shown = {name for name, _ in wrong.most_common(most)}
    synthetic = results["corpus"]["format"] == "synthetic"
    pages = {}
    for number, name in enumerate(folder.gold(), start=1):
        if name in shown:
            views = [ModelView(s, model, explain_document(model, texts[name])) for s, model in models.items()]
            pages[page_name(number)] = text_page(views, warning=_WARNING, synthetic=synthetic)
    return pages, len(wrong) - len(shown)


def page_name(number: int) -> str:
    """Name of a document's page: its number, because its id can be PHI."""
    return f"{FOLDER}/{number}.html"


def _first_seed(results: Mapping[str, Any], system: str) -> int:
    found = results.get("models", {})
    if system not in found:
        raise UnknownNameError(f"--explain: no system '{system}' in these results: choose from {', '.join(found)}")
    seed: int = found[system]["runs"][0]["seed"]
    return seed


def _tagger(path: Path, system: str, seed: int) -> Any:
    folder = path / "models" / system / str(seed)
    if not folder.is_dir():
        raise UnknownNameError(
            f"--explain: {folder} does not exist: keep the fitted models in the folder of their results"
        )
    return load_tagger(folder)
