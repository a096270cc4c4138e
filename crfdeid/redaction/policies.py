"""Named policies: the operator of each kind of PHI by a rule of law, in one table.

A name stands for its operators wherever an operator for all types can be: `crfdeid.redact(note, "safe-harbor")`,
`crfdeid.Policy("safe-harbor")`, and ``--policy safe-harbor`` of the commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from crfdeid.label_schemes import SURROGATE_KINDS


@dataclass(frozen=True, slots=True)
class PolicyRules:
    """Operators of a named policy.

    Args:
        source: the law.
        kinds: kind of PHI (`crfdeid.label_schemes.SURROGATE_KINDS`) -> its operator, and the paragraph that it follows.
            Every other kind, and a type that is in no table, is redacted by "label".
    """

    source: str
    kinds: Mapping[str, tuple[str, str]]

    @property
    def by_type(self) -> Mapping[str, str]:
        """Type -> operator, for each type that is not redacted."""
        return {label: self.kinds[kind][0] for label, kind in SURROGATE_KINDS.items() if kind in self.kinds}


POLICIES: Mapping[str, PolicyRules] = MappingProxyType(
    {
        "safe-harbor": PolicyRules(
            "45 CFR 164.514(b)(2)",
            {
                "date": ("generalise", "(i)(C): the year stays, unless it shows an age over 89"),
                "age": ("keep", "(i)(C): ages over 89 become one group"),
                "town": ("generalise", "(i)(B): state, and ZIP code to three digits or 000"),
                "place": ("generalise", "(i)(B): what is a state or country stays"),
                "country": ("generalise", "(i)(B) lists no countries"),
                "sex": ("generalise", "(i) does not list the sex"),
            },
        ),
        "limited-data-set": PolicyRules(
            "45 CFR 164.514(e)(2)",
            {
                "date": ("keep", "(e)(2) lists no dates"),
                "age": ("keep", "(e)(2) lists no ages; those over 89 become one group all the same"),
                "town": ("keep", "(e)(2)(ii): town or city, state and ZIP code stay"),
                "place": ("generalise", "(e)(2)(ii): no more than state and ZIP code, since it may be a street"),
                "country": ("keep", "(e)(2)(ii)"),
                "sex": ("generalise", "(e)(2) does not list the sex"),
            },
        ),
        "gdpr-pseudonym": PolicyRules(
            "Regulation (EU) 2016/679, Article 4(5)",
            {
                "person": ("hash", "linked by the secret, the additional information that is kept apart"),
                "account": ("hash", "as persons"),
                "number": ("hash", "as persons"),
                "licence": ("hash", "as persons"),
                "date": ("surrogate", "Recital 28: shifted, by the same days in all notes of a patient"),
                "age": ("generalise", "Article 5(1)(c), data minimisation"),
                "town": ("generalise", "Article 5(1)(c)"),
                "place": ("generalise", "Article 5(1)(c)"),
                "country": ("generalise", "Article 5(1)(c)"),
                "sex": ("generalise", "does not identify alone"),
            },
        ),
    }
)
"""Named policies by their names."""
