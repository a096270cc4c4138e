"""Train a model on annotated notes, measure it on the development notes, and choose its thresholds."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.cli import arguments
from crfdeid.cli.arguments import add_corpus_options, add_seed, require_outside
from crfdeid.cli.shell import copy_kinds, duration, file_path, setting, whole_number
from crfdeid.documents import CONCEPT
from crfdeid.errors import UsageError
from crfdeid.registry import MODELS, profile_name, select
from crfdeid.validation import FOLDER_SETTINGS

if TYPE_CHECKING:
    from crfdeid.tagger import Tagger

_DEFAULT_MODEL = "hybrid"
_SHARED_MODEL = "bilstm-crf"
_AUGMENT = "all"
_FIXED_BY_START = ("combine", "profile", *sorted(FOLDER_SETTINGS), "private_vocabulary", "min_documents")
"""Options that the model of --start has already fixed."""
_PRIVATE_MIN_DOCUMENTS = 3  # with hashed words, a word that fewer documents have is left out


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid train``."""
    parser.add_argument("--train", type=file_path, metavar="PATH", help="annotated notes to learn from")
    text = "instead of --train: a file that crfdeid share encode wrote; may be given for several files"
    parser.add_argument("--shared", type=file_path, action="append", metavar="FILE", help=text)
    text = (
        "with --shared: the representation that made the files; with --train and --model private: the representation "
        "of the model. The model's folder will hold it"
    )
    parser.add_argument("--representation", type=file_path, metavar="DIR", help=text)
    text = (
        "annotated notes to score the model and choose thresholds on (default: a tenth of --train, from a fixed seed)"
    )
    parser.add_argument("--dev", type=file_path, metavar="PATH", help=text)
    text = (
        "annotated notes that choose nothing: the card shows the model's figures on them next to the figures on --dev"
    )
    parser.add_argument("--test", type=file_path, metavar="PATH", help=text)
    arguments.add_concept_options(parser)
    parser.add_argument("--out", type=file_path, required=True, metavar="DIR", help="new folder for the model")
    text = (
        f"the model: {', '.join(MODELS)}; several, separated by commas, for --combine (default: hybrid, the crf with "
        "all rules that the notes do not speak against; with --shared bilstm-crf, the only one there)"
    )
    parser.add_argument("--model", metavar="NAME", help=text)
    text = "join several models: keep what any of them finds, what most find, or average their probabilities"
    parser.add_argument("--combine", choices=("union", "vote", "mean"), help=text)
    add_corpus_options(parser, doing="learn", each="--train, --dev and --test")
    text = (
        "folder of a trained network to go on from: its settings, tags, and words or word pieces with their vectors "
        "are kept, a word that only the new notes have stays unknown, and --set says how training differs (epochs=3)"
    )
    parser.add_argument("--start", type=file_path, metavar="DIR", help=text)
    text = "settings the model starts from: default, which are tuned, or a paper's, such as yadav2016 (also: paper)"
    parser.add_argument("--profile", type=profile_name, default="default", metavar="NAME", help=text)
    text = "folder of a pretrained encoder for --model bert (default: as fetched by python -m rnn.fetch_encoder)"
    parser.add_argument("--encoder", type=file_path, metavar="DIR", help=text)
    text = "settings that differ from the profile's, such as epochs=10 hidden=50"
    parser.add_argument("--set", type=setting, nargs="+", default=[], metavar="NAME=VALUE", help=text)
    text = (
        "also learn from rewritten copies of notes: accents (without them), case (small letters, capitals), layout "
        "(other separators, no field names, names in sentences); several with commas, all, or none (default: all)"
    )
    parser.add_argument("--augment", type=copy_kinds, metavar="KINDS", help=text)
    add_seed(parser)
    text = "store the notes' words only as keyed hashes; training and every later use of the model then need the secret"
    parser.add_argument("--private-vocabulary", action="store_true", help=text)
    text = "leave out words and features found in fewer documents than this (default: 1; with --private-vocabulary: 3)"
    parser.add_argument("--min-documents", type=whole_number(1), metavar="K", help=text)
    text = (
        "with --private-vocabulary, or --start from such a model: a file with the secret (default: the environment "
        "variable CRFDEID_SECRET)"
    )
    parser.add_argument("--key-file", type=file_path, metavar="FILE", help=text)
    text = "TOML file of a site's lists, what is always hidden and never: the model's folder holds them, in the clear"
    parser.add_argument("--site", type=file_path, metavar="FILE", help=text)


