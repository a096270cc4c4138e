"""Train a representation that hospitals encode their notes with, on public notes, and attack it."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from crfdeid.cli.arguments import add_corpus_options, add_seed, require_outside
from crfdeid.cli.share.attack import add_attack_budget
from crfdeid.cli.shell import file_path, setting
from crfdeid.registry import profile_name

_LEARNED = ("fasttext", "cbow")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``crfdeid share train``."""
    text = "public annotated notes for training; the representation contains their words"
    parser.add_argument("--train", type=file_path, required=True, metavar="PATH", help=text)
    text = "annotated notes that end training (default: a tenth of --train, from a fixed seed)"
    parser.add_argument("--dev", type=file_path, metavar="PATH", help=text)
    text = "annotated notes for the attacks alone (default: those of --dev)"
    parser.add_argument("--test", type=file_path, metavar="PATH", help=text)
    text = "new folder for the representation and the figures of the attacks"
    parser.add_argument("--out", type=file_path, required=True, metavar="DIR", help=text)
    text = (
        "public word vectors: fasttext or cbow, learned from --train, or a file (word2vec, GloVe or fastText) "
        "(default: fasttext)"
    )
    parser.add_argument("--vectors", type=file_path, default="fasttext", metavar="NAME", help=text)
    add_corpus_options(parser, doing="learn", each="--train, --dev and --test")
    text = "settings to start from: default, or a paper's, friedrich2019"
    parser.add_argument("--profile", type=profile_name, default="default", metavar="NAME", help=text)
    text = "settings that differ from the profile's, such as neighbours=100 size=50"
    parser.add_argument("--set", type=setting, nargs="+", default=[], metavar="NAME=VALUE", help=text)
    add_seed(parser)
    add_attack_budget(parser)


def run(options: argparse.Namespace) -> None:
    """Train a representation, attack it, write both, and print the figures.

    Raises:
        UsageError: options that cannot work.
        DataError: notes or vectors that cannot be read, or a folder that cannot be written.
    """
    from crfdeid.cli.share.attack import attack_bar, attack_budget, render_attacks  # noqa: PLC0415
    from crfdeid.cli.shell import duration  # noqa: PLC0415
    from crfdeid.corpora.splits import read_splits  # noqa: PLC0415
    from crfdeid.registry import import_string  # noqa: PLC0415
    from crfdeid.utils.folders import require_new  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    require_outside(options.out, {"--train": options.train, "--dev": options.dev, "--test": options.test})
    require_new(options.out)
    one_thread()
    settings = import_string("rnn.privacy.settings:settings_of")(options.profile, dict(options.set))
    effort = import_string("rnn.privacy.audit:AttackBudget")(**attack_budget(options))
    corpus = read_splits(options.train, options.dev, options.test, corpus_format=options.format, types=options.types)
    started, vectors = time.monotonic(), _vectors(options, corpus.train)
    print(f"{len(vectors)} word vectors of size {vectors.dim}", file=sys.stderr, flush=True)
    with attack_bar() as step:
        card = import_string("rnn.privacy.audit:train_and_audit")(
            corpus, vectors, settings, effort, options.out, seed=options.seed, on_epoch=_tell, on_step=step
        )
    print(render_attacks(card))
    print(f"trained in {duration(time.monotonic() - started)} for N = {settings.neighbours}", file=sys.stderr)
    print(f"representation: {options.out}, digest {card['representation']}", file=sys.stderr)


def _vectors(options: argparse.Namespace, notes: Any) -> Any:
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
