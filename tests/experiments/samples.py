"""A whole results.json (schema 2) made by hand: 3 models, 3 embeddings, 3 seeds, fractions, a sweep and significance.

The numbers are invented, but agree with each other as those of a real run do: scores follow from the errors. A test
takes away what it does not want.

    from samples import rich_results
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

from crfdeid.evaluation import ERROR_CATEGORIES, Counts, Scores
from experiments.results.schema import COMPARE, SCHEMA

TYPES = ("PATIENT", "DOCTOR", "HOSPITAL", "LOCATION", "PHONE", "ID", "DATE")
GOLD = {"PATIENT": 46, "DOCTOR": 235, "HOSPITAL": 163, "LOCATION": 19, "PHONE": 13, "ID": 261, "DATE": 497}
TAKEN_FOR = {"PATIENT": "DOCTOR", "DOCTOR": "PATIENT", "HOSPITAL": "LOCATION", "LOCATION": "HOSPITAL", "PHONE": "ID"}
EMBEDDINGS = {"random": 100, "rnnlm": 80, "cbow": 300}
SYSTEMS = ("crf", *(f"{model}-{name}" for model in ("elman", "jordan") for name in EMBEDDINGS))
# How many of a hundred entities go wrong.
TROUBLE = {"crf": 12, "elman-random": 17, "elman-rnnlm": 16, "elman-cbow": 13} | {
    "jordan-random": 16,
    "jordan-rnnlm": 14,
    "jordan-cbow": 11,
}
FRACTIONS = (0.1, 0.25, 0.5, 1.0)


def rich_results(systems: tuple[str, ...] = SYSTEMS, seeds: tuple[int, ...] = (0, 1, 2)) -> dict[str, Any]:
    """Results in which everything was asked for; a new dictionary at each call."""
    return {
        "experiment": COMPARE,
        "schema": SCHEMA,
        "corpus": _corpus(),
        "settings": {"command": _command(seeds), "repair": "begin", "models": {s: _settings(s) for s in systems}},
        "environment": {
            "python": "3.11.9",
            "platform": "Linux-6.1-x86_64",
            "packages": {"crfdeid": "1.0.0", "numpy": "2.0.0", "jax": "0.6.0"},
            "device": "cpu",
            "cores": 2,
            "jobs": 2,
            "commit": "0123456789abcdef0123456789abcdef01234567",
            "corpus_seconds": 1.25,
            "total_seconds": 1234.5,
        },
        "models": {s: _model(s, seeds_of(s, seeds)) for s in systems},
        "embeddings": {name: _embedding(name, dim) for name, dim in EMBEDDINGS.items()},
        "fractions": {s: [_fraction(s, part, seeds_of(s, seeds)) for part in FRACTIONS] for s in systems},
        "sweep": _sweep([s for s in systems if s != "crf"], seeds),
        "significance": _significance(systems, seeds),
    }


def seeds_of(system: str, seeds: tuple[int, ...]) -> tuple[int, ...]:
    """The crf has nothing random: it runs once."""
    return seeds[:1] if system == "crf" else seeds


def _corpus() -> dict[str, Any]:
    def split(documents: int, spans: dict[str, int], unaligned: int) -> dict[str, Any]:
        counts = {"documents": documents, "sentences": 40 * documents, "tokens": 620 * documents}
        return {**counts, "spans": sum(spans.values()), "spans_by_type": spans, "unaligned": unaligned}

    return {
        "name": "invented",
        "format": "jsonl",
        "type_map": "seven",
        "types": list(TYPES),
        "test": "test",
        "notices": ["Two documents of train are the same."],
        "splits": {
            "train": split(500, {label: 9 * count for label, count in GOLD.items()}, 3),
            "dev": split(50, {label: count for label, count in GOLD.items() if label != "PHONE"}, 0),
            "test": split(60, dict(GOLD), 2),
        },
        "sha256": "ab" * 32,
    }


def _command(seeds: tuple[int, ...]) -> dict[str, Any]:
    return {
        "models": ["crf", "elman", "jordan"],
        "embeddings": list(EMBEDDINGS),
        "seeds": list(seeds),
        "profile": "default",
        "train": None,
        "fractions": list(FRACTIONS),
    }


def _settings(system: str) -> dict[str, Any]:
    if system == "crf":
        return {"features": "strong", "pos": "none", "c1": 0.02, "c2": 0.02, "max_iterations": 100}
    model, embedding = system.split("-")
    shape = {"window": 11, "hidden": 100} if model == "elman" else {"window": 9, "hidden": 150}
    return {**shape, "embedding_dim": EMBEDDINGS[embedding], "init_range": None, "epochs": 10, "lr": 0.06, "layers": 1}


def _model(system: str, seeds: tuple[int, ...]) -> dict[str, Any]:
    model, _, embedding = system.partition("-")
    return {"model": model, "embedding": embedding or None, "runs": [_run(system, seed) for seed in seeds]}


def _run(system: str, seed: int) -> dict[str, Any]:
    chance = random.Random(f"{system} {seed}")
    outcomes = {label: _outcome(TROUBLE[system], label, chance) for label in TYPES}
    found = _scores(outcomes)
    dev_f1 = found["entity_strict"]["micro"]["f1"] - 0.01
    return {
        "seed": seed,
        "fit_seconds": 40 + 10 * chance.random() + 100 * (system != "crf"),
        "predict_seconds": 1 + chance.random(),
        "tokens_per_second": 20_000 + 5_000 * chance.random(),
        "dev_f1": dev_f1,
        "scores": found,
        "errors": _errors(outcomes),
        "learning_curve": _curve(system, dev_f1, chance),
    }


def _outcome(trouble: int, label: str, chance: random.Random) -> Counter[str]:
    """How each gold entity of a type came out, and how many were made up besides."""
    hard = 2 if label in TAKEN_FOR else 0.5
    bad = min(GOLD[label], round(hard * trouble / 100 * GOLD[label] * (0.8 + 0.4 * chance.random())))
    kinds = ("missed", "wrong", "boundary") if label in TAKEN_FOR else ("missed", "boundary")
    counts = Counter(chance.choices(kinds, k=bad))
    counts["right"] = GOLD[label] - bad
    counts["spurious"] = bad // 3
    return counts


def _scores(outcomes: dict[str, Counter[str]]) -> dict[str, Any]:
    taken = Counter({label: outcomes[other]["wrong"] for other, label in TAKEN_FOR.items()})
    strict, relaxed, token = {}, {}, {}
    for label, counts in outcomes.items():
        false, missed = counts["spurious"] + taken[label], counts["missed"] + counts["wrong"]
        cut = counts["boundary"]
        strict[label] = Counts(counts["right"], false + cut, missed + cut)
        relaxed[label] = Counts(counts["right"] + cut, false, missed)
        token[label] = Counts(2 * counts["right"] + cut, 2 * false, 2 * missed + cut)
    kinds = {"entity_strict": strict, "entity_relaxed": relaxed, "token": token}
    kinds["token_binary"] = {"PHI": sum(token.values(), Counts())}
    named = (counts for label, counts in token.items() if label not in ("DOCTOR", "HOSPITAL"))
    kinds["token_binary_hipaa"] = {"HIPAA": sum(named, Counts())}
    return {kind: Scores(by_type).to_dict() for kind, by_type in kinds.items()}


def _errors(outcomes: dict[str, Counter[str]]) -> dict[str, Any]:
    by_type = {c: {label: n for label in sorted(TYPES) if (n := outcomes[label][c])} for c in ERROR_CATEGORIES}
    categories = {category: sum(counts.values()) for category, counts in by_type.items()}
    pairs = [(label, TAKEN_FOR[label], count) for label, count in by_type["wrong"].items()]
    causes = {
        "missed": {"single-word": categories["missed"] // 3, "unseen": categories["missed"] // 2},
        "wrong": {"unseen": categories["wrong"] // 2},
        "boundary": {"longer": categories["boundary"] // 4, "shorter": categories["boundary"] // 2},
        "spurious": {},
    }
    return {
        "categories": categories,
        "by_type": by_type,
        "causes": causes,
        "confusions": [
            {"gold": gold, "predicted": found, "count": count}
            for gold, found, count in sorted(pairs, key=lambda pair: (-pair[2], pair))
        ],
    }


def _curve(system: str, dev_f1: float, chance: random.Random) -> list[dict[str, Any]]:
    """The loss falls and F rises to the kept model's; the crf tells its iterations alone."""
    if system == "crf":
        return [{"step": step, "loss": None, "dev_f1": None} for step in range(1, 21)]
    return [
        {
            "step": step,
            "loss": 0.02 + 0.5 * 0.6**step * (1 + 0.1 * chance.random()),
            "dev_f1": dev_f1 if step == 10 else dev_f1 * (1 - 0.5**step) - 0.01 * chance.random(),
        }
        for step in range(1, 11)
    ]


