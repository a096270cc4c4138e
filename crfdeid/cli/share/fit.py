"""`crfdeid share fit`: a model from shared notes, with its card."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

from crfdeid.cli.corpus_options import DEV, FORMAT, PROFILE, TEST, TYPES
from crfdeid.cli.options import LISTS, OUTPUT, SEED, SET, custom_lists, require_new_folder
from crfdeid.cli.share import REPRESENTATION_FOLDER, load_representation
from crfdeid.cli.shell import Argument, command
from crfdeid.cli.values import file_path

_MODEL = "bilstm-crf"


@command(
    REPRESENTATION_FOLDER.but(help="Representation that made the files; the model's folder will hold it."),
    Argument("shared", file_path, nargs=-1, required=True, metavar="FILES...", help="Files of crfdeid share encode."),
    OUTPUT.but(help="New folder for the model."),
    DEV.but(required=True, help="Annotated notes with their text, to choose epoch and thresholds."),
    TEST,
    FORMAT,
    TYPES,
    SET,
    SEED,
    LISTS,
    PROFILE,
    details=f"The model is a {_MODEL}.",
    examples=(
        "crfdeid share fit representation/ shared.npz --dev dev/ --output model/",
        "crfdeid share fit representation/ north.npz south.npz --dev dev/ --output model/",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Train a model on shared notes, write it with its card, print the card, and a summary on standard error.

    Args:
        options: values of the options.

    Raises:
        UsageError: an option is invalid.
        DataError: files cannot be read, or a folder cannot be written.
    """
    from crfdeid.cli.progress import training_bar  # noqa: PLC0415
    from crfdeid.cli.training_summary import print_training  # noqa: PLC0415
    from crfdeid.corpora.splits import read_held_out  # noqa: PLC0415
    from crfdeid.model_card.training import train_on_shared  # noqa: PLC0415
    from crfdeid.registry import import_string, model_settings  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    require_new_folder(options.output, {"--dev": options.dev, "--test": options.test})
    site = custom_lists(options)
    one_thread()
    settings = model_settings("private", profile=options.profile, overrides=dict(options.set))
    representation = load_representation(options.representation)
    shared = import_string("rnn.privacy.shared_file:read_shared")(options.shared, representation.digest)
    names = ", ".join(file.name for file in options.shared)
    corpus = read_held_out(names, options.dev, options.test, options.format, options.types)
    for path, part in zip(options.shared, shared, strict=True):
        if not part.from_system:
            noise = "its noise was drawn from a seed, as for a test: guessing it removes the noise"
            print(f"{path}: {noise}. Tell who sent it", file=sys.stderr)
    tagger = import_string("rnn.models.private:PrivateTagger")(
        settings, seed=options.seed, representation=representation
    )
    started = time.monotonic()
    with training_bar(f"training {_MODEL}") as step:
        card = train_on_shared(tagger, shared, corpus, options.output, site=site, on_progress=step)
    what = f"{_MODEL} on {len(shared)} shared file{'s' * (len(shared) > 1)}"
    print_training(what, options.output, card, time.monotonic() - started)
