"""`crfdeid train`: a model from annotated notes, with its card."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from crfdeid.augmentation import parse_copy_kinds
from crfdeid.cli import calibrate, corpus_options
from crfdeid.cli.options import (
    KEY_FILE,
    LISTS,
    OUTPUT,
    SEED,
    SET,
    custom_lists,
    find_named,
    read_key,
    require_new_folder,
)
from crfdeid.cli.shell import Mode, Option, choice, command, file_path, flag
from crfdeid.documents import CONCEPT
from crfdeid.errors import DataError, OptionConflictError, UsageError
from crfdeid.registry import MODELS, select
from crfdeid.validation import FOLDER_SETTINGS

if TYPE_CHECKING:
    from crfdeid.corpora.layers import ConceptPaths
    from crfdeid.corpora.splits import Corpus
    from crfdeid.documents import Document
    from crfdeid.model_card.calibration import LeakTarget
    from crfdeid.tagger import Tagger

_DEFAULT_MODEL = "hybrid"
_AUGMENT = "all"
_PRIVATE_MIN_DOCUMENTS = 3  # with hashed words, a word that fewer documents have is left out
_NEW = Mode("a new model, without --finetune-from", lambda options: options.finetune_from is None)
_CONCEPTS = Mode("--concepts", lambda options: options.concepts is not None)
GOLD_WEIGHT = 5
"""How often a note of --gold counts."""
_TEST = Mode("--test, notes that choose nothing else", lambda options: options.test is not None)
_BOUNDED = Mode("--max-leak-rate", lambda options: options.max_leak_rate is not None)
_FIXED = FOLDER_SETTINGS | {"min_documents"}  # by the first training
_SECRET = Mode(
    "--private-vocabulary and --finetune-from", lambda o: o.private_vocabulary or o.finetune_from is not None
)


@command(
    corpus_options.ANNOTATED,
    OUTPUT.but(help="New folder for the model."),
    corpus_options.DEV,
    corpus_options.TEST,
    Option(
        "--model",
        listed=True,
        metavar="NAMES",
        help=f"Model to train, from {', '.join(MODELS)}; several, separated by commas, with --set combine=union, vote "
        f"or mean; default: {_DEFAULT_MODEL}.",
    ),
    corpus_options.FORMAT,
    corpus_options.TYPES,
    corpus_options.PATIENT_COLUMN,
    SET,
    SEED,
    Option(
        "--gold",
        file_path,
        rare=True,
        metavar="PATH",
        help="Notes that people annotated, next to NOTES of crfdeid annotate silver; they count several times, and a "
        "tenth of them is for development.",
    ),
    Option(
        "--with-builtin",
        only=(_NEW,),
        rare=True,
        metavar="MODEL",
        help="Trained model, such as english, next to the new one: the spans of both, or the mean of their "
        "probabilities where the development notes show that it is better; --set combine=union or mean fixes it.",
    ),
    calibrate.RATE.but(
        only=(_TEST,), rare=True, help="Share of notes that leak at most, such as 0.05, to prove on --test."
    ),
    calibrate.CONFIDENCE.but(only=(_BOUNDED,), rare=True),
    calibrate.UNITS.but(only=(_BOUNDED,), rare=True),
    calibrate.IDENTIFIERS.but(only=(_BOUNDED,), rare=True),
    LISTS.but(help="TOML file: values always hidden and never; the model holds them in the clear."),
    Option("--finetune-from", file_path, metavar="DIR", help="Trained network to continue from, with its settings."),
    corpus_options.PROFILE.but(only=(_NEW,)),
    Option(
        "--augment",
        parse_copy_kinds,
        listed=True,
        rare=True,
        default=_AUGMENT,
        metavar="KINDS",
        help="Rewritten copies to learn from: accents, case, layout, values, several with commas, all or none.",
    ),
    flag(
        "--private-vocabulary",
        only=(_NEW,),
        rare=True,
        help="Store words as keyed hashes; training and every use of the model then need the secret.",
    ),
    KEY_FILE.but(only=(_SECRET,)),
    Option(
        "--concepts",
        file_path,
        rare=True,
        metavar="PATH",
        help="The notes with concepts marked, for models that learn both; docs/explanation/joint.md.",
    ),
    *(
        Option(
            f"--{part}-concepts",
            file_path,
            only=(_CONCEPTS,),
            rare=True,
            metavar="PATH",
            help=f"The notes of --{part} with concepts marked.",
        )
        for part in ("dev", "test")
    ),
    choice(
        "--concepts-format",
        corpus_options.FORMATS,
        only=(_CONCEPTS,),
        rare=True,
        default="auto",
        metavar="FORMAT",
        help="Format of the notes with concepts.",
    ),
    corpus_options.IGNORE_TYPES.but(only=(_CONCEPTS,)),
    flag("--disjoint", only=(_CONCEPTS,), rare=True, help="The concepts are of other notes than the PHI."),
    details="The model's folder holds its card: training data, scores on the development notes, and the cost of "
    "each --sensitivity.",
    examples=(
        "crfdeid train notes/ --output model/",
        "crfdeid train notes/ --dev dev/ --output model/ --model crf --set max_iterations=30",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Train a model, write it with its card, print the card, and a summary on standard error."""
    from crfdeid.cli.progress import training_bar  # noqa: PLC0415
    from crfdeid.corpora.check import check_annotations  # noqa: PLC0415
    from crfdeid.model_card.card import model_digest  # noqa: PLC0415
    from crfdeid.model_card.training import train_model  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    others = ("gold", "dev", "test", "concepts", "dev_concepts", "test_concepts")
    sources = {"NOTES": options.notes, **{f"--{name.replace('_', '-')}": getattr(options, name) for name in others}}
    require_new_folder(options.output, sources)
    lists = custom_lists(options)
    one_thread()
    name, tagger, key = _untrained(options)
    if options.finetune_from is None:
        tagger.require_sources()
    concepts = _concept_paths(options)
    if concepts is not None and CONCEPT not in type(tagger).traits(tagger.settings).layers:
        raise UsageError(f"--model {name} learns PHI alone: leave out --concepts, or choose a model that learns both")
    corpus = _read_notes(options, tagger, concepts)
    for line in corpus_options.describe_check(
        check_annotations([one for split in corpus.splits.values() for one in split.documents])
    ):
        print(f"note: {line}", file=sys.stderr)
    if options.gold is not None:
        silver = corpus_options.read_annotated(options.notes, options, patient_column=options.patient_column)
        corpus = corpus.with_silver(silver, weight=GOLD_WEIGHT)
    target = None if options.max_leak_rate is None else calibrate.read_target(options)
    if target is not None and corpus.test is not None:
        target.require_enough(corpus.test.documents)
    started, what = time.monotonic(), options.model or name
    with training_bar(f"training {what}") as step:
        card = train_model(
            tagger,
            corpus,
            options.output,
            augment=options.augment,
            key=key,
            lists=lists,
            base_model_sha256=None if options.finetune_from is None else model_digest(options.finetune_from),
            on_progress=step,
        )
    if options.with_builtin is not None:
        card = _keep_threshold(options, tagger, card)
    print_training(what, options.output, card, time.monotonic() - started)
    if target is not None and corpus.test is not None:
        _bound_leaks(options.output, corpus.test.documents, target, key)


