"""`crfdeid share`: annotated notes as noisy vectors without their text. Experimental."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from crfdeid.cli import options as shared
from crfdeid.cli.corpus_options import ANNOTATED, DEV, FORMAT, PROFILE, TEST, TYPES, read_annotated
from crfdeid.cli.progress import duration, make_bar, training_bar
from crfdeid.cli.pseudonymise import VECTORS
from crfdeid.cli.shell import Argument, Option, command, file_path, setting
from crfdeid.errors import IntegrityError
from crfdeid.registry import import_string, model_settings, require_known
from crfdeid.secrets import SECRET_VARIABLE, read_record_key
from crfdeid.serialization import OPTIONAL_FILES
from crfdeid.utils.json import RETRAIN
from crfdeid.utils.tables import markdown_table

_REPRESENTATION_FOLDER = Argument("representation", file_path, help="Folder of a representation, from its provider.")
_BUDGET = Option(
    "--budget",
    setting,
    multiple=True,
    rare=True,
    help="Effort of the attacks: epochs (of an adversary, 20), adversaries (fresh ones, 3), names (to average, 100).",
)
_LEARNED_VECTORS = ("fasttext", "cbow")
_SUFFIX = ".npz"
_MODEL = "bilstm-crf"
_STRONG = 0.75  # of pairs without noise: an adversary that tells fewer is too weak to say anything
_ADVERSARIES = {
    "fresh": "are two of one sentence? the best of the fresh adversaries",
    "continued": "the same, by those that the representation grew up with",
    "zeroed": "control: the same without any vectors",
    "no_noise": "control: the same with the noise off",
}
_AMONG = {"neighbours": "which of its {} neighbours a name is", "names": "which of all names of the notes a name is"}


@command(
    ANNOTATED.but(help="Public annotated notes; the representation contains their words."),
    DEV.but(help="Annotated notes that end training; default: a tenth of NOTES."),
    TEST.but(help="Annotated notes for the attacks alone; default: those of --dev."),
    shared.OUTPUT.but(help="New folder for the representation and the figures of the attacks."),
    VECTORS.but(
        required=False,
        default="fasttext",
        help="Public word vectors: fasttext or cbow, learned from NOTES, or a file (word2vec, GloVe or fastText).",
    ),
    FORMAT,
    TYPES,
    shared.SET,
    shared.SEED,
    PROFILE,
    _BUDGET,
    examples=(
        "crfdeid share train public/ --output representation/",
        "crfdeid share train public/ --output representation/ --vectors public.vec --set neighbours=500",
    ),
)
def run_train(options: SimpleNamespace) -> None:
    """Train a representation, attack it, write both, and print the figures."""
    from crfdeid.corpora.splits import read_splits  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    shared.require_new_folder(options.output, {"NOTES": options.notes, "--dev": options.dev, "--test": options.test})
    one_thread()
    settings = import_string("rnn.privacy.settings:settings_of")(options.profile, dict(options.set))
    effort = _attack_budget(options)
    corpus = read_splits(options.notes, options.dev, options.test, corpus_format=options.format, types=options.types)
    started, vectors = time.monotonic(), _vectors(options, corpus.train)
    print(f"{len(vectors)} word vectors of size {vectors.dim}", file=sys.stderr, flush=True)
    with _attack_bar() as step:
        card = import_string("rnn.privacy.attack_card:train_and_audit")(
            corpus, vectors, settings, effort, options.output, seed=options.seed, on_epoch=_tell, on_step=step
        )
    print(render_attacks(card))
    print(f"trained in {duration(time.monotonic() - started)} for N = {settings.neighbours}", file=sys.stderr)
    print(f"representation: {options.output}, digest {card['representation']}", file=sys.stderr)


def _vectors(options: SimpleNamespace, notes: Any) -> Any:
    source = str(options.vectors)
    if source in _LEARNED_VECTORS:
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


@command(
    _REPRESENTATION_FOLDER,
    ANNOTATED,
    shared.OUTPUT.but(
        help="New file to send, NAME.npz. A record next to it, not to be sent, refuses the same notes again."
    ),
    FORMAT,
    TYPES,
    shared.SECRET_FILE.but(
        help=f"File with the secret that keys the record; default: {SECRET_VARIABLE}, else one is made."
    ),
    shared.SEED.but(default=None, help="Random seed, for tests: it allows removing the noise; default: none."),
    details="Encode notes once: two encodings of one note can be averaged, which takes noise off.",
    examples=(
        "crfdeid share encode representation/ notes/ --output shared.npz",
        "crfdeid share encode representation/ notes/ --output shared.npz --types seven",
    ),
)
def run_encode(options: SimpleNamespace) -> None:
    """Write the file, and print a summary of its content."""
    from crfdeid.corpora.splits import Split  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    shared.require_new_file(options.output, {"NOTES": options.notes}, suffix=_SUFFIX)
    one_thread()
    representation = load_representation(options.representation)
    card = import_string("rnn.privacy.attack_card:read_attack_card")(options.representation)
    key = read_record_key(options.secret_file)
    notes = Split.of(read_annotated(options.notes, options))
    write = import_string("rnn.privacy.release:write_shared")
    written = write(notes, representation, options.output, key=key, seed=options.seed)
    for line in _encoding_summary(options, written, len(notes.documents)):
        print(line)
    attacked = "this representation has not been attacked yet" if card is None else _attack_sentence(card)
    print(f"{attacked}: run crfdeid share attack on these notes before you send them")


def _encoding_summary(options: SimpleNamespace, written: Any, notes: int) -> Iterator[str]:
    """Lines about the written file, its content, and the next step."""
    file = written.shared
    counts = file.statistics()
    by_type = ", ".join(f"{count} {label}" for label, count in counts["spans_by_type"].items())
    yield (
        f"{options.output}: {counts['sentences']} sentences of {notes} notes, {counts['tokens']} tokens, "
        f"{counts['spans']} spans of PHI ({by_type}); sha256 {file.sha256}"
    )
    if written.repeated:
        yield f"left out: {written.repeated} sentences that are in these or earlier notes too, each is encoded once"
    if written.left_out:
        yield f"left out: {written.left_out} sentences in which spans of PHI cross"
    yield (
        f"content: {file.size} numbers a token, each token's casing, its tag, and the lengths "
        "of the sentences, in random order"
    )
    yield "encode once: two encodings of one note can be averaged, which takes noise off. Send this file or none"
    if not file.from_system:
        yield "its noise comes from a seed: the file is marked as a test. Do not send it"


@command(
    _REPRESENTATION_FOLDER,
    ANNOTATED.but(help="Annotated notes to share; the attacker knows the text of half of them."),
    Option(
        "--attacker-notes",
        file_path,
        metavar="PATH",
        help="Annotated notes that the attacker knows as text; all of NOTES are then attacked.",
    ),
    FORMAT,
    TYPES,
    shared.SEED,
    _BUDGET,
    details="Nothing is written. docs/how-to/share.md describes the attacks.",
    examples=(
        "crfdeid share attack representation/ notes/",
        "crfdeid share attack representation/ notes/ --attacker-notes other/ --budget epochs=50",
    ),
)
def run_attack(options: SimpleNamespace) -> None:
    """Make the attacks and print their figures."""
    from crfdeid.corpora.splits import Split  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    one_thread()
    representation = load_representation(options.representation)
    paths = [options.notes] if options.attacker_notes is None else [options.notes, options.attacker_notes]
    notes, *known = (Split.of(read_annotated(path, options)) for path in paths)
    effort, attack_notes = _attack_budget(options), import_string("rnn.privacy.attack_card:attack_notes")
    with _attack_bar() as step:
        card = attack_notes(representation, notes, *known, effort=effort, seed=options.seed, on_step=step)
    print(render_attacks(card))


def _attack_budget(options: SimpleNamespace) -> Any:
    """The `rnn.privacy.attack_card.AttackBudget` of the option."""
    from crfdeid.validation import require_counts  # noqa: PLC0415

    given = dict(options.budget)
    require_known(given, ("adversaries", "epochs", "names"), of="--budget")
    require_counts(SimpleNamespace(**given), *given)
    return import_string("rnn.privacy.attack_card:AttackBudget")(**given)


@contextmanager
def _attack_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Show the current attack: a bar on a terminal, else a line for each."""
    with ExitStack() as opened:
        bars: dict[str, Any] = {}

        def step(what: str, done: int, of: int) -> None:
            if what not in bars:
                opened.close()  # the bar before
                bars[what] = opened.enter_context(make_bar(f"attack: {what}", of))
                if bars[what].disable:
                    print(f"attack: {what}", file=sys.stderr, flush=True)
            bars[what].update(done - bars[what].n)

        yield step


