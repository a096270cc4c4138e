"""`crfdeid info`: a model's card in Markdown, a representation with the results of its attacks, or a policy."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from crfdeid.cli.options import MODEL, find_named
from crfdeid.cli.shell import command
from crfdeid.redaction.policy import POLICY_NAMES

_REPRESENTATION = "representation"
"""Name in a representation's files where other folders name a model."""
_WHAT = (
    "It turns a sentence into numbers with noise in them, so that annotated notes can be shared without their text: "
    "`crfdeid share encode` does, and `crfdeid share fit` learns from what came of it."
)
_NOT_ATTACKED = "It has not been attacked yet: run `crfdeid share attack` on notes of your own."


@command(
    MODEL,
    details="Of a representation (crfdeid share train): its sizes, its noise, and the results of the attacks on it. Of "
    f"a named policy ({', '.join(POLICY_NAMES)}): the operator of each type.",
    examples=("crfdeid info model/", "crfdeid info safe-harbor"),
)
def run(options: SimpleNamespace) -> None:
    """Print the card, after a check of all files of the model."""
    if options.model in POLICY_NAMES:
        from crfdeid.redaction.named_policies import render_policy  # noqa: PLC0415

        print(render_policy(options.model))
        return
    from crfdeid.audit.report import read_audit, render_audit  # noqa: PLC0415
    from crfdeid.model_card.card import model_digest, read_card  # noqa: PLC0415
    from crfdeid.model_card.render import render_card  # noqa: PLC0415

    model = find_named(options.model)
    if model.description["model"] == _REPRESENTATION:
        print(_render_representation(model.path))
        return
    model_digest(model)  # the weights are whole, too
    audit = read_audit(model)
    print(render_card(model, read_card(model)))
    if audit is not None:
        print(f"\n## What it gives away\n\n{render_audit(audit)}")


def _render_representation(folder: Path) -> str:
    """A representation and the figures of the attacks on it, in Markdown."""
    from crfdeid.cli.share import load_representation, render_attacks  # noqa: PLC0415
    from crfdeid.model_card.render import bullet_list, saved_facts  # noqa: PLC0415
    from crfdeid.registry import import_string  # noqa: PLC0415
    from crfdeid.serialization import open_model  # noqa: PLC0415

    model, card = load_representation(folder), import_string("rnn.privacy.attack_card:read_attack_card")(folder)
    vectors, (of_inputs, of_outputs) = model.vectors, (float(deviations.mean()) for deviations in model.deviations)
    others = "" if vectors.subwords is None else ", others have those of their parts"
    facts = [
        ("Digest", model.digest),
        ("Size", f"{model.size} numbers a token"),
        ("Neighbours", f"N = {model.settings.neighbours}: each word of PHI is to be hidden among N words"),
        (
            "Noise",
            f"standard deviation {of_inputs:.3f} of the inputs (the word vectors' own is 1) and {of_outputs:.3f} of "
            "the outputs (which lie between -1 and 1 without it), means over their dimensions",
        ),
        (
            "Vocabulary",
            f"{len(vectors)} words with vectors of size {vectors.dim}{others}; they are in its files, and its "
            "provider says that they are public",
        ),
        *saved_facts(open_model(folder).description),
    ]
    parts = [f"# Private representation: {folder.resolve().name}", _WHAT, bullet_list(facts), "## Attacks"]
    return "\n\n".join([*parts, _NOT_ATTACKED if card is None else render_attacks(card)])
