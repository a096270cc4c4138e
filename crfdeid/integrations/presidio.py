"""Recogniser for Presidio: PHI that a trained model finds, with scores, sources and Presidio's types."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from crfdeid.documents import Evidence
from crfdeid.errors import NotFoundError, SettingError, UnknownNameError, missing_extra
from crfdeid.integrations.common import IntegratedModel, presidio_score, presidio_type
from crfdeid.redaction.policy import Policy
from crfdeid.redaction.redactor import Redactor
from crfdeid.validation import Sensitivity

try:
    from presidio_analyzer import AnalysisExplanation, LocalRecognizer, RecognizerResult
except ModuleNotFoundError as error:
    raise missing_extra(error) from None

__all__ = ["MODEL_VARIABLE", "CrfdeidRecognizer"]

MODEL_VARIABLE = "CRFDEID_MODEL"
"""Environment variable with the model of recognisers that name none."""


class CrfdeidRecognizer(LocalRecognizer):
    """Recogniser of Presidio that marks PHI with a trained model.

    It needs neither tokens nor entities of Presidio's own engine: use `NoOpNlpEngine`. A score is the lowest
    probability of being PHI among the tokens of a span, for a rule its precision, and 1.0 where nothing was measured.

    Presidio's registry drops the keys of a recogniser in a YAML file that are none of Presidio's: ``model``,
    ``sensitivity``, ``max_leak_rate``, ``consistent``, ``types``, ``accept_damaged`` and ``markup``. Set them in a
    subclass, and name that in the file. The environment variable `MODEL_VARIABLE` names the model alone; without a
    model, the recogniser refuses to start.

    Args:
        model: a model's folder, or a built-in model; "" takes it from `MODEL_VARIABLE`.
        sensitivity: share of PHI tokens to find, or "none", as of `crfdeid.Policy`.
        max_leak_rate: share of notes that leak at most, of the model's claim, in place of a sensitivity.
        consistent: mark a value that is found once wherever it recurs in its text.
        types: Presidio's entities for types of PHI, in place of those of `presidio_type`.
        accept_damaged: accept texts in mojibake, with more misses; else they fail.
        markup: "auto" fails texts in markup, such as RTF; "plain" reads them as prose.
        supported_entities: entities to report; None for all that the model's types map to.
        supported_language: language in which Presidio calls this recogniser.
        name: its name in results.
        context: not used, since the model reads the context itself; Presidio's registry gives it.

    Raises:
        NotFoundError: no model was named, or there is none.
        SettingError: ``types`` has a value that is no name.
        UnknownNameError: ``types`` has a type that the model lacks, or ``supported_entities`` one that none maps to.
        DataError, UsageError: as for `crfdeid.load`.

    Example:
        >>> engine = AnalyzerEngine(nlp_engine=NoOpNlpEngine(), registry=registry)  # doctest: +SKIP
        >>> engine.registry.add_recognizer(CrfdeidRecognizer("model/"))  # doctest: +SKIP
    """

    def __init__(
        self,
        model: str | Path = "",
        *,
        sensitivity: Sensitivity = None,
        max_leak_rate: float | None = None,
        consistent: bool = True,
        types: Mapping[str, str] | None = None,
        accept_damaged: bool = False,
        markup: str = "auto",
        supported_entities: Iterable[str] | None = None,
        supported_language: str = "en",
        name: str = "crfdeid",
        context: list[str] | None = None,
    ) -> None:
        chosen = str(model) or os.environ.get(MODEL_VARIABLE, "")
        if not chosen:
            raise NotFoundError(f"no model: give its folder, or set {MODEL_VARIABLE}")
        policy = Policy(
            sensitivity=sensitivity,
            max_leak_rate=max_leak_rate,
            consistent=consistent,
            accept_damaged=accept_damaged,
            markup=markup,
        )
        self._model = IntegratedModel(Redactor(chosen, policy, evidence=True))
        self._types = dict(types or {})
        known = self._model.deidentifier.types
        if others := set(self._types).difference(known):
            raise UnknownNameError(f"no type {min(others)} of this model: choose from {', '.join(sorted(known))}")
        if not all(isinstance(entity, str) and entity for entity in self._types.values()):
            raise SettingError("types: give each type the name of an entity of Presidio")
        entities = sorted({self._entity(label) for label in known})
        wanted = entities if supported_entities is None else list(supported_entities)
        unknown = set(wanted).difference(entities)
        if unknown:
            raise UnknownNameError(f"no entity {min(unknown)} of this model: choose from {', '.join(entities)}")
        super().__init__(wanted, name=name, supported_language=supported_language)

    def load(self) -> None:
        """Do nothing: the model is loaded before Presidio asks for the supported entities."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[RecognizerResult]:
        """Return the PHI of a text, by position.

        Args:
            text: the text.
            entities: Presidio's entities to return; empty for all.
            nlp_artifacts: not used.

        Raises:
            EncodingError: the text has a lone surrogate, or is mojibake.
            MarkupError: the text is in markup.
        """
        self._model.redactor.require_prose(text)
        document = self._model.deidentifier.annotate(text)
        wanted = set(entities or self.supported_entities).intersection(self.supported_entities)
        found = [(span, self._entity(span.label)) for span in document.spans]
        return [
            self._result(span.start, span.end, entity, document.evidence.get(span, Evidence("")))
            for span, entity in found
            if entity in wanted
        ]

    def _result(self, start: int, end: int, entity: str, evidence: Evidence) -> RecognizerResult:
        score = presidio_score(evidence)
        explanation = AnalysisExplanation(self.name, score, textual_explanation=evidence.source)
        metadata = {
            RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
            RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
        }
        return RecognizerResult(entity, start, end, score, explanation, metadata)

    def _entity(self, label: str) -> str:
        return self._types.get(label, presidio_type(label))