@command(
    _REPRESENTATION_FOLDER.but(help="Representation that made the files; the model's folder will hold it."),
    Argument("shared", file_path, nargs=-1, required=True, metavar="FILES...", help="Files of crfdeid share encode."),
    shared.OUTPUT.but(help="New folder for the model."),
    DEV.but(required=True, help="Annotated notes with their text, to choose epoch and thresholds."),
    TEST,
    FORMAT,
    TYPES,
    shared.SET,
    shared.SEED,
    shared.LISTS,
    PROFILE,
    details=f"The model is a {_MODEL}.",
    examples=(
        "crfdeid share fit representation/ shared.npz --dev dev/ --output model/",
        "crfdeid share fit representation/ north.npz south.npz --dev dev/ --output model/",
    ),
)
def run_fit(options: SimpleNamespace) -> None:
    """Train a model on shared notes, write it with its card, print the card, and a summary on standard error."""
    from crfdeid.cli.train import print_training  # noqa: PLC0415
    from crfdeid.corpora.splits import read_held_out  # noqa: PLC0415
    from crfdeid.model_card.training import train_on_shared  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    shared.require_new_folder(options.output, {"--dev": options.dev, "--test": options.test})
    lists = shared.custom_lists(options)
    one_thread()
    settings = model_settings("private", profile=options.profile, overrides=dict(options.set))
    representation = load_representation(options.representation)
    files = import_string("rnn.privacy.shared_file:read_shared")(options.shared, representation.digest)
    names = ", ".join(file.name for file in options.shared)
    corpus = read_held_out(names, options.dev, options.test, options.format, options.types)
    for path, part in zip(options.shared, files, strict=True):
        if not part.from_system:
            noise = "its noise was drawn from a seed, as for a test: guessing it removes the noise"
            print(f"{path}: {noise}. Tell who sent it", file=sys.stderr)
    tagger = import_string("rnn.models.private:PrivateTagger")(
        settings, seed=options.seed, representation=representation
    )
    started = time.monotonic()
    with training_bar(f"training {_MODEL}") as step:
        card = train_on_shared(tagger, files, corpus, options.output, lists=lists, on_progress=step)
    what = f"{_MODEL} on {len(files)} shared file{'s' * (len(files) > 1)}"
    print_training(what, options.output, card, time.monotonic() - started)


