"""`crfdeid evaluate`: predicted PHI, or predicted concepts, against people's annotation of the same notes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from crfdeid.augmentation.perturbations import PERTURBATIONS, parse_perturbations
from crfdeid.cli import corpus_options
from crfdeid.cli import options as shared
from crfdeid.cli.limits import FAILED, LIMITS, judge, parse_limits
from crfdeid.cli.shell import Argument, Mode, Option, choice, command, file_path, names
from crfdeid.corpora.common import same_notes
from crfdeid.corpora.tool_output import TOOLS, read_tool_output
from crfdeid.documents import CONCEPT, Document
from crfdeid.errors import OptionConflictError, UnknownNameError, UsageError, shorten_list
from crfdeid.label_schemes import map_types
from crfdeid.utils.tables import markdown_table

if TYPE_CHECKING:
    from crfdeid.evaluation import Averages, Counts, Predictions, Scores
    from crfdeid.evaluation.perturbed import PerturbedRecall, WorstNote
    from crfdeid.evaluation.tokens import Proportion
    from crfdeid.pipeline import Deidentifier

SCORE_MODES = ("strict", "relaxed", "token", "binary", "i2b2", "meddocan", "tab")
_MEASURES = ("P", "R", "F", "right", "spurious", "missed")
# Modes of each layer: the first tuple is the default.
_LAYERS = {"phi": (("strict", "binary"), SCORE_MODES), "concepts": (("strict",), ("strict", "relaxed", "token"))}
_PHI = Mode("--layer phi", lambda options: options.layer == "phi")
_CONCEPTS = Mode("--layer concepts", lambda options: options.layer == "concepts")
_BY_MODEL = Mode("a MODEL, without --predicted", lambda options: options.predicted is None)
_PREDICTED = Mode("--predicted", lambda options: options.predicted is not None)


@command(
    Argument(
        "paths", metavar="[MODEL] NOTES", nargs=-1, help="Model to score (not with --predicted), and annotated notes."
    ),
    Option("--predicted", file_path, metavar="PATH", help="The same notes with predictions, instead of MODEL."),
    Option(
        "--mode",
        names,
        metavar="MODES",
        help=f"Scores, from {','.join(SCORE_MODES)}; default: strict,binary, of concepts strict.",
    ),
    choice("--layer", tuple(_LAYERS), default="phi", rare=True, help="Annotation layer to score."),
    corpus_options.FORMAT,
    corpus_options.TYPES.but(only=(_PHI,)),
    shared.SENSITIVITY.but(only=(_BY_MODEL,)),
    shared.LISTS.but(only=(_BY_MODEL,)),
    Option(
        "--perturb",
        parse_perturbations,
        only=(_BY_MODEL, _PHI),
        metavar="KINDS",
        help=f"Score rewritten notes too: {', '.join(PERTURBATIONS)}, several with commas, or all.",
    ),
    Option(
        "--fail-under",
        parse_limits,
        only=(_PHI,),
        metavar="LIMITS",
        help=f"End with code {FAILED} below or above a limit, such as recall=0.98,leaks=0.1; "
        f"{', '.join(f'{name} {text}' for name, (text, _) in LIMITS.items())}.",
    ),
    shared.OUTPUT.but(required=False, help="New file, NAME.html, for a page with the errors in the notes."),
    shared.JSON,
    choice(
        "--predicted-format",
        (*corpus_options.FORMATS, *TOOLS),
        only=(_PREDICTED,),
        rare=True,
        metavar="FORMAT",
        help=f"Format of --predicted; also {', '.join(TOOLS)}, of other tools; default: that of --format.",
    ),
    Option(
        "--spans-key",
        only=(_PREDICTED, _PHI),
        rare=True,
        metavar="KEY",
        help="Key of the spans in the JSON of another tool; default: the tool's.",
    ),
    shared.MAX_LEAK_RATE.but(only=(_BY_MODEL,), rare=True),
    shared.NO_CONSISTENCY.but(only=(_BY_MODEL,)),
    shared.KEY_FILE.but(only=(_BY_MODEL,)),
    shared.LIMIT.but(rare=True),
    Option(
        "--concepts",
        file_path,
        only=(_PHI,),
        rare=True,
        metavar="PATH",
        help="The notes with concepts marked, or terms, one a line of a .txt file, to count those hidden by mistake; "
        "default: a layer of NOTES.",
    ),
    corpus_options.IGNORE_TYPES.but(only=(_CONCEPTS,)),
    Option(
        "--exclude-regions",
        file_path,
        only=(_CONCEPTS,),
        rare=True,
        help="CSV file of text ranges without annotated concepts (columns document, start, end), to score again "
        "without them.",
    ),
    details="docs/reference/metrics.md describes the scores.",
    examples=(
        "crfdeid evaluate model/ notes/ --perturb all",
        "crfdeid evaluate --predicted found/ notes/ --mode strict,i2b2",
    ),
)
def run(options: SimpleNamespace) -> int:
    """Print the scores; return 0, or `FAILED` where a limit of --fail-under is not kept."""
    from crfdeid.cli.review import write_page  # noqa: PLC0415
    from crfdeid.corpora.check import check_annotations  # noqa: PLC0415

    modes = _modes_of(options)
    if len(options.paths) != 1 + (options.predicted is None):
        raise UsageError("expected MODEL and NOTES, or --predicted and NOTES (--help)")
    if "perturbed" in (options.fail_under or ()) and options.perturb is None:
        raise OptionConflictError("--fail-under perturbed is for --perturb: leave it out, or give --perturb all")
    notes = file_path(options.paths[-1])
    if options.output is not None:
        shared.require_new_file(options.output, {"NOTES": notes, "--predicted": options.predicted})
    gold = _read(options, notes, options.format)
    model, predictions = _predictions(options, gold)
    gold = gold[: options.limit]
    issues = check_annotations(gold)
    described = () if options.json else corpus_options.describe_check(issues)
    for note in (*_remarks(options, modes, gold, predictions), *described):
        print(f"note: {note}", file=sys.stderr)
    tables = {mode: list(score_rows(mode, gold, predictions)) for mode in modes}
    if options.exclude_regions is not None:
        from crfdeid.corpora.layers import exclude_regions, read_excluded_regions  # noqa: PLC0415

        seen = exclude_regions(gold, predictions, read_excluded_regions(options.exclude_regions, gold))
        tables |= {f"{mode}, without excluded regions": list(score_rows(mode, *seen)) for mode in modes}
    if options.output is not None:
        from crfdeid.review.page import GOLD, comparison_notes  # noqa: PLC0415

        tagger = None if model is None else model.tagger
        write_page(options.output, comparison_notes(gold, predictions), GOLD, tagger=tagger)
    lost = _lost_concepts(options, gold, predictions)
    perturbed = [] if model is None or options.perturb is None else _perturbed(model, options, gold, predictions)
    if options.json:
        scores = {mode: {row.name: dict(row.data) for row in rows} for mode, rows in tables.items()}
        checked = {"annotations": [issue.to_dict() for issue in issues]} if issues else {}
        print(json.dumps(scores | checked | _further_data(lost, perturbed)))
    else:
        further = _further_tables(lost, perturbed)
        print("\n\n".join([*(render_table(name, rows) for name, rows in tables.items()), *further]), flush=True)
    return judge(options.fail_under, gold, predictions, perturbed)


def _predictions(options: SimpleNamespace, gold: Sequence[Document]) -> tuple[Deidentifier | None, Predictions]:
    """The model, unless there are predictions, and the predicted spans of the first notes (--limit) by their ids."""
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    model, wanted = None, gold[: options.limit]
    if options.predicted is None:
        one_thread()
        model = shared.load_model(options, options.paths[0], concepts=options.layer == "concepts", evidence=False)
        predicted = _predict(model, options, wanted)
    else:
        predicted = _read_predicted(options, gold)
        if options.limit is not None:
            ids = {document.id for document in wanted}
            predicted = [document for document in predicted if document.id in ids]
    sides = ("NOTES", "MODEL" if model is not None else "--predicted")
    return model, same_notes(wanted, predicted, sides=sides, doing="score")


def _read_predicted(options: SimpleNamespace, gold: Sequence[Document]) -> list[Document]:
    """The notes of --predicted with their spans."""
    form = options.predicted_format or options.format
    if options.spans_key is None and form not in TOOLS:
        return _read(options, options.predicted, form)
    if options.layer != "phi":
        raise OptionConflictError(f"--predicted-format {form} is for --layer phi: leave it out")
    tool = form if form in TOOLS else "spans"
    found = read_tool_output(shared.require_path(options.predicted), gold, tool=tool, spans_key=options.spans_key)
    return map_types(found, options.types)


def _lost_concepts(
    options: SimpleNamespace, gold: Sequence[Document], predictions: Predictions
) -> dict[str, Proportion]:
    """The concepts hidden by mistake, by type; none without annotated concepts."""
    from crfdeid.corpora.layers import mark_terms, read_concepts, select_layer  # noqa: PLC0415
    from crfdeid.evaluation.tokens import hidden_concepts  # noqa: PLC0415

    if options.layer != "phi":
        return {}
    if options.concepts is not None and options.concepts.suffix.lower() == ".txt":
        marked = mark_terms(gold, options.concepts)
    elif options.concepts is not None:
        marked, _ = read_concepts(options.concepts, ignored_types=corpus_options.ignored_types(None))
        ids = {document.id for document in gold}
        marked = [document for document in marked if options.limit is None or document.id in ids]
    else:
        gold = [document for document in gold if CONCEPT in document.layers]
        marked = [select_layer(document, CONCEPT) for document in gold]
    concepts = same_notes(gold, marked, sides=("NOTES", "--concepts"), doing="count")
    return hidden_concepts(gold, concepts, {document.id: predictions[document.id] for document in gold})


def _perturbed(
    model: Deidentifier, options: SimpleNamespace, gold: Sequence[Document], predictions: Predictions
) -> list[PerturbedRecall]:
    from crfdeid.evaluation.perturbed import score_perturbations  # noqa: PLC0415

    return score_perturbations(model.annotate_documents, gold, predictions, options.perturb)


def _further_data(lost: Mapping[str, Proportion], perturbed: Sequence[PerturbedRecall]) -> dict[str, Any]:
    """The concepts hidden by mistake and the scores of rewritten notes for JSON."""
    from crfdeid.evaluation.perturbed import worst_notes  # noqa: PLC0415

    data: dict[str, Any] = {}
    if lost:
        data["concepts hidden"] = {label: share.to_dict() for label, share in lost.items()}
    if perturbed:
        worst = [{"id": one.id, "rewrite": one.rewrite, "lost": one.lost} for one in worst_notes(perturbed)]
        data["perturbed"] = {"rewrites": [score.to_dict() for score in perturbed], "worst": worst}
    return data


def _further_tables(lost: Mapping[str, Proportion], perturbed: Sequence[PerturbedRecall]) -> Iterator[str]:
    """Tables of the concepts hidden by mistake, and of rewritten notes with the worst of them."""
    from crfdeid.evaluation.perturbed import worst_notes  # noqa: PLC0415

    if lost:
        counts = [(name, share.count, share.total) for name, share in lost.items()]
        counts.append(("all", sum(count for _, count, _ in counts), sum(total for _, _, total in counts)))
        rows = [[name, count, total, f"{100 * count / max(total, 1):.2f}"] for name, count, total in counts]
        yield markdown_table(["concepts hidden by mistake", "hidden", "of", "%"], rows)
    if perturbed:
        rows = []
        for one in perturbed:
            interval = f"{100 * one.low:+.2f} to {100 * one.high:+.2f}"
            recall = [f"{100 * share:.2f}" for share in (one.before, one.after)]
            rows.append(
                [one.rewrite, one.notes, one.tokens, *recall, f"{100 * (one.after - one.before):+.2f}", interval]
            )
        head = ["rewritten notes", "notes", "PHI tokens", "R before", "R after", "change", "95 % interval"]
        yield markdown_table(head, rows)
        worst = [[one.id, one.rewrite, *_recalls(one)] for one in worst_notes(perturbed)]
        if worst:
            yield markdown_table(["worst notes", "rewrite", "found before", "found after"], worst)


def _recalls(note: WorstNote) -> Iterator[str]:
    for one in (note.before, note.after):
        yield f"{one.found} of {one.tokens}"


def _modes_of(options: SimpleNamespace) -> Sequence[str]:
    """The scores to compute."""
    usual, possible = _LAYERS[options.layer]
    for mode in options.mode or ():
        if mode not in possible:
            raise UnknownNameError(f"--mode {mode}: choose from {', '.join(possible)} for --layer {options.layer}")
    return tuple(dict.fromkeys(options.mode or usual))


def _read(options: SimpleNamespace, path: Path, form: str) -> list[Document]:
    """Documents of one side, with the spans to score."""
    from crfdeid.corpora.layers import read_concepts  # noqa: PLC0415

    if options.layer == "phi":
        return corpus_options.read_annotated(path, SimpleNamespace(format=form, types=options.types))
    documents, _ = read_concepts(path, format=form, ignored_types=corpus_options.ignored_types(options.ignore_types))
    return documents


def _predict(model: Deidentifier, options: SimpleNamespace, gold: Sequence[Document]) -> list[Document]:
    """The notes with the spans that the model finds in their texts."""
    from crfdeid.corpora.layers import select_layer  # noqa: PLC0415

    annotated = list(model.annotate_documents(gold))
    if options.layer == "concepts":
        return [select_layer(document, "concept") for document in annotated]
    return map_types(annotated, options.types)


def _remarks(
    options: SimpleNamespace, modes: Sequence[str], gold: list[Document], predictions: Predictions
) -> Iterator[str]:
    """Remarks on properties of the data that affect scores and are no fault of the model."""
    from crfdeid.evaluation.challenges import span_types  # noqa: PLC0415
    from crfdeid.label_schemes import approximate_types, types_without_answer  # noqa: PLC0415

    annotated = span_types(gold, {})
    reported = span_types([], predictions)
    if options.types == "all" and annotated and reported and annotated.isdisjoint(reported):
        remedy = ": give --types seven, or --types binary" if options.layer == "phi" else ""
        yield f"gold and predictions have no type in common{remedy}"
    if "i2b2" not in modes:
        return
    labels = annotated | reported
    unknown, approximate = types_without_answer(labels), approximate_types(labels)
    if unknown:
        yield f"no i2b2 scores over HIPAA's types: nothing says whether HIPAA names {shorten_list(map(repr, unknown))}"
    elif approximate:
        yield (
            "the i2b2 scores over HIPAA's types are approximate: the 2014 challenge has no "
            f"{shorten_list(map(repr, approximate))}; docs/reference/types.md says which of them count"
        )


class TableRow(NamedTuple):
    """A row of a mode's table: its first cell, those of measures, of which some may be missing, and data for JSON."""

    name: str
    cells: Sequence[str]
    data: Mapping[str, float]


