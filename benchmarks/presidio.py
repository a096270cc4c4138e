"""Presidio as a benchmark has it: its analyser with a blank English pipeline, which leaves its patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def presidio() -> Callable[[Sequence[str]], list[str]]:
    """Presidio at work: raw texts to redacted ones."""
    import spacy  # noqa: PLC0415
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry  # noqa: PLC0415
    from presidio_analyzer.nlp_engine import SpacyNlpEngine  # noqa: PLC0415
    from presidio_anonymizer import AnonymizerEngine  # noqa: PLC0415

    class Blank(SpacyNlpEngine):
        def __init__(self) -> None:
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}

        def is_loaded(self) -> bool:
            return True

    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    registry.remove_recognizer("SpacyRecognizer")
    analyser = AnalyzerEngine(registry=registry, nlp_engine=Blank(), supported_languages=["en"])
    anonymiser = AnonymizerEngine()

    def work(texts: Sequence[str]) -> list[str]:
        return [anonymiser.anonymize(text, analyser.analyze(text, language="en")).text for text in texts]

    return work