def _untrained(options: SimpleNamespace) -> tuple[str, Tagger, bytes | None]:
    """Name, model to train, and vocabulary key."""
    if options.finetune_from is not None:
        return _load_for_finetuning(options)
    return _create_tagger(options) if options.with_builtin is None else _create_with_builtin(options)


def _read_notes(options: SimpleNamespace, tagger: Tagger, concepts: ConceptPaths | None) -> Corpus:
    """The training, development and test notes that people annotated: with --gold, not NOTES, which are silver."""
    from crfdeid.corpora.splits import read_held_out, read_splits  # noqa: PLC0415

    if options.dev is None and options.gold is None and not getattr(tagger.settings, "epochs", 1):
        notes = (str(options.notes), options.notes, options.test)
        return read_held_out(*notes, options.format, options.types)
    return read_splits(
        options.gold or options.notes,
        options.dev,
        options.test,
        corpus_format=options.format,
        types=options.types,
        concepts=concepts,
        patient_column=options.patient_column,
    )


def _bound_leaks(folder: Path, documents: Sequence[Document], target: LeakTarget, key: bytes | None) -> None:
    """Prove the leak rate of a new model on the test notes, and store the claim in its card."""
    from crfdeid.model_card.calibration import calibrate as prove  # noqa: PLC0415
    from crfdeid.model_card.calibration import store_claim  # noqa: PLC0415
    from crfdeid.pipeline import load  # noqa: PLC0415

    try:
        done = prove(load(folder, key=key, concepts=False, evidence=False, members=False), documents, target)
    except DataError as problem:
        raise DataError(f"the model is written, without a claim: {problem}", path=folder) from None
    card = store_claim(folder, done.claim)
    calibrate.print_calibration(done, documents)
    print(f"model: {folder}, digest {card['sha256']}", file=sys.stderr)


