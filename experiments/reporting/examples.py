"""Errors in their text. Real notes are PHI: call this for synthetic ones, or where the user asked for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crfdeid.corpora.splits import Split
from crfdeid.evaluation import ERROR_CATEGORIES, in_context
from experiments.running.runs import Run

PER_CATEGORY = 3


def error_examples(runs: Sequence[Run], split: Split, *, per_category: int = PER_CATEGORY) -> Iterator[str]:
    """Lines that show a few errors of every model and category, from each model's first run.

    The errors are spread evenly over the split, so that they do not all come from its first document.

    Args:
        runs: finished cells, of the scored split.
        split: the scored split.
        per_category: errors shown for each model and category.
    """
    documents = {document.id: document for document in split.documents}
    first = {run.cell.system.name: run for run in reversed(runs) if run.cell.is_plain}
    for model in dict.fromkeys(run.cell.system.name for run in runs):
        for category in ERROR_CATEGORIES:
            errors = [error for error in first[model].errors if error.category == category]
            step = max(1, len(errors) // per_category)
            for error in errors[::step][:per_category]:
                causes = f" ({', '.join(error.causes)})" if error.causes else ""
                yield f"{model}, {category}{causes}: {in_context(documents[error.document_id], error)}"