def load_representation(folder: Path) -> Any:
    """Load the `rnn.privacy.representation.RepresentationModel` of a folder."""
    return import_string("rnn.privacy.representation:RepresentationModel").load(folder)


def render_attacks(card: Mapping[str, Any]) -> str:
    """Render the figures of a card and of chance as a Markdown table, with notes on how to read them."""
    with _figures_of_card():
        table = markdown_table(["attack", "%", "95 % interval", "chance %"], list(_attack_rows(card)))
        return "\n\n".join([table, *_attack_notes(card)])


@contextmanager
def _figures_of_card() -> Iterator[None]:
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        problem = f"the card of the attacks lacks figures, or has others: {RETRAIN}"
        raise IntegrityError(problem, path=OPTIONAL_FILES["attacks"]) from None


def _attack_sentence(card: Mapping[str, Any]) -> str:
    """Describe the attack that a representation is trained against in one sentence."""
    with _figures_of_card():
        right = card["same_sentence"]["fresh"]
        return (
            f"its provider's attack was right about {_percent(_fraction(right))} % of pairs of sentences (at most "
            f"{_percent(right['high'])} %, with 95 % confidence; chance is 50 %)"
        )


def _attack_rows(card: Mapping[str, Any]) -> Iterator[list[str]]:
    for name, text in _ADVERSARIES.items():
        if name in card["same_sentence"]:
            yield [text, *_cells(card["same_sentence"][name]), "50.00"]
    for name, text in _AMONG.items():
        yield from _averaging(card["averaging"][name], text.format(card["neighbours"]))
    auc = card["linking"]["auc"]
    yield ["two vectors of one name are more alike than two of its type", _percent(auc), "-", "50.00"]
    for name, text in (("phi", "words of PHI read by a decoder"), ("others", "other words read by a decoder")):
        part = card["inversion"][name]
        yield [text, *_cells(part["read"]), _percent(_fraction(part["by_frequency"]))]


def _averaging(attack: Mapping[str, Any], text: str) -> Iterator[list[str]]:
    rows = {
        "noise off" if draws == "0" else f"the mean of {draws} draws": hits for draws, hits in attack["draws"].items()
    }
    rows |= {f"{count} encodings published": hits for count, hits in attack["published"].items() if count != "1"}
    for how, hits in {**rows, "its casing known": attack["same_casing"]}.items():
        yield [f"{text}: {how}", *_cells(hits["first"]), _percent(hits["chance"])]


def _attack_notes(card: Mapping[str, Any]) -> Iterator[str]:
    known, attacked, effort = card["known"], card["attacked"], card["effort"]
    yield (
        f"The attacker has the representation and {known['sentences']} annotated sentences ({known['documents']} "
        f"documents) as text; attacked are {attacked['sentences']} others ({attacked['documents']} documents). "
        f"Adversaries were trained for {effort['epochs']} epochs; {effort['names']} names were attacked."
    )
    control = card["same_sentence"]["no_noise"]
    if _fraction(control) < _STRONG:
        yield (
            f"With the noise off the adversaries are right in {_percent(_fraction(control))} % only: they are too weak "
            "for their other figures to mean anything. Train them longer (--budget epochs=50), or on more notes."
        )
    yield "The intervals are Wilson's. Chance of a decoder is the most frequent word of the tag and the casing."


def _cells(share: Mapping[str, Any]) -> tuple[str, str]:
    return _percent(_fraction(share)), f"{_percent(share['low'])} to {_percent(share['high'])}"


def _fraction(share: Mapping[str, Any]) -> float:
    return float(share["count"] / max(share["total"], 1))


def _percent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:.2f}"
