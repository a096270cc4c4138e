"""Data of the error browser: each erroneous entity, gold against the prediction of each run.

A *place* is a stretch of a document that gold and predicted spans cover without a gap. Runs with the same prediction
for it share one *outcome*, so that many seeds take little room.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from crfdeid.documents import Span
from crfdeid.errors import IntegrityError, MismatchError
from crfdeid.evaluation import ERROR_CAUSES, ERROR_KINDS, EntityError
from experiments.results.folder import Folder
from experiments.results.measurements import OVERALL
from experiments.results.schema import Results, is_plain
from experiments.results.view import View, dataset_of_layer
from experiments.tables.scores import Spans
from features.sentences import split_sentences
from features.tokens import Sentence

# Characters shown on either side of a place: its sentence, but no less and no more than this.
LEAST_CONTEXT, MOST_CONTEXT = 40, 160


EXPLANATIONS = "explanations"
"""Folder of the pages that explain the tags of documents."""


def page_name(number: int) -> str:
    """Name of the page that explains a document's tags: its number, because its id can be PHI."""
    return f"{EXPLANATIONS}/{number}.html"


class SystemRun(NamedTuple):
    """Result of a system with one seed.

    Attributes:
        system: its name.
        seed: the seed.
        predictions: predicted spans, by document id.
        errors: every erroneous entity.
    """

    system: str
    seed: int
    predictions: Spans
    errors: Sequence[EntityError]


def browser_data(
    gold: Spans,
    runs: Sequence[SystemRun],
    *,
    types: Sequence[str],
    texts: Mapping[str, str] | None,
    explained: Collection[str] = (),
) -> dict[str, Any]:
    """Data of the error browser, as JSON takes it.

    Args:
        gold: the gold spans, by document id.
        runs: the runs to compare, in order.
        types: the order of the types; others follow by name.
        texts: the documents' texts by id; None to show no text, and numbers instead of the documents' ids, because
            ids of real corpora (file names) can hold names and record numbers.
        explained: the pages of explanations that exist (`experiments.reporting.files`).

    Returns:
        "types", "categories", "causes": the names in use, in order; "runs": [system, seed] each; "places": in the order
        of the documents, {"document": its id or number from 1, "start": the offset of the first character shown,
        "text": the characters shown or None, "gold": [start, end, type] each, "outcomes": {"runs": positions in "runs",
        "spans": as "gold", "errors": [category, type, causes] each}, "why": the address of its explanation, if any}.
        Offsets are code points in the document. An error's type is the one under which
        `crfdeid.evaluation.summarise_errors` counts it.

    Raises:
        DataError: gold, predictions, errors and texts do not belong together.
    """
    errors = [_by_document(run.errors) for run in runs]
    _check_documents(gold, runs, errors, texts)
    places = []
    for number, (name, spans) in enumerate(gold.items(), start=1):
        found = [run.predictions[name] for run in runs]
        here = _places_of(spans, found, [by_name.get(name, []) for by_name in errors])
        text = None if texts is None else texts[name]
        sentences = split_sentences(text) if text is not None and here else []
        shown = number if texts is None else name
        page = page_name(number) if page_name(number) in explained else None
        places += [
            {"document": shown, **_context(place, text, sentences), **_why(page, place, sentences)} for place in here
        ]
    marked = [place["gold"] for place in places] + [o["spans"] for place in places for o in place["outcomes"]]
    used = {label for spans in marked for _, _, label in spans}
    return {
        "types": [*(t for t in types if t in used), *sorted(used.difference(types))],
        "categories": list(ERROR_KINDS),
        "causes": [c for c in ERROR_CAUSES if any(c in error.causes for run in runs for error in run.errors)],
        "runs": [[run.system, run.seed] for run in runs],
        "places": places,
    }


def _why(page: str | None, place: Mapping[str, Any], sentences: Sequence[Sentence]) -> dict[str, str]:
    """The address of a place's first word on the page of explanations of its document."""
    if page is None:
        return {}
    ends = [token.end for sentence in sentences for token in sentence.tokens]
    return {"why": f"{page}#word={bisect_right(ends, place['stretch'][0])}"}


def _by_document(errors: Iterable[EntityError]) -> dict[str, list[EntityError]]:
    found: dict[str, list[EntityError]] = {}
    for error in errors:
        found.setdefault(error.document_id, []).append(error)
    return found


def _check_documents(
    gold: Spans, runs: Sequence[SystemRun], errors: Sequence[Mapping[str, Any]], texts: Mapping[str, str] | None
) -> None:
    for run, by_name in zip(runs, errors, strict=True):
        if run.predictions.keys() != gold.keys() or not by_name.keys() <= gold.keys():
            raise MismatchError(
                f"{run.system}, seed {run.seed}: predictions or errors are of other documents than gold"
            )
    if texts is not None and not texts.keys() >= gold.keys():
        raise MismatchError("texts.jsonl lacks some of the scored documents")


def _places_of(
    gold: Sequence[Span], found: Sequence[Sequence[Span]], errors: Sequence[Sequence[EntityError]]
) -> list[dict[str, Any]]:
    """Places of one document at which some run has an error."""
    if not any(errors):
        return []
    stretches = _stretches({*gold, *(span for spans in found for span in spans)})
    gold_at = _sort_into(stretches, gold)
    found_at = [_sort_into(stretches, spans) for spans in found]
    errors_at: list[dict[int, list[EntityError]]] = [{} for _ in errors]
    for at, run_errors in zip(errors_at, errors, strict=True):
        for error in run_errors:
            at.setdefault(_position(stretches, error), []).append(error)
    return [
        {
            "stretch": stretches[i],
            "gold": [list(span) for span in gold_at.get(i, [])],
            "outcomes": _outcomes([at.get(i, []) for at in found_at], [at.get(i, []) for at in errors_at]),
        }
        for i in sorted({i for at in errors_at for i in at})
    ]


