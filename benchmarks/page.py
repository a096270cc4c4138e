"""docs/benchmarks.md and the README's table of scores, made from the JSON files of `run.py`."""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from measure import FREQUENCIES, ORIGINS

from crfdeid.evaluation import TAB_MEASURES
from crfdeid.evaluation.significance import OVERALL
from crfdeid.label_schemes import in_order

ROOT = Path(__file__).parents[1]
PAGE, README = ROOT / "docs" / "benchmarks.md", ROOT / "README.md"
PRICE = 0.05
"""Dollars for an hour of a core."""

_BEGIN, _END = "<!-- benchmarks -->", "<!-- end of benchmarks -->"
_EXAMPLE, _END_OF_EXAMPLE = "<!-- example -->", "<!-- end of example -->"
_COMPARED = ("crf", "elman", "jordan")
"""Models of the README's example, on the synthetic corpus, with the seed 0."""
_Cells = Sequence[Mapping[str, Any]]

_INTRODUCTION = f"""\
# Benchmarks

`python benchmarks/run.py --corpora DIR` measures every model on every corpus and makes this page; each corpus has a
JSON file with all figures in `benchmarks/results`. Models have their default settings
and are scored on the test notes, or on the development notes where there are no others; these also chose each network's
epoch and the defaults, so expect lower scores on new notes. A figure with ± is the mean and the standard deviation of
several seeds.

- **F**: strict entity F of the model alone, types and boundaries exact, in per cent, with a 95 % bootstrap interval
  over notes. Macro F is the mean over types. "Not shown to differ" names the models from which the best one's F does
  not differ significantly (approximate randomisation, Holm-adjusted p above 0.05), each with the best one's lead in
  points and its 95 % bootstrap interval. They need not be equally good: look at the interval.
- **Redaction**: `crfdeid redact`, with document consistency. Recall and precision of PHI tokens whatever their type;
  notes in which a PHI token remains; notes without PHI in which something was redacted; bytes changed outside of
  redacted spans; different outputs among three runs, with one process and two, and note by note.
- **Direct and quasi-identifiers**: scores of the Text Anonymization Benchmark for `crfdeid redact`. Recall of entities,
  each masked only if all letters and digits of all its mentions are, of mentions and of tokens; precision of masked
  tokens and of masked letters and digits, unweighted.
- **Cost**: processor minutes and peak memory of training, size on disk, and notes a second and core, on notes that the
  process has not seen. Dollars are for a million notes at ${PRICE} for a core-hour.
- **Names**: names of people that are redacted whole: by how often the training notes have their rarest word, and once
  all names are replaced by names of one origin (Faker's lists, by language and country).
"""