def _embedding(name: str, dim: int) -> dict[str, Any]:
    def rates(tokens: float, types: float) -> dict[str, float]:
        return {"tokens": tokens, "types": types}

    rates_by_split = {"train": rates(0.0, 0.0), "dev": rates(0.052, 0.31), "test": rates(0.061, 0.33)}
    return {
        "kind": name,
        "words": 12_345,
        "dim": dim,
        "subword_buckets": 0,
        "out_of_vocabulary": rates_by_split,
        "notices": [],
        "fit_seconds": 0.0 if name == "random" else 0.5 * dim,
    }


def _fraction(system: str, part: float, seeds: tuple[int, ...]) -> dict[str, Any]:
    runs = []
    for seed in seeds:
        chance = random.Random(f"{system} {seed} {part}")
        trouble = TROUBLE[system] + round(20 * (1 - part) ** 2)
        found = _run(system, seed)["scores"] if part == 1.0 else None
        found = found or _scores({label: _outcome(trouble, label, chance) for label in TYPES})
        runs.append({"seed": seed, "dev_f1": found["entity_strict"]["micro"]["f1"] - 0.01, "scores": found})
    sizes = {"documents": round(500 * part), "sentences": round(20_000 * part), "tokens": round(310_000 * part)}
    return {"fraction": part, **sizes, "runs": runs}