def _concept_paths(options: SimpleNamespace) -> ConceptPaths | None:
    """Paths and settings of the concept annotations; None without ``--concepts``."""
    from crfdeid.corpora.layers import ConceptPaths  # noqa: PLC0415

    if options.concepts is None:
        return None
    return ConceptPaths(
        train=options.concepts,
        dev=options.dev_concepts,
        test=options.test_concepts,
        format=options.concepts_format,
        ignored_types=corpus_options.ignored_types(options.ignore_types),
        disjoint=options.disjoint,
    )


def _create_tagger(options: SimpleNamespace) -> tuple[str, Tagger, bytes | None]:
    """The model's name, the untrained model, and the key that hashes the words in its files."""
    from crfdeid.registry import create  # noqa: PLC0415

    name, settings = _model_and_settings(options)
    tagger = create(name, profile=options.profile, seed=options.seed, overrides=settings)
    return name, tagger, _key(options, name, tagger)


def _create_with_builtin(options: SimpleNamespace) -> tuple[str, Tagger, bytes | None]:
    """Name, model and vocabulary key of `_create_tagger`, in an ensemble with the trained model of --with-builtin."""
    from crfdeid.ensembles.ensemble import EnsembleTagger  # noqa: PLC0415
    from crfdeid.registry import load_tagger, model_name  # noqa: PLC0415

    settings = dict(options.set)
    combine = settings.pop("combine", None)
    name, tagger, key = _create_tagger(SimpleNamespace(**{**vars(options), "set": tuple(settings.items())}))
    folder = find_named(options.with_builtin)
    given = load_tagger(folder, key=read_key(folder, options.key_file))
    return name, EnsembleTagger.of([(model_name(folder), given), (name, tagger)], combine=combine), key


def _keep_threshold(options: SimpleNamespace, tagger: Tagger, card: dict[str, Any]) -> dict[str, Any]:
    """Give the new model the default threshold of the model of --with-builtin; return its card."""
    from crfdeid.ensembles.ensemble import EnsembleTagger  # noqa: PLC0415
    from crfdeid.model_card.card import read_card, update_card  # noqa: PLC0415
    from crfdeid.thresholds import chosen_threshold  # noqa: PLC0415

    threshold = chosen_threshold(read_card(find_named(options.with_builtin)), None)
    if threshold is None or not isinstance(tagger, EnsembleTagger):
        return card
    return update_card(options.output, card, threshold=tagger.keeping(threshold))


def _load_for_finetuning(options: SimpleNamespace) -> tuple[str, Tagger, bytes | None]:
    """Name, model and vocabulary key for finetuning; the key is that of the first training."""
    from crfdeid.registry import load_for_finetuning, model_name  # noqa: PLC0415

    name = model_name(options.finetune_from)
    if options.model not in (None, name):
        raise UsageError(f"--model {options.model}: --finetune-from names a model {name}: leave out --model")
    for setting in sorted(_FIXED & dict(options.set).keys()):
        raise OptionConflictError(f"--set {setting}: the model of --finetune-from has fixed it: leave it out")
    key = read_key(options.finetune_from, options.key_file)
    return (
        name,
        load_for_finetuning(options.finetune_from, seed=options.seed, overrides=dict(options.set), key=key),
        key,
    )


