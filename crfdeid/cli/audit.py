"""`crfdeid audit`: what a training, or a finished model, gives away about its notes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

from crfdeid.augmentation import ALL_COPIES, augment_corpus, parse_copy_kinds
from crfdeid.cli import corpus_options
from crfdeid.cli import options as shared
from crfdeid.cli.shell import Argument, Mode, Option, command, file_path, names, whole_number
from crfdeid.errors import UsageError

_MANY = 10_000
_TRAINED = Mode("--train", lambda options: options.train is not None)
_FINISHED = Mode("a MODEL, without --train", lambda options: options.train is None)
_of_training = partial(Option, only=(_TRAINED,))


def _copies(text: str) -> tuple[int, ...]:
    return tuple(map(whole_number(1, _MANY), names(text)))


@command(
    Argument(
        "folder",
        required=False,
        metavar="[MODEL]",
        help="Finished model to audit, with --members and --others; its folder gets audit.json.",
    ),
    Option("--train", file_path, metavar="PATH", help="Annotated notes to train a model on, with canaries in them."),
    corpus_options.DEV.but(only=(_TRAINED,), help="Annotated notes for development; default: a tenth of --train."),
    _of_training("--model", listed=True, metavar="NAMES", help="Model to train, as of crfdeid train; default: hybrid."),
    shared.OUTPUT.but(required=False, only=(_TRAINED,), help="New folder for audit.json; the model is not kept."),
    Option("--members", file_path, only=(_FINISHED,), metavar="PATH", help="Annotated notes that MODEL learned from."),
    Option(
        "--others", file_path, only=(_FINISHED,), metavar="PATH", help="Annotated notes of the same kind, not seen."
    ),
    _of_training(
        "--canaries",
        whole_number(8, _MANY),
        default=400,
        help="Number of names, each put into the training notes with probability 1/2.",
    ),
    _of_training(
        "--repeats",
        _copies,
        listed=True,
        default="1,2,4,8",
        metavar="NUMBERS",
        help="Numbers of copies of a name, in as many notes.",
    ),
    corpus_options.FORMAT,
    corpus_options.TYPES,
    shared.SET.but(only=(_TRAINED,), rare=True),
    shared.SEED.but(rare=True),
    shared.JSON.but(rare=True),
    corpus_options.PROFILE.but(only=(_TRAINED,)),
    Option(
        "--augment",
        parse_copy_kinds,
        listed=True,
        only=(_TRAINED,),
        rare=True,
        default=ALL_COPIES,
        metavar="KINDS",
        help="Rewritten copies to learn from, as of crfdeid train.",
    ),
    shared.KEY_FILE.but(only=(_FINISHED,)),
    details="With --train: names (canaries) are put into a random half of the notes; the figures are of the model "
    "trained on them. Without: membership of notes, words of the notes in the model's files, and timing. The exit code "
    "is 1 if the audit is void because it could find nothing.",
    examples=(
        "crfdeid audit --train notes/ --dev dev/ --model crf --output audit/",
        "crfdeid audit model/ --members notes/ --others other/",
    ),
    one_of=("folder", "train"),
)
def run(options: SimpleNamespace) -> int | None:
    """Print the audit, and write audit.json."""
    from crfdeid.audit.report import render_audit  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    one_thread()
    audit = _audit_model(options) if options.train is None else _audit_training(options)
    print(json.dumps(audit) if options.json else render_audit(audit))
    return 0 if audit.get("valid", True) else 1


def _audit_training(options: SimpleNamespace) -> Mapping[str, Any]:
    from crfdeid.audit.report import audit_training, save_audit  # noqa: PLC0415
    from crfdeid.cli.progress import training_bar  # noqa: PLC0415
    from crfdeid.cli.train import _create_tagger  # noqa: PLC0415
    from crfdeid.corpora.splits import read_splits  # noqa: PLC0415

    if options.output is None:
        raise UsageError("--train needs --output: name a new folder for audit.json")
    shared.require_new_folder(options.output, {"--train": options.train, "--dev": options.dev})
    name, tagger, _ = _create_tagger(SimpleNamespace(**vars(options), private_vocabulary=False))
    corpus = read_splits(options.train, options.dev, None, corpus_format=options.format, types=options.types)
    with training_bar(f"training {name} with canaries") as step:
        audit = audit_training(
            tagger,
            corpus,
            canaries=options.canaries,
            repeats=options.repeats,
            prepare=partial(augment_corpus, how=options.augment),
            seed=options.seed,
            on_progress=step,
        )
    save_audit(options.output, audit)
    return audit


def _audit_model(options: SimpleNamespace) -> Mapping[str, Any]:
    from crfdeid.audit.report import audit_model, save_audit  # noqa: PLC0415
    from crfdeid.corpora.splits import Split  # noqa: PLC0415
    from crfdeid.pipeline import load  # noqa: PLC0415

    if None in (options.members, options.others):
        raise UsageError("a MODEL needs --members, its training notes, and --others, other notes")
    folder = shared.find_named(options.folder)
    model = load(folder, key=shared.read_key(folder, options.key_file))
    members, others = (
        Split.of(corpus_options.read_annotated(path, options)) for path in (options.members, options.others)
    )
    audit = audit_model(folder, model, members, others, seed=options.seed)
    save_audit(folder.path, audit)
    return audit
