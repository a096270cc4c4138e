"""`crfdeid tag`: the spans of PHI in notes, for people to check or for `crfdeid evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from crfdeid.cli import options as shared
from crfdeid.cli.shell import Mode, choice, command
from crfdeid.corpora import formats_where
from crfdeid.io.annotations import TABLE_FORMATS, TAG_ENDINGS

_BLIND = formats_where(lambda format: format.tagged and format.annotators)


@command(
    *shared.NOTE_OPTIONS,
    choice(
        "--output-format",
        tuple(TAG_ENDINGS),
        default="jsonl",
        metavar="FORMAT",
        help=f"Format of the result: {', '.join(TAG_ENDINGS)}; for tables {', '.join(TABLE_FORMATS)}.",
    ),
    shared.BLIND.but(
        only=(Mode(f"--output-format {', '.join(_BLIND)}", lambda options: options.output_format in _BLIND),)
    ),
    details="A model that finds concepts too writes these as well: jsonl in the same file, other formats in two "
    "folders, phi/ and concepts/.",
    examples=(
        "crfdeid tag model/ notes/ --output found/",
        "crfdeid tag synthetic notes/ --output found/ --output-format brat",
    ),
)
def run(options: SimpleNamespace) -> int:
    """Find the PHI of every note."""
    from crfdeid.cli import note_run  # noqa: PLC0415
    from crfdeid.corpora.jsonl import to_line  # noqa: PLC0415
    from crfdeid.documents import CONCEPT  # noqa: PLC0415
    from crfdeid.errors import UsageError  # noqa: PLC0415
    from crfdeid.io import annotations  # noqa: PLC0415
    from crfdeid.io.records import NoteFile, Writer  # noqa: PLC0415
    from crfdeid.io.runner import OutputPlan  # noqa: PLC0415
    from crfdeid.io.sources import NOTE_SUFFIXES  # noqa: PLC0415
    from crfdeid.registry import saved_traits  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    one_thread()
    form = options.output_format
    with_completeness = form == "label-studio" and not options.blind
    keys, columns = shared.run_keys(options), replace(shared.note_columns(options), use_id_key=True)
    redactor = shared.read_redactor(options, keys=keys, columns=columns, with_completeness=with_completeness)
    layers = saved_traits(redactor.folder).layers
    with_sources = form in ("jsonl", "label-studio", "transformers") and not options.blind
    evidence = options.report is not None or with_sources
    redactor = replace(redactor, concepts=CONCEPT in layers, evidence=evidence)
    settings = {
        "command": "tag",
        "format": form,
        **({"for_test": True} if options.blind else {}),
        **shared.run_settings(options, redactor, keys),
    }
    if options.notes == shared.STDIN:
        if form != "jsonl":
            raise UsageError(f"--output-format {form}: one note from standard input is written as jsonl")
        note_run.write_stdout(to_line(note_run.run_stdin(options, redactor, settings)))
        return 0

    def targets(file: NoteFile) -> list[str]:
        if form not in annotations.TABLE_FORMATS and file.suffix not in NOTE_SUFFIXES:
            raise UsageError(f"--output-format {form} is for .txt files and other text: write {file.name} as jsonl")
        return annotations.target_names(file, form, layers)

    def writer(_: NoteFile, paths: Sequence[Path]) -> Writer:
        model = f"{redactor.folder.path.name} {settings['model'][:12]}"
        return annotations.tag_writer(paths, form, layers, model=model, for_test=options.blind)

    plan = OutputPlan(targets, writer, redactor.columns)
    return note_run.run_folder(options, note_run.RunPlan("tagging", redactor, keys, plan, settings))