def run(options: argparse.Namespace) -> None:
    """Train a model, write it with its card, print the card, and a summary on standard error.

    Raises:
        UsageError: an option is invalid.
        DataError: notes cannot be read, or a folder cannot be written.
    """
    from crfdeid.augmentation import parse_copy_kinds  # noqa: PLC0415
    from crfdeid.cli.shell import training_bar  # noqa: PLC0415
    from crfdeid.corpora.splits import read_splits  # noqa: PLC0415
    from crfdeid.known_phi.lists import read_lists  # noqa: PLC0415
    from crfdeid.model_card.card import model_digest  # noqa: PLC0415
    from crfdeid.model_card.training import train_model  # noqa: PLC0415
    from crfdeid.utils.folders import require_new  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    if options.shared:
        _run_shared(options)
        return
    if options.train is None:
        raise UsageError("there is nothing to learn from: give --train, or --shared with --representation")
    if options.key_file is not None and not options.private_vocabulary and options.start is None:
        raise UsageError("--key-file is for --private-vocabulary: leave it out")
    require_outside(options.out, note_paths(options))
    require_new(options.out)
    site = None if options.site is None else read_lists(options.site)
    one_thread()
    name, tagger, key = _create_tagger(options) if options.start is None else _load_for_finetuning(options)
    concepts = arguments.concept_paths(options)
    if concepts is not None and CONCEPT not in type(tagger).traits(tagger.settings).layers:
        raise UsageError(f"--model {name} learns PHI alone: leave out --concepts, or choose a model that learns both")
    paths = (options.train, options.dev, options.test)
    corpus = read_splits(*paths, corpus_format=options.format, types=options.types, concepts=concepts)
    started, what = time.monotonic(), options.model or name
    with training_bar(f"training {what}") as step:
        card = train_model(
            tagger,
            corpus,
            options.out,
            augment=options.augment or parse_copy_kinds(_AUGMENT),
            key=key,
            site=site,
            base_model_sha256=None if options.start is None else model_digest(options.start),
            on_progress=step,
        )
    _print_training(what, options.out, card, time.monotonic() - started)


def _create_tagger(options: argparse.Namespace) -> tuple[str, Tagger, bytes | None]:
    """The model's name, the untrained model, and the key that hashes the words in its files."""
    from crfdeid.registry import create  # noqa: PLC0415

    name, settings = model_and_settings(options)
    tagger = create(name, profile=options.profile, seed=options.seed, overrides=settings)
    return name, tagger, _key(options, name, tagger)


def _load_for_finetuning(options: argparse.Namespace) -> tuple[str, Tagger, bytes | None]:
    """Name, model and vocabulary key for finetuning; the key is that of the first training."""
    from crfdeid.registry import load_for_finetuning, model_name  # noqa: PLC0415
    from crfdeid.secrets import read_secret, vocabulary_key  # noqa: PLC0415
    from crfdeid.serialization import has_private_vocabulary  # noqa: PLC0415

    name = model_name(options.start)
    if options.model not in (None, name):
        raise UsageError(f"--model {options.model}: --start names the model {name}: leave out --model, or --start")
    for option in _FIXED_BY_START:
        if getattr(options, option) not in (None, False, "default"):
            flag = f"--{option.replace('_', '-')}"
            raise UsageError(f"{flag} does not go with --start, which keeps what the model there has: leave it out")
    private = has_private_vocabulary(options.start)
    if options.key_file is not None and not private:
        raise UsageError(f"--key-file: the words of {options.start} can be read: leave it out")
    key = vocabulary_key(read_secret(options.key_file)) if private else None
    return name, load_for_finetuning(options.start, seed=options.seed, overrides=dict(options.set), key=key), key