def _key(options: SimpleNamespace, name: str, tagger: Tagger) -> bytes | None:
    """Key for the hashes of the words in the model's files; None for readable words."""
    from crfdeid.secrets import read_vocabulary_key  # noqa: PLC0415
    from crfdeid.tagger import CombinedSettings  # noqa: PLC0415

    if not options.private_vocabulary:
        return None
    if type(tagger).traits(tagger.settings).public_vocabulary and not isinstance(tagger.settings, CombinedSettings):
        raise UsageError(
            f"--private-vocabulary: the files of the model {name} hold no words of the notes, only public ones: "
            "leave it out, and keep the model as safe as the notes"
        )
    return read_vocabulary_key(options.key_file)


def _model_and_settings(options: SimpleNamespace) -> tuple[str, dict[str, Any]]:
    """The model's name, and the settings that differ from its profile's.

    By default, rules also apply to types without an example in the notes, which no model could learn and which would
    leak.
    """
    name, settings = options.model or _DEFAULT_MODEL, dict(options.set)
    names = name.split(",")
    if len(names) > 1:
        if "combine" not in settings:
            raise UsageError(f"--model {name}: several models need --set combine=union, vote or mean")
        name, settings = "ensemble", {**settings, "members": tuple(names)}
    settings |= select(name, {"keep_untried": True, **settings})
    for folder in FOLDER_SETTINGS & settings.keys():
        settings[folder] = str(file_path(str(settings[folder])))
    if options.private_vocabulary:
        settings |= select(name, {"min_documents": _PRIVATE_MIN_DOCUMENTS, **settings})
    return name, settings


def print_training(model: str, folder: Path, card: Mapping[str, Any], seconds: float) -> None:
    """Print the card of a new model, and a summary on standard error: data, misses, path and digest of the model."""
    from crfdeid.model_card.render import render_card  # noqa: PLC0415

    print(render_card(folder, card), flush=True)
    for line in _summary(model, folder, card, seconds):
        print(line, file=sys.stderr)


def _summary(model: str, folder: Path, card: Mapping[str, Any], seconds: float) -> Iterator[str]:
    from crfdeid.cli.progress import duration  # noqa: PLC0415
    from crfdeid.thresholds import usual_points  # noqa: PLC0415

    splits, points = card["corpus"]["splits"], usual_points(card)
    yield f"trained {model} in {duration(seconds)}"
    for name, split in splits.items():
        counts = split.get("layers", {}).get(CONCEPT, {"spans": 0, "spans_by_type": {}})
        concepts = f", {counts['spans']} concepts ({_by_type(counts)})" if "layers" in card else ""
        size = f"{split['sentences']} sentences" if split["documents"] is None else f"{split['documents']} notes"
        yield f"{name}: {size}, {split['spans']} spans of PHI ({_by_type(split)}){concepts}"
    for name in (name for name in splits if name in card):
        scores = card[name]["consistent"]
        binary, leaking = scores["token_binary"]["micro"], scores["leaking_documents"]
        yield (
            f"{name}: strict F {100 * scores['entity_strict']['micro']['f1']:.2f}; "
            f"{binary['fn']} of {binary['tp'] + binary['fn']} PHI tokens missed, "
            f"in {leaking['count']} of {leaking['total']} notes"
        )
        if "concepts" in card[name]:
            f1 = card[name]["concepts"]["entity_strict"]["micro"]["f1"]
            yield f"{name}: strict F of concepts {100 * f1:.2f}"
    if points:
        each = (f"{one['required']:g} on {one['missed']} (PPV {100 * one['ppv']:.1f} %)" for one in points)
        yield f"thresholds rest on the PHI tokens they miss, of {points[0]['phi_tokens']}: {', '.join(each)}"
    yield f"model: {folder}, digest {card['sha256']}"


def _by_type(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {label}" for label, count in counts["spans_by_type"].items())
