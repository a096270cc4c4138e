"""`crfdeid share attack`: the success of every attack on shared notes, next to chance."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

from crfdeid.cli.corpus_options import ANNOTATED, FORMAT, TYPES, read_annotated
from crfdeid.cli.options import SEED
from crfdeid.cli.progress import make_bar
from crfdeid.cli.share import REPRESENTATION_FOLDER, load_representation
from crfdeid.cli.shell import Option, command
from crfdeid.cli.values import file_path, setting
from crfdeid.utils.tables import markdown_table

_STRONG = 0.75  # of pairs without noise: an adversary that tells fewer is too weak to say anything
_ADVERSARIES = {
    "fresh": "are two of one sentence? the best of the fresh adversaries",
    "continued": "the same, by those that the representation grew up with",
    "zeroed": "control: the same without any vectors",
    "no_noise": "control: the same with the noise off",
}
_AMONG = {"neighbours": "which of its {} neighbours a name is", "names": "which of all names of the notes a name is"}


BUDGET = Option(
    "--budget",
    setting,
    multiple=True,
    rare=True,
    metavar="NAME=VALUE",
    help="Effort of the attacks: epochs (of an adversary, 20), adversaries (fresh ones, 3), names (to average, 100).",
)


def attack_budget(options: SimpleNamespace) -> Any:
    """The `rnn.privacy.audit.AttackBudget` of the option.

    Raises:
        SettingError: an unknown name, or a value that is not a number from 1.
    """
    from crfdeid.registry import import_string, require_known  # noqa: PLC0415
    from crfdeid.validation import require_counts  # noqa: PLC0415

    given = dict(options.budget)
    require_known(given, ("adversaries", "epochs", "names"), of="--budget")
    require_counts(SimpleNamespace(**given), *given)
    return import_string("rnn.privacy.audit:AttackBudget")(**given)


@contextmanager
def attack_bar() -> Iterator[Callable[[str, int, int], None]]:
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


def render_attacks(card: Mapping[str, Any]) -> str:
    """Render the figures of a card and of chance as a Markdown table, with notes on how to read them."""
    table = markdown_table(["attack", "%", "95 % interval", "chance %"], list(_rows(card)))
    return "\n\n".join([table, *_notes(card)])


def attack_sentence(card: Mapping[str, Any]) -> str:
    """Describe the attack that a representation is trained against in one sentence."""
    found = card["same_sentence"]["fresh"]
    return (
        f"its provider's attack was right about {_percent(_fraction(found))} % of pairs of sentences (at most "
        f"{_percent(found['high'])} %, with 95 % confidence; chance is 50 %)"
    )


def _rows(card: Mapping[str, Any]) -> Iterator[list[str]]:
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


def _averaging(found: Mapping[str, Any], text: str) -> Iterator[list[str]]:
    rows = {
        "noise off" if draws == "0" else f"the mean of {draws} draws": hits for draws, hits in found["draws"].items()
    }
    rows |= {f"{count} encodings published": hits for count, hits in found["published"].items() if count != "1"}
    for how, hits in {**rows, "its casing known": found["same_casing"]}.items():
        yield [f"{text}: {how}", *_cells(hits["first"]), _percent(hits["chance"])]


def _notes(card: Mapping[str, Any]) -> Iterator[str]:
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


@command(
    REPRESENTATION_FOLDER,
    ANNOTATED.but(help="Annotated notes to share; the attacker knows the text of half of them."),
    Option(
        "--attacker-notes",
        file_path,
        metavar="PATH",
        help="Annotated notes that the attacker knows as text; all of NOTES are then attacked.",
    ),
    FORMAT,
    TYPES,
    SEED,
    BUDGET,
    details="Nothing is written. docs/how-to/share.md describes the attacks.",
    examples=(
        "crfdeid share attack representation/ notes/",
        "crfdeid share attack representation/ notes/ --attacker-notes other/ --budget epochs=50",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Make the attacks and print their figures.

    Args:
        options: values of the options.

    Raises:
        UsageError: options that cannot work.
        DataError: notes or a representation that cannot be read, or too few notes.
    """
    from crfdeid.corpora.splits import Split  # noqa: PLC0415
    from crfdeid.registry import import_string  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    one_thread()
    representation = load_representation(options.representation)
    paths = [options.notes] if options.attacker_notes is None else [options.notes, options.attacker_notes]
    notes, *known = (Split.of(read_annotated(path, options)) for path in paths)
    effort, attack_notes = attack_budget(options), import_string("rnn.privacy.audit:attack_notes")
    with attack_bar() as step:
        card = attack_notes(representation, notes, *known, effort=effort, seed=options.seed, on_step=step)
    print(render_attacks(card))
