"""What ``crfdeid train`` does with ``--shared``: notes come as vectors, from one or several houses."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crfdeid.cli import arguments
from crfdeid.cli.arguments import require_outside
from crfdeid.errors import UsageError

_MODEL = "bilstm-crf"


def run(options: argparse.Namespace) -> None:
    """Train a model on shared notes, write it with its card, print the card, and sum up on standard error.

    Raises:
        UsageError: options that cannot work.
        DataError: files that cannot be read, or a folder that cannot be written.
    """
    from crfdeid.cli.share.representation import load_representation  # noqa: PLC0415
    from crfdeid.cli.shell import training_bar  # noqa: PLC0415
    from crfdeid.cli.trained import print_training  # noqa: PLC0415
    from crfdeid.corpora.splits import read_held_out  # noqa: PLC0415
    from crfdeid.known_phi.lists import read_site  # noqa: PLC0415
    from crfdeid.model_card.training import train_on_shared  # noqa: PLC0415
    from crfdeid.registry import import_string, model_settings  # noqa: PLC0415
    from crfdeid.utils.folders import require_new  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    for problem in _problems(options):
        raise UsageError(problem)
    require_outside(options.out, {"--dev": options.dev, "--test": options.test})
    require_new(options.out)
    site = None if options.site is None else read_site(options.site)
    one_thread()
    settings = model_settings("private", profile=options.profile, overrides=dict(options.set))
    representation = load_representation(options.representation)
    shared = import_string("rnn.privacy.shared_file:read_shared")(options.shared, representation.digest)
    corpus = read_held_out(_name(options.shared), options.dev, options.test, options.format, options.types)
    for line in _warnings(options.shared, shared):
        print(line, file=sys.stderr)
    tagger = import_string("rnn.models.private:PrivateTagger")(
        settings, seed=options.seed, representation=representation
    )
    started = time.monotonic()
    with training_bar(f"training {_MODEL}") as step:
        card = train_on_shared(
            tagger, shared, corpus, options.out, site=site, required=options.sensitivities, on_progress=step
        )
    what = f"{_MODEL} on {len(shared)} shared file{'s' * (len(shared) > 1)}"
    print_training(what, options.out, card, time.monotonic() - started)


def _problems(options: argparse.Namespace) -> Iterator[str]:
    """What cannot work of the options."""
    if options.train is not None:
        yield "--train and --shared: a model learns from either: encode the notes too, and give both files"
    if options.representation is None:
        yield "--shared needs --representation, the one that made the files"
    if options.dev is None:
        yield "--shared needs --dev: annotated notes with their text, to choose epoch and thresholds on"
    if options.model not in (None, _MODEL, "private") or options.combine is not None:
        yield f"--shared trains a {_MODEL}: leave out --combine and any other --model"
    if options.start is not None:
        yield "--start is for notes with text, and shared files have none: leave it out"
    if options.encoder is not None:
        yield f"--encoder is for the model bert, and --shared trains a {_MODEL}: leave it out"
    for name in arguments._given_concept_options(options):
        yield f"{name} is for models that learn concepts too, which shared files do not have: leave it out"
    unused = {
        "--augment": options.augment is not None,
        "--private-vocabulary": options.private_vocabulary,
        "--key-file": options.key_file is not None,
        "--min-documents": options.min_documents is not None,
    }
    for name, given in unused.items():
        if given:
            yield f"{name} is about the words of training notes, and shared files have none: leave it out"


def _name(files: list[Path]) -> str:
    return ", ".join(file.name for file in files)


def _warnings(paths: list[Path], shared: list[Any]) -> Iterator[str]:
    for path, part in zip(paths, shared, strict=True):
        if not part.from_system:
            yield (
                f"{path}: its noise was drawn from a seed, as for a test: whoever guesses it can take the noise off. "
                "Tell who sent it"
            )