def render_page(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of all corpora, in Markdown."""
    parts = [_INTRODUCTION]
    for name, result in results.items():
        parts += _corpus(name, result, _published(name))
    return "\n".join(parts)


def with_table(readme: str, results: Mapping[str, Mapping[str, Any]]) -> str:
    """The README with the table of F, and of some published figures, between its two marks, and with its example.

    Raises:
        ValueError: a mark is missing.
    """
    plain = {name: result for name, result in results.items() if "concepts" not in result["table"]}
    found = {name: _by_model(result) for name, result in plain.items()}
    models = list(dict.fromkeys(model for cells in found.values() for model in cells if model != "presidio"))
    rows = [
        [
            name,
            *(_score(cells.get(model, ()), "f1") for model in models),
            "; ".join(f"{row['system']}: {row['figure']}" for row in _published(name) if row.get("readme")),
        ]
        for name, cells in found.items()
    ]
    readme = between(readme, _BEGIN, _END, markdown(["", *models, "published"], rows))
    example = found.get("synthetic")
    return readme if example is None else between(readme, _EXAMPLE, _END_OF_EXAMPLE, _example(example))


def between(readme: str, begin: str, end: str, table: str) -> str:
    """The text with a table between two marks.

    Raises:
        ValueError: a mark is missing.
    """
    before, _, rest = readme.partition(begin)
    _, mark, after = rest.partition(end)
    if not mark:
        raise ValueError(f"the page needs the lines {begin} and {end} around its table")
    return f"{before}{begin}\n{table}\n{end}{after}"


def _example(by_model: Mapping[str, _Cells]) -> str:
    """Recall, precision and F by type, as `experiments.compare` prints them."""
    scores = {model: by_model[model][0]["scores"] for model in _COMPARED if model in by_model}
    measures = {"R": "recall", "P": "precision", "F": "f1"}
    head = ["", *(f"{model} {letter}" for model in scores for letter in measures)]
    of_rows = {OVERALL: [own["micro"] for own in scores.values()]}
    of_rows["Macro average"] = [own["macro"] for own in scores.values()]
    types = in_order({label for own in scores.values() for label in own["by_type"]})
    of_rows = {label: [own["by_type"][label] for own in scores.values()] for label in types} | of_rows
    return markdown(
        head,
        (
            [name, *(f"{100 * one[measure]:.2f}" for one in row for measure in measures.values())]
            for name, row in of_rows.items()
        ),
    )


def _published(name: str) -> _Cells:
    """The published figures of a corpus; those with ``readme`` are in the README's table too."""
    return tomllib.loads((Path(__file__).parent / "published.toml").read_text()).get(name, [])


def _corpus(name: str, result: Mapping[str, Any], published: _Cells) -> Iterator[str]:
    """The section of one corpus."""
    models = _by_model(result)
    dates = sorted({cell["date"] for cell in result["cells"]})
    commits = sorted({cell["commit"] for cell in result["cells"]})
    machine = result["machine"]
    yield f"## {name}\n"
    when = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    where = f"{machine['processor']}, Python {machine['python']}"
    yield f"`{result['command']}`; commit {', '.join(commits)}; {when}; {where}\n"
    for title, columns in _TABLES.items():
        rows = [[model, *(column(cells) for column in columns.values())] for model, cells in models.items()]
        kept = [row for row in rows if any(row[1:])]
        used = [0, *(i for i in range(1, len(columns) + 1) if any(row[i] for row in kept))]
        head = ["", *columns]
        if kept:
            yield f"**{title}**\n\n{markdown([head[i] for i in used], [[row[i] for i in used] for row in kept])}"
    yield from _significance(result)
    for cell in result["cells"]:
        if "failed" in cell:
            yield f"Not measured: {cell['model']} ({cell['failed']})\n"
    if published:
        rows = [[row["system"], row["figure"], row["source"], row["compared"]] for row in published]
        head = ["system", "figure, %", "source", "to be compared with ours?"]
        yield f"### Published results on {name}\n\n{markdown(head, rows)}"


def _significance(result: Mapping[str, Any]) -> Iterator[str]:
    """A sentence: the model with the highest F, and the models that are not shown to differ from it, with its lead."""
    scored = {model: cells for model, cells in _by_model(result).items() if "scores" in cells[0]}
    if len(scored) < 2:
        return
    means = {model: statistics.fmean(_over(cells, "scores", "micro", "f1")) for model, cells in scored.items()}
    best = max(means, key=lambda model: means[model])
    tested = result["significance"]
    pairs = [pair for pair in tested["pairs"] if best in (pair["a"], pair["b"]) and pair["p_holm"] > tested["level"]]
    others = "; ".join(_lead(best, pair) for pair in pairs)
    yield f"Highest F: {best}. Not shown to differ (Holm): {others or 'none'}\n"


def _lead(best: str, pair: Mapping[str, Any]) -> str:
    """The other model of a pair, with the best one's lead in points and its interval."""
    if pair["b"] == best:
        other, ends = pair["a"], (pair["difference"], pair["low"], pair["high"])
    else:
        other, ends = pair["b"], (-pair["difference"], -pair["high"], -pair["low"])
    lead, low, high = (f"{100 * end:+.2f}" for end in ends)
    return f"{other} {lead} [{low}, {high}]"


def _by_model(result: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """The successful measures of each model, with the interval of its F."""
    intervals = (result["significance"] or {"intervals": {}})["intervals"]
    found: dict[str, list[Mapping[str, Any]]] = {}
    for cell in result["cells"]:
        if "failed" not in cell:
            found.setdefault(cell["model"], []).append(cell | intervals.get(cell["model"], {}))
    return found


def _over(cells: _Cells, *keys: str) -> list[Any]:
    """A value of each seed, by its path in the measures; seeds without it are left out."""
    found = []
    for cell in cells:
        value: Any = cell
        for key in keys:
            value = value.get(key) if value is not None else None
        if value is not None:
            found.append(value)
    return found


def _number(values: Iterable[float], form: str = ".2f", factor: float = 1.0) -> str:
    """Mean and standard deviation of some values; "" for none."""
    scaled = [factor * value for value in values]
    if not scaled:
        return ""
    spread = f" ± {statistics.stdev(scaled):{form}}" if len(scaled) > 1 else ""
    return f"{statistics.fmean(scaled):{form}}{spread}"


def _score(cells: _Cells, measure: str, average: str = "micro") -> str:
    return _number(_over(cells, "scores", average, measure), factor=100)


def _interval(cells: _Cells) -> str:
    overall = _over(cells[:1], OVERALL)
    return f"{100 * overall[0]['low']:.2f} to {100 * overall[0]['high']:.2f}" if overall else ""


def _concepts(cells: _Cells) -> str:
    return _number(_over(cells, "concepts", "entity_strict", "micro", "f1"), factor=100)


def _of(cells: _Cells, part: str, whole: str) -> str:
    """A count of notes among others, as a mean over seeds."""
    counts, totals = _over(cells, "redaction", part), _over(cells, "redaction", whole)
    return f"{statistics.fmean(counts):.4g} of {totals[0]}" if any(totals) else ""


def _rate(cells: _Cells) -> float | None:
    """Notes a second and core."""
    speeds = _over(cells, "speed")
    return speeds[0]["notes"] / speeds[0]["processor_seconds"] if speeds else None


def _dollars(cells: _Cells) -> str:
    rate = _rate(cells)
    return "" if rate is None else f"{1e6 / rate / 3600 * PRICE:.2f}"


def _share(cells: _Cells, measure: str, row: str) -> str:
    """Per cent of the names of one row, over all seeds."""
    pairs = _over(cells, measure, row)
    found, names = (sum(column) for column in zip(*pairs, strict=True)) if pairs else (0, 0)
    return f"{100 * found / names:.1f}" if names else ""


def _proportion(cells: _Cells, score: str) -> str:
    """A score of the Text Anonymization Benchmark."""
    return _number((found["count"] / max(found["total"], 1) for found in _over(cells, "tab", score)), factor=100)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "".join("| " + " | ".join(row) + " |\n" for row in (head, ["---"] * len(head), *rows))


_TABLES: Mapping[str, Mapping[str, Callable[[_Cells], str]]] = {
    "Scores": {
        "P": partial(_score, measure="precision"),
        "R": partial(_score, measure="recall"),
        "F": partial(_score, measure="f1"),
        "95 %": _interval,
        "macro F": partial(_score, measure="f1", average="macro"),
        "concept F": _concepts,
    },
    "Redaction": {
        "token recall": lambda cells: _number(_over(cells, "redaction", "token_recall"), factor=100),
        "token precision": lambda cells: _number(_over(cells, "redaction", "token_precision"), factor=100),
        "notes with a leak": lambda cells: _of(cells, "notes_with_leak", "notes"),
        "over-redacted": lambda cells: _of(cells, "notes_over_redacted", "notes_without_phi"),
        "bytes changed outside": lambda cells: _number(_over(cells, "redaction", "bytes_changed_outside")[:1], ".0f"),
        "different outputs": lambda cells: _number(_over(cells, "different_outputs"), ".0f"),
    },
    "Direct and quasi-identifiers": {
        f"{name}, {measure}": partial(_proportion, score=score) for score, (name, measure) in TAB_MEASURES.items()
    },
    "Cost": {
        "training, min": lambda cells: _number(_over(cells, "training", "processor_seconds"), ".1f", 1 / 60),
        "memory, MB": lambda cells: _number(_over(cells, "training", "peak_megabytes")[:1], ".0f"),
        "disk, MB": lambda cells: _number(_over(cells, "megabytes_on_disk"), ".1f"),
        "notes/s/core": lambda cells: "" if _rate(cells) is None else f"{_rate(cells):,.0f}",
        "dollars": _dollars,
    },
    "Names by frequency": {name: partial(_share, measure="names_by_frequency", row=name) for name in FREQUENCIES},
    "Names by origin": {name: partial(_share, measure="names_by_origin", row=name) for name in ORIGINS},
}