def _stretches(spans: Iterable[Span]) -> list[tuple[int, int]]:
    """Offsets that the spans cover; spans that only touch stay apart."""
    found: list[tuple[int, int]] = []
    for start, end, _ in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _sort_into(stretches: Sequence[tuple[int, int]], spans: Iterable[Span]) -> dict[int, list[Span]]:
    found: dict[int, list[Span]] = {}
    for span in sorted(spans):
        found.setdefault(bisect_right(stretches, span.start, key=lambda stretch: stretch[0]) - 1, []).append(span)
    return found


def _position(stretches: Sequence[tuple[int, int]], error: EntityError) -> int:
    span = error.gold or error.predicted
    i = -1 if span is None else bisect_right(stretches, span.start, key=lambda stretch: stretch[0]) - 1
    if i < 0 or span is None or span.end > stretches[i][1]:
        raise IntegrityError("an error at which neither gold nor predictions mark anything")
    return i


def _outcomes(found: Sequence[Sequence[Span]], errors: Sequence[Sequence[EntityError]]) -> list[dict[str, Any]]:
    """Predictions at one place, one outcome for all runs with the same."""
    runs: dict[tuple[Any, ...], list[int]] = {}
    for run, outcome in enumerate(zip(map(tuple, found), map(tuple, errors), strict=True)):
        runs.setdefault(outcome, []).append(run)
    return [
        {
            "runs": positions,
            "spans": [list(span) for span in spans],
            "errors": [[error.kind, _counted_type(error), list(error.causes)] for error in at],
        }
        for (spans, at), positions in runs.items()
    ]


def _counted_type(error: EntityError) -> str:
    counted = error.missed_gold or error.false_prediction
    if counted is None:
        raise IntegrityError("an error that is neither a miss nor a false prediction")
    return counted.label


def _context(place: Mapping[str, Any], text: str | None, sentences: Sequence[Sentence]) -> dict[str, Any]:
    """The place as JSON, with the text around it."""
    start, end = place["stretch"]
    rest = {"gold": place["gold"], "outcomes": place["outcomes"]}
    if text is None:
        return {"start": start, "text": None, **rest}
    if end > len(text):
        raise MismatchError("texts.jsonl does not belong to these predictions: a span ends after its text")
    inside = [(s.tokens[0].start, s.tokens[-1].end) for s in sentences]
    inside = [(first, last) for first, last in inside if first < end and last > start] or [(start, end)]
    first = max(0, start - MOST_CONTEXT, min(inside[0][0], start - LEAST_CONTEXT))
    stop = min(len(text), end + MOST_CONTEXT, max(inside[-1][1], end + LEAST_CONTEXT))
    while first and first < start and not text[first - 1].isspace():  # No word is cut.
        first += 1
    while end < stop < len(text) and not text[stop].isspace():
        stop -= 1
    return {"start": first, "text": text[first:stop], "cut": [first > 0, stop < len(text)], **rest}


def browsed(
    folder: Folder,
    results: Results,
    views: Mapping[str, View],
    texts: Mapping[str, str] | None,
    explained: Collection[str] = (),
) -> dict[str, Any]:
    """The error browser's data (`browser_data`) of a results folder.

    Args:
        folder: with predictions and errors.
        results: the content of results.json.
        views: the scored systems by annotation layer. The browser covers the systems that have all layers; the spans of
            all layers share one text.

    Raises:
        DataError: a file is missing or damaged, or the files do not belong together.
    """
    first, *others = (list(seen["systems"]) for seen in views.values())
    shown = [name for name in first if all(name in other for other in others)]
    runs = []
    counted: dict[tuple[str, int], Counter[str]] = {}
    for row in results["measurements"]:
        is_count = (row["kind"], row["category"]) == ("errors", OVERALL) and row["measure"] in ERROR_KINDS
        if is_count and row["layer"] in views and (row["fraction"], row["point"]) == (1.0, ""):
            counted.setdefault((row["system"], row["seed"]), Counter())[row["measure"]] += row["value"]
    plain = (run for run in results["runs"] if run["system"] in shown and is_plain(run))
    for run in sorted(plain, key=lambda run: shown.index(run["system"])):
        system, seed = run["system"], run["seed"]
        errors = [error for layer in views for error in folder.errors(system, seed, layer)]
        if Counter(error.kind for error in errors) != counted[system, seed]:
            problem = "not the errors that results.json counts: run the experiment again"
            raise MismatchError(problem, path=folder.errors_file(system, str(seed)))
        found = _together([folder.predictions(system, seed, layer) for layer in views])
        runs.append(SystemRun(system, seed, found, errors))
    types = dict.fromkeys(
        label
        for layer in views
        for dataset in results["datasets"].values()
        for label in dataset_of_layer(dataset, layer)["types"]
    )
    gold = _together([folder.gold(layer) for layer in views])
    return browser_data(gold, runs, types=list(types), texts=texts, explained=explained)


def _together(layers: Sequence[Mapping[str, Sequence[Span]]]) -> dict[str, list[Span]]:
    """The spans of all layers, by document."""
    names = dict.fromkeys(name for found in layers for name in found)
    return {name: [span for found in layers for span in found.get(name, ())] for name in names}
