"""`crfdeid share train`: a representation that hospitals encode their notes with, and the attacks on it."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace
from typing import Any

from crfdeid.cli.corpus_options import ANNOTATED, DEV, FORMAT, PROFILE, TEST, TYPES
from crfdeid.cli.options import OUTPUT, SEED, SET, require_new_folder
from crfdeid.cli.pseudonymise import VECTORS
from crfdeid.cli.share.attack import BUDGET
from crfdeid.cli.shell import command

_LEARNED = ("fasttext", "cbow")


@command(
    ANNOTATED.but(help="Public annotated notes; the representation contains their words."),
    DEV.but(help="Annotated notes that end training; default: a tenth of NOTES."),
    TEST.but(help="Annotated notes for the attacks alone; default: those of --dev."),
    OUTPUT.but(help="New folder for the representation and the figures of the attacks."),
    VECTORS.but(
        required=False,
        default="fasttext",
        help="Public word vectors: fasttext or cbow, learned from NOTES, or a file (word2vec, GloVe or fastText).",
    ),
    FORMAT,
    TYPES,
    SET,
    SEED,
    PROFILE,
    BUDGET,
    examples=(
        "crfdeid share train public/ --output representation/",
        "crfdeid share train public/ --output representation/ --vectors public.vec --set neighbours=500",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Train a representation, attack it, write both, and print the figures.

    Args:
        options: values of the options.

    Raises:
        UsageError: options that cannot work.
        DataError: notes or vectors that cannot be read, or a folder that cannot be written.
    """
    from crfdeid.cli.progress import duration  # noqa: PLC0415
    from crfdeid.cli.share.attack import attack_bar, attack_budget, render_attacks  # noqa: PLC0415
    from crfdeid.corpora.splits import read_splits  # noqa: PLC0415
    from crfdeid.registry import import_string  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    require_new_folder(options.output, {"NOTES": options.notes, "--dev": options.dev, "--test": options.test})
    one_thread()
    settings = import_string("rnn.privacy.settings:settings_of")(options.profile, dict(options.set))
    effort = attack_budget(options)
    corpus = read_splits(options.notes, options.dev, options.test, corpus_format=options.format, types=options.types)
    started, vectors = time.monotonic(), _vectors(options, corpus.train)
    print(f"{len(vectors)} word vectors of size {vectors.dim}", file=sys.stderr, flush=True)
    with attack_bar() as step:
        card = import_string("rnn.privacy.audit:train_and_audit")(
            corpus, vectors, settings, effort, options.output, seed=options.seed, on_epoch=_tell, on_step=step
        )
    print(render_attacks(card))
    print(f"trained in {duration(time.monotonic() - started)} for N = {settings.neighbours}", file=sys.stderr)
    print(f"representation: {options.output}, digest {card['representation']}", file=sys.stderr)


def _vectors(options: SimpleNamespace, notes: Any) -> Any:
    from crfdeid.registry import import_string  # noqa: PLC0415

    source = str(options.vectors)
    if source in _LEARNED:
        print(f"learning {source} vectors", file=sys.stderr, flush=True)
        sentences = [item.sentence.words for item in notes.sentences]
        return import_string(f"rnn.embeddings:train_{source}")(sentences, seed=options.seed)
    return import_string("rnn.embeddings:read_vectors")(options.vectors)


def _tell(epoch: Any) -> None:
    """Print a line for each epoch, with the deviations of the noise."""
    print(
        f"{epoch.phase}: loss {epoch.loss:.3f}, held out {epoch.held_out:.3f}, noise of inputs "
        f"{epoch.input_deviation:.3f} and outputs {epoch.output_deviation:.3f}",
        file=sys.stderr,
        flush=True,
    )
