"""The `crfdeid` command: one module per command or group; the chosen one alone is imported.

A command raises `UsageError` for its options and `DataError` for files; `run_command` prints either as one line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crfdeid.cli.run import run_command

if TYPE_CHECKING:
    from crfdeid.cli.shell import Commands, Texts

# In the order of the work: the first sentence of each command's help. A command, or a group, has a module of its name.
COMMANDS: Texts = {
    "": "Find and hide protected health information (PHI) in clinical notes.",
    "annotate": {
        "": "Draw the notes to annotate next; label notes by machine; compare two annotators.",
        "sample": "Draw the notes to annotate next: those with the most expected misses, or at random.",
        "silver": "Label raw notes by records, lists, rules and a model, to learn from.",
        "agreement": "Measure the agreement of two annotators: F and Cohen's kappa.",
    },
    "convert": "Convert annotated notes to another format; split them into parts.",
    "train": "Train a model on annotated notes, with its scores on development notes.",
    "calibrate": "Bound the share of notes that a model leaks, by annotated notes that it never saw.",
    "evaluate": "Score a model, or its predictions, on annotated notes.",
    "audit": "Measure what a training, or a model, gives away about its training notes.",
    "export": "Write a BERT model as a token classifier for Hugging Face transformers.",
    "info": "Print a model's card: training data, scores and sensitivities.",
    "explain": "Explain the features of a model, or why it hides the spans of a text.",
    "tag": "Find the PHI in notes and write its spans.",
    "redact": "Replace the PHI in notes by labels, surrogates or other operators.",
    "serve": "Serve a model over HTTP, with Presidio's interface and a page to try it.",
    "reveal": "Restore encrypted values in redacted notes.",
    "review": {
        "": "Plan a review of redacted notes, mark leaks, and bound their share.",
        "plan": "Compute how many redacted notes to read, and draw them.",
        "page": "Write a page to read notes before and after redaction in a browser.",
        "certify": "Bound the share of redacted notes that leak, from a review.",
    },
    "pseudonymise": "Replace PHI in annotated notes by near words, as shuffled sentences.",
    "share": {
        "": "Share annotated notes as noisy vectors without their text (experimental).",
        "train": "Train a representation on public notes, and attack it (experimental).",
        "encode": "Encode annotated notes as vectors, casing and tags (experimental).",
        "attack": "Attack notes as they would be shared (experimental).",
        "fit": "Train a model on shared notes (experimental).",
    },
}
_INTERRUPTED = "run it again; with redact and tag, --resume continues where it stopped"
_COMPLETE = "_CRFDEID_COMPLETE"  # set by click's scripts for the completion of command lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``crfdeid COMMAND …``; the exit codes are those of `run_command`."""

    def work() -> int:
        from crfdeid.cli.run import run_click  # noqa: PLC0415  In `run_command`, which handles signals.

        if _COMPLETE in os.environ:
            from click.shell_completion import shell_complete  # noqa: PLC0415

            return shell_complete(_group(), {}, "crfdeid", _COMPLETE, os.environ[_COMPLETE])
        return run_click(_group(), "crfdeid", sys.argv[1:] if arguments is None else arguments)

    return run_command(work, interrupted=_INTERRUPTED, out_of_memory="give fewer --jobs, or a smaller model")


def _group() -> Commands:
    from crfdeid.cli.shell import GLOBAL, Commands  # noqa: PLC0415

    return Commands("crfdeid", __name__, COMMANDS, GLOBAL)
