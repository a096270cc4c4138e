"""Findings on transfer between corpora, as sentences computed from the results."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.tables.cells import percent
from experiments.tables.frames import Results
from experiments.tables.transfer import COMPARED, own_scores


def transfer_sentences(results: Results) -> list[str]:
    """Sentences on the models, the F that each loses on other corpora, and the neighbours of missed tokens."""
    corpora, models = list(results["corpora"]), list(results["matrix"])
    summary = (
        f"{', '.join(models)}: trained on each of {', '.join(corpora)}, and tested on all; "
        f"scores of tokens, {COMPARED[results['types']]}."
    )
    return [summary, *_lost(results), *_missed(results)]


def transfer_cautions(results: Results) -> list[str]:
    """Limits of any claim that a model works on other corpora."""
    return [
        "What a model loses on another corpus it may lose to other people and other words, or to another idea of what "
        "PHI is: the corpora were annotated by different rules, and the figures do not tell which.",
        "Thresholds of the operating points were chosen on the documents that they are shown for.",
    ]


def _lost(results: Results) -> Iterator[str]:
    """For each model and training corpus: F there, and the best and the worst F elsewhere."""
    for model, by_trained in results["matrix"].items():
        for trained, by_tested in by_trained.items():
            others = {name: cell for name, cell in by_tested.items() if name != trained}
            own = by_tested[trained]
            here = f"{model}, trained on {trained}: F {percent(own['f1'])} % there"
            interval = f" (95 % interval {percent(own['low'], 1)} to {percent(own['high'], 1)})"
            if not others:
                yield f"{here}{interval}."
                continue
            ranked = sorted(others, key=lambda name: others[name]["f1"])
            ends = " to ".join(
                f"{percent(others[name]['f1'])} % ({name})" for name in dict.fromkeys((ranked[0], ranked[-1]))
            )
            yield f"{here}{interval}, elsewhere {ends}."


def _missed(results: Results) -> Iterator[str]:
    for model, corpus, found in own_scores(results):
        missed = found["missed"]
        if missed["tokens"]:
            share = percent(missed["adjacent_found"] / missed["tokens"], 1)
            yield f"{model}, {corpus}: {share} % of the missed tokens of PHI are next to PHI that was found."