def _sweep(systems: list[str], seeds: tuple[int, ...]) -> dict[str, Any] | None:
    points, chosen = [], {}
    for system in systems:
        means = {}
        for window, hidden in itertools.product((7, 9, 11), (50, 100)):
            scores = [0.80 - 0.002 * abs(window - 9) + 0.0004 * hidden + 0.001 * seed for seed in seeds]
            values = {"window": window, "hidden": hidden}
            runs = [{"seed": seed, "dev_f1": f1} for seed, f1 in zip(seeds, scores, strict=True)]
            points.append({"system": system, "values": values, "runs": runs})
            means[window, hidden] = sum(scores)
        best = max(means, key=lambda point: means[point])
        chosen[system] = dict(zip(("window", "hidden"), best, strict=True))
    return {"names": ["window", "hidden"], "points": points, "chosen": chosen} if points else None


def _significance(systems: tuple[str, ...], seeds: tuple[int, ...]) -> dict[str, Any]:
    f1 = {s: _mean_f1([_run(s, seed)["scores"]["entity_strict"] for seed in seeds_of(s, seeds)]) for s in systems}
    intervals = {
        system: {c: {"f1": v, "low": max(0.0, v - 0.03), "high": min(1.0, v + 0.02)} for c, v in values.items()}
        for system, values in f1.items()
    }
    pairs = [
        {"a": a, "b": b, "category": c, "f1_a": f1[a][c], "f1_b": f1[b][c], "difference": f1[b][c] - f1[a][c]}
        for c in ("Overall", *TYPES)
        for a, b in itertools.combinations(systems, 2)
    ]
    for pair in pairs:
        difference = pair["difference"]
        p = max(1 / 10_001, round(0.5 ** (100 * abs(difference)), 4))
        pair |= {"low": difference - 0.02, "high": difference + 0.02, "p": p, "p_holm": min(1.0, 6 * p)}
    return {
        "test": "approximate randomisation",
        "permutations": 10_000,
        "samples": 10_000,
        "seed": 0,
        "level": 0.05,
        "measure": "strict entity F",
        "pairs": pairs,
        "intervals": intervals,
    }


def _mean_f1(runs: list[dict[str, Any]]) -> dict[str, float]:
    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    overall = {"Overall": mean([run["micro"]["f1"] for run in runs])}
    return overall | {label: mean([run["by_type"][label]["f1"] for run in runs]) for label in TYPES}
