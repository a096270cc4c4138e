"""Named policies, such as "safe-harbor": the operator of each type of PHI and the paragraph that it follows.

The table is policies.toml; docs/how-to/policies.md says what the policies do not promise.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from crfdeid.errors import OptionConflictError, UnknownNameError
from crfdeid.label_schemes import SURROGATE_KINDS
from crfdeid.redaction.policy import POLICY_NAMES, Operators

_REDACT = "redact"


class Rule(NamedTuple):
    """What a policy does with a type: an operator, or "redact", and the paragraph; "" without an entry."""

    operator: str
    paragraph: str


class NamedPolicy(NamedTuple):
    """Named policy.

    Attributes:
        law: what it follows.
        redact: the operators that may replace the redacted types, the first by default.
        rules: the rule of each type of `crfdeid.label_schemes`; other types are redacted.
    """

    law: str
    redact: tuple[str, ...]
    rules: Mapping[str, Rule]


@cache
def named_policy(name: str) -> NamedPolicy:
    """Return a named policy.

    Raises:
        UnknownNameError: there is no such policy.

    Example:
        >>> named_policy("safe-harbor").rules["DATE"]
        Rule(operator='generalise', paragraph='(C)')
    """
    if name not in POLICY_NAMES:
        raise UnknownNameError(f"unknown policy '{name}': choose from {', '.join(POLICY_NAMES)}")
    table = tomllib.loads(Path(__file__).with_name("policies.toml").read_text("utf-8"))[name]
    of_kind = {kind: Rule(*text.split(": ", 1)) for kind, text in table["kinds"].items()}
    rules = {label: of_kind.get(kind, Rule(_REDACT, "")) for label, kind in SURROGATE_KINDS.items()}
    return NamedPolicy(table["law"], tuple(table["redact"]), rules)


def named_operators(name: str, redact: Operators | Mapping[str, str] | str = "label") -> Operators:
    """Return the operators of a named policy.

    Args:
        name: the policy, one of `crfdeid.redaction.policy.POLICY_NAMES`.
        redact: the operator of the redacted types, for all of them.

    Raises:
        UnknownNameError: an unknown policy or operator.
        OptionConflictError: operators for single types, or an operator that the policy does not allow.

    Example:
        >>> operators = named_operators("safe-harbor", "numbered")
        >>> operators["DATE"], operators["PATIENT"], operators.policy
        ('generalise', 'numbered', 'safe-harbor')
    """
    policy, chosen = named_policy(name), Operators.of(redact)
    if chosen.types:
        raise OptionConflictError(
            f"the policy '{name}' fixes the operator of each type: leave out that of {', '.join(chosen.types)}, or the "
            "policy"
        )
    if chosen.default not in policy.redact:
        raise OptionConflictError(
            f"the policy '{name}' does not allow '{chosen.default}': choose from {', '.join(policy.redact)}"
        )
    of_type = {label: rule.operator for label, rule in policy.rules.items() if rule.operator != _REDACT}
    return Operators(chosen.default, of_type, policy=name)


def render_policy(name: str) -> str:
    """Return a named policy in Markdown: a row for each type."""
    policy = named_policy(name)
    rows = [f"| {label} | {rule.operator} | {rule.paragraph or 'no entry'} |" for label, rule in policy.rules.items()]
    return "\n".join(
        [
            f"# Policy: {name}",
            "",
            f"It follows {policy.law}. Another type is redacted. Redacted values are replaced by "
            f"{policy.redact[0]}, or with --operator by one of {', '.join(policy.redact[1:])}.",
            "",
            "| type | operator | paragraph |",
            "| --- | --- | --- |",
            *rows,
        ]
    )
