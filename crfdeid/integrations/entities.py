"""Presidio's entities and scores for PHI, as its clients expect them."""

from __future__ import annotations

from crfdeid.documents import Evidence
from crfdeid.label_schemes import SURROGATE_KINDS

# Kind of surrogate of a type (`crfdeid.label_schemes`) -> Presidio's entity. Other types keep their own names.
_ENTITIES = {
    "age": "AGE",
    "date": "DATE_TIME",
    "hospital": "ORGANIZATION",
    "licence": "ID",
    "mail": "EMAIL_ADDRESS",
    "net": "IP_ADDRESS",
    "number": "ID",
    "person": "PERSON",
    "place": "LOCATION",
    "street": "LOCATION",
    "telephone": "PHONE_NUMBER",
    "town": "LOCATION",
    "web": "URL",
}
_LEAST_SCORE = 1e-6
"""Presidio drops results with a score of 0, and their text would not be redacted."""


def presidio_type(label: str) -> str:
    """Return Presidio's entity for a type of PHI.

    Example:
        >>> presidio_type("PATIENT"), presidio_type("PROFESSION")
        ('PERSON', 'PROFESSION')
    """
    return _ENTITIES.get(SURROGATE_KINDS.get(label, ""), label)


def presidio_score(evidence: Evidence) -> float:
    """Return the score of a span, above 0; 1.0 if nothing was measured."""
    measured = evidence.as_json()["score"]
    return 1.0 if measured is None else max(float(measured), _LEAST_SCORE)