def _key(options: argparse.Namespace, name: str, tagger: Tagger) -> bytes | None:
    """Key for the hashes of the words in the model's files; None for readable words."""
    from crfdeid.secrets import read_secret, vocabulary_key  # noqa: PLC0415
    from crfdeid.tagger import CombinedSettings  # noqa: PLC0415

    if not options.private_vocabulary:
        return None
    if type(tagger).traits(tagger.settings).public_vocabulary and not isinstance(tagger.settings, CombinedSettings):
        raise UsageError(
            f"--private-vocabulary: the files of the model {name} hold no words of the notes, only public ones: "
            "leave it out, and keep the model as safe as the notes"
        )
    return vocabulary_key(read_secret(options.key_file))


def note_paths(options: argparse.Namespace) -> dict[str, Path | None]:
    """Paths of the annotated notes, by the option that names them."""
    paths = {"--train": options.train, "--dev": options.dev, "--test": options.test}
    return {**paths, **arguments.concept_note_paths(options)}


def model_and_settings(options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """The model's name, and the settings that differ from its profile's.

    By default, rules also apply to types without an example in the notes, which no model could learn and which would
    leak.
    """
    name: str = options.model or _DEFAULT_MODEL
    names, settings = name.split(","), dict(options.set)
    if options.combine is not None:
        name, settings = "ensemble", {**settings, "members": tuple(names), "combine": options.combine}
        if len(names) == 1:
            raise UsageError(f"--combine {options.combine} needs several models: --model crf,elman")
    elif len(names) > 1:
        raise UsageError(f"--model {name}: several models need --combine")
    settings |= select(name, {"keep_untried": True, **settings})
    for setting_name in sorted(FOLDER_SETTINGS):
        if getattr(options, setting_name) is not None:
            settings[setting_name] = str(getattr(options, setting_name))
    if options.min_documents is not None:
        settings["min_documents"] = options.min_documents
    elif options.private_vocabulary:
        settings |= select(name, {"min_documents": _PRIVATE_MIN_DOCUMENTS, **settings})
    return name, settings


def _run_shared(options: argparse.Namespace) -> None:
    """Train a model on shared notes, write it with its card, print the card, and a summary on standard error.

    Raises:
        UsageError: an option is invalid.
        DataError: files cannot be read, or a folder cannot be written.
    """
    from crfdeid.cli.share import load_representation  # noqa: PLC0415
    from crfdeid.cli.shell import training_bar  # noqa: PLC0415
    from crfdeid.corpora.splits import read_held_out  # noqa: PLC0415
    from crfdeid.known_phi.lists import read_lists  # noqa: PLC0415
    from crfdeid.model_card.training import train_on_shared  # noqa: PLC0415
    from crfdeid.registry import import_string, model_settings  # noqa: PLC0415
    from crfdeid.utils.folders import require_new  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    for problem in _shared_problems(options):
        raise UsageError(problem)
    require_outside(options.out, {"--dev": options.dev, "--test": options.test})
    require_new(options.out)
    site = None if options.site is None else read_lists(options.site)
    one_thread()
    settings = model_settings("private", profile=options.profile, overrides=dict(options.set))
    representation = load_representation(options.representation)
    shared = import_string("rnn.privacy.shared_file:read_shared")(options.shared, representation.digest)
    corpus = read_held_out(_corpus_name(options.shared), options.dev, options.test, options.format, options.types)
    for line in _shared_warnings(options.shared, shared):
        print(line, file=sys.stderr)
    tagger = import_string("rnn.models.private:PrivateTagger")(
        settings, seed=options.seed, representation=representation
    )
    started = time.monotonic()
    with training_bar(f"training {_SHARED_MODEL}") as step:
        card = train_on_shared(tagger, shared, corpus, options.out, site=site, on_progress=step)
    what = f"{_SHARED_MODEL} on {len(shared)} shared file{'s' * (len(shared) > 1)}"
    _print_training(what, options.out, card, time.monotonic() - started)


def _shared_problems(options: argparse.Namespace) -> Iterator[str]:
    """Options that do not apply with ``--shared``."""
    if options.train is not None:
        yield "--train and --shared: a model learns from either: encode the notes too, and give both files"
    if options.representation is None:
        yield "--shared needs --representation, which made the files"
    if options.dev is None:
        yield "--shared needs --dev: annotated notes with their text, to choose epoch and thresholds on"
    if options.model not in (None, _SHARED_MODEL, "private") or options.combine is not None:
        yield f"--shared trains a {_SHARED_MODEL}: leave out --combine and any other --model"
    if options.start is not None:
        yield "--start is for notes with text, and shared files have none: leave it out"
    if options.encoder is not None:
        yield f"--encoder is for the model bert, and --shared trains a {_SHARED_MODEL}: leave it out"
    for name in arguments._given_concept_options(options):
        yield f"{name} is for models that learn concepts too, which shared files do not have: leave it out"
    unused = {
        "--augment": options.augment is not None,
        "--private-vocabulary": options.private_vocabulary,
        "--key-file": options.key_file is not None,
        "--min-documents": options.min_documents is not None,
    }
    for name, has_value in unused.items():
        if has_value:
            yield f"{name} is about the words of training notes, and shared files have none: leave it out"


def _corpus_name(files: list[Path]) -> str:
    return ", ".join(file.name for file in files)


def _shared_warnings(paths: list[Path], shared: list[Any]) -> Iterator[str]:
    for path, part in zip(paths, shared, strict=True):
        if not part.from_system:
            yield (
                f"{path}: its noise was drawn from a seed, as for a test: guessing it removes the noise. "
                "Tell who sent it"
            )


def _print_training(model: str, folder: Path, card: Mapping[str, Any], seconds: float) -> None:
    """Print the card of a model that was just trained, and sum up on standard error; arguments as of `summary`."""
    from crfdeid.model_card.render import render_card  # noqa: PLC0415

    print(render_card(folder, card), flush=True)
    print(_training_summary(model, folder, card, seconds), file=sys.stderr)


def _training_summary(model: str, folder: Path, card: Mapping[str, Any], seconds: float) -> str:
    """Summary of a training in a few lines: data, misses, path and digest of the model.

    Args:
        model: its name.
        folder: the model's.
        card: its card.
        seconds: duration.
    """
    from crfdeid.model_card.card import usual_points  # noqa: PLC0415

    splits = card["corpus"]["splits"]
    lines = [f"trained {model} in {duration(seconds)}"]
    for name, split in splits.items():
        concepts = _concept_counts(split) if "layers" in card else ""
        size = f"{split['sentences']} sentences" if split["documents"] is None else f"{split['documents']} notes"
        lines.append(f"{name}: {size}, {split['spans']} spans of PHI ({_by_type(split)}){concepts}")
    for name in (name for name in splits if name in card):
        found = card[name]["consistent"]
        binary, leaking = found["token_binary"]["micro"], found["leaking_documents"]
        lines.append(
            f"{name}: strict F {100 * found['entity_strict']['micro']['f1']:.2f}; "
            f"{binary['fn']} of {binary['tp'] + binary['fn']} PHI tokens missed, "
            f"in {leaking['count']} of {leaking['total']} notes"
        )
        if "concepts" in card[name]:
            f1 = card[name]["concepts"]["entity_strict"]["micro"]["f1"]
            lines.append(f"{name}: strict F of concepts {100 * f1:.2f}")
    lines += _thresholds(usual_points(card))
    lines.append(f"model: {folder}, digest {card['sha256']}")
    return "\n".join(lines)


def _thresholds(points: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The PHI tokens that each threshold rests on, and its PPV."""
    if points:
        each = (f"{one['required']:g} on {one['missed']} (PPV {100 * one['ppv']:.1f} %)" for one in points)
        yield f"thresholds rest on the PHI tokens they miss, of {points[0]['phi_tokens']}: {', '.join(each)}"


def _concept_counts(split: Mapping[str, Any]) -> str:
    """The number of concepts in a split, by type."""
    counts = split.get("layers", {}).get(CONCEPT, {"spans": 0, "spans_by_type": {}})
    return f", {counts['spans']} concepts ({_by_type(counts)})"


def _by_type(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {label}" for label, count in counts["spans_by_type"].items())
