"""Whole results folders for tests of the report: invented notes, made-up predictions, and scores that follow from them.

from report_folders import write_folder
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from samples import as_results, rich_view

from crfdeid.documents import PHI, Document, Span
from crfdeid.evaluation import (
    EntityError,
    count_token_pairs,
    find_errors,
    score_entities,
    summarise_errors,
    token_scores,
)
from crfdeid.evaluation.significance import compare_systems
from crfdeid.utils.files import write_files
from experiments.results.folder import Folder, errors_jsonl, spans_jsonl, texts_jsonl, to_json

SYSTEMS = {"crf": (0,), "elman-random": (0, 1), "elman-cbow": (0, 1)}
TROUBLE = {"crf": 0.2, "elman-random": 0.3, "elman-cbow": 0.1}
NEIGHBOURS = {"random": {"zorbin": [["quexal", 0.31], ["miltrop", 0.29]]}, "cbow": {"zorbin": [["zorbine", 0.87]]}}


def write_folder(
    path: Path,
    documents: Sequence[Document],
    *,
    systems: Mapping[str, Sequence[int]] = SYSTEMS,
    corpus_format: str = "synthetic",
    with_text: bool = True,
    trouble: float | None = None,
    permutations: int = 99,
) -> dict[str, Any]:
    """Write the folder that an experiment would leave; the results.

    Args:
        path: the folder.
        documents: the scored notes.
        systems: the seeds of each system.
        corpus_format: "synthetic", or another one for notes that stand for real ones.
        with_text: whether texts and neighbours are kept.
        trouble: the share of entities that go wrong; None for one of each system's own.
        permutations: of the significance test.
    """
    folder = Folder(path)
    predictions = {
        (system, seed): {d.id: perturbed(d, trouble or TROUBLE[system], f"{system} {seed} {d.id}") for d in documents}
        for system, seeds in systems.items()
        for seed in seeds
    }
    errors = {run: find_errors(documents, found, known_words=KNOWN) for run, found in predictions.items()}
    results = results_of(documents, predictions, errors, corpus_format=corpus_format, permutations=permutations)
    files: dict[Path, str | bytes] = {
        folder.path / "predictions/gold.jsonl": spans_jsonl({PHI: {d.id: d.spans for d in documents}})
    }
    for (system, seed), found in predictions.items():
        files[folder.predictions_file(system, str(seed))] = spans_jsonl({PHI: found})
        files[folder.errors_file(system, str(seed))] = errors_jsonl({PHI: errors[system, seed]})
    if with_text:
        files[folder.path / "texts.jsonl"] = texts_jsonl({d.id: d.text for d in documents})
        files[folder.path / "neighbours.json"] = to_json(NEIGHBOURS)
    write_files({**files, folder.path / "results.json": to_json(results)})
    return results


KNOWN = ("dr", "street", "hospital", "medical", "center", "clinic")


def results_of(
    documents: Sequence[Document],
    predictions: Mapping[tuple[str, int], Mapping[str, Sequence[Span]]],
    errors: Mapping[tuple[str, int], Sequence[EntityError]],
    *,
    corpus_format: str = "synthetic",
    permutations: int = 99,
) -> dict[str, Any]:
    """Results whose scores, errors and significance are those of the predictions; the rest is of the samples."""
    systems = list(dict.fromkeys(system for system, _ in predictions))
    view = rich_view(tuple(systems), (0, 1)) | {"fractions": [], "sweep": []}
    for system in view["systems"].values():
        system.pop("chosen", None)
    found_types = {span.label for found in predictions.values() for spans in found.values() for span in spans}
    types = sorted(found_types | {span.label for document in documents for span in document.spans})
    spans = [span.label for document in documents for span in document.spans]
    scored = {"documents": len(documents), "spans": len(spans), "spans_by_type": {t: spans.count(t) for t in types}}
    del view["dataset"]["fractions"]
    corpus = view["dataset"]
    corpus |= {"format": corpus_format, "types": types, "notices": []}
    corpus["name"] = "synthetic (default, seed 0)" if corpus_format == "synthetic" else "notes/train"
    corpus["splits"]["test"] |= {**scored, "unaligned": 0}
    for system in systems:
        runs = [(seed, found, errors[name, seed]) for (name, seed), found in predictions.items() if name == system]
        template = view["systems"][system]["runs"][0]
        view["systems"][system] |= {
            "trained_on": corpus["name"],
            "runs": [template | _run(documents, *run) for run in runs],
        }
    by_system = {name: [found for (other, _), found in predictions.items() if other == name] for name in systems}
    view["comparison"] = compare_systems(documents, by_system, permutations=permutations, samples=99)
    return as_results(view)


def _run(
    documents: Sequence[Document], seed: int, found: Mapping[str, Sequence[Span]], errors: Sequence[EntityError]
) -> dict[str, Any]:
    pairs = count_token_pairs(documents, found)
    scores = {
        "entity_strict": score_entities(documents, found),
        "entity_relaxed": score_entities(documents, found, match="relaxed"),
        "token": token_scores(pairs),
        "token_binary": token_scores(pairs, binary=True),
    }
    return {
        "seed": seed,
        "scores": {name: score.to_dict() for name, score in scores.items()},
        "errors": summarise_errors(errors),
    }


def perturbed(document: Document, trouble: float, seed: str) -> list[Span]:
    """The gold spans, some of them missed, of another type, cut or grown, and now and then one that is nothing."""
    chance = random.Random(seed)
    found = []
    for span in document.spans:
        kind = chance.random() / trouble
        if kind >= 1:
            found.append(span)
        elif kind >= 0.7:
            found.append(Span(span.start, span.end, chance.choice(["PATIENT", "DOCTOR", "HOSPITAL", "LOCATION"])))
        elif kind >= 0.4:
            found.append(_cut(document.text, span))
        if chance.random() < trouble / 10:
            found += _nothing(document, chance)
    return found


def _cut(text: str, span: Span) -> Span:
    space = text.find(" ", span.start, span.end)
    if space > span.start:
        return Span(span.start, space, span.label)
    return Span(max(0, span.start - 2), span.end, span.label)  # a space alone would be trimmed


def _nothing(document: Document, chance: random.Random) -> list[Span]:
    start = chance.randrange(len(document.text))
    end = min(len(document.text), start + 6)
    free = all(end <= span.start or start >= span.end for span in document.spans)
    return [Span(start, end, "ID")] if free and document.text[start:end].strip() else []