def score_rows(mode: str, gold: Sequence[Document], predicted: Predictions) -> Iterator[TableRow]:
    """The rows of the table of one of `SCORE_MODES`, from annotated documents and the predicted spans by their id."""
    from crfdeid import evaluation  # noqa: PLC0415
    from crfdeid.evaluation.evaluate import count_leaking_documents  # noqa: PLC0415

    match mode:
        case "strict" | "relaxed":
            yield from type_rows(evaluation.score_entities(gold, predicted, match=mode))
        case "token":
            yield from type_rows(evaluation.score_tokens(gold, predicted))
        case "binary":
            yield _counted("PHI", evaluation.score_tokens(gold, predicted, binary=True).micro)
            leaking = count_leaking_documents(gold, predicted)
            yield TableRow("notes with a miss", [f"{leaking} of {len(gold)}"], {"notes": leaking, "of": len(gold)})
        case "i2b2":
            for score in evaluation.score_i2b2(gold, predicted):
                name = f"{score.mode}, {score.subset}"
                yield _counted(f"{name}, micro", score.micro)
                yield _averaged(f"{name}, macro", score.macro)
        case "meddocan":
            scores = evaluation.score_meddocan(gold, predicted)
            yield _counted("NER", scores.ner)
            yield _counted("span strict", scores.span_strict)
            yield _counted("span merged", scores.span_merged)
            yield _counted("span merged, as published", scores.span_merged_as_published)
            yield TableRow("leak score", [f"{scores.leak:.4f}"], {"leak": scores.leak, "sentences": scores.sentences})
        case "tab":
            for field, share in vars(evaluation.score_tab([gold], predicted)).items():
                name, measure = evaluation.TAB_MEASURES[field]
                data = {measure: share.fraction, "count": share.count, "of": share.total}
                yield TableRow(name, [*[""] * (measure == "recall"), f"{100 * share.fraction:.2f}"], data)


def type_rows(scores: Scores) -> Iterator[TableRow]:
    """A row for each type, one for all, and one for their mean."""
    for label, counts in scores.by_type.items():
        yield _counted(label, counts)
    yield _counted("micro", scores.micro)
    yield _averaged("macro", scores.macro)


def _counted(name: str, counts: Counts) -> TableRow:
    return TableRow(name, [*_shares(counts), str(counts.tp), str(counts.fp), str(counts.fn)], counts.to_dict())


def _averaged(name: str, averages: Averages) -> TableRow:
    return TableRow(name, _shares(averages), averages._asdict())


def _shares(values: Counts | Averages) -> list[str]:
    return [f"{100 * share:.2f}" for share in (values.precision, values.recall, values.f1)]


def render_table(mode: str, rows: Sequence[TableRow]) -> str:
    """Rows as a Markdown table."""
    return markdown_table([mode, *_MEASURES], [[row.name, *row.cells] for row in rows])
