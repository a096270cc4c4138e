"""A whole results.json made by hand, and its view: 3 models, 3 embeddings, 3 seeds, fractions, a sweep, a comparison.

The numbers are invented, but agree with each other as those of a real run do: scores follow from the errors. A test
takes away what it does not want.

    from samples import rich_results, rich_view
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from crfdeid.evaluation import ERROR_KINDS, TAB_MEASURES, Counts, Scores
from crfdeid.evaluation.tokens import Proportion
from experiments.results.measurements import error_rows, measure_rows, rows_in, score_rows, table_of
from experiments.results.schema import SCHEMA
from experiments.results.view import view

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
    return as_results(rich_view(systems, seeds))


def as_results(nested: dict[str, Any], experiment: str = "compare") -> dict[str, Any]:
    """The results that have the scores of `rich_view`, and nothing else."""
    dataset = {key: value for key, value in nested["dataset"].items() if key != "fractions" or nested["fractions"]}
    name = dataset["name"]
    whole = [{**run, "system": system} for system, about in nested["systems"].items() for run in about.get("runs", ())]
    parts = [run for part in nested["fractions"] for run in part["runs"] if run["fraction"] != 1.0]
    usual = {"fraction": 1.0, "point": {}, "learning_curve": []}
    systems = {
        system: {"trained_on": name, **{key: value for key, value in about.items() if key != "runs"}}
        for system, about in nested["systems"].items()
    }
    return tidied(
        {
            "experiment": experiment,
            "schema": SCHEMA,
            **{key: nested[key] for key in ("command", "repair", "environment", "embeddings")},
            "datasets": {name: dataset},
            "systems": systems,
            "runs": [evaluated({**usual, **run}, name) for run in (*nested["sweep"], *whole, *parts)],
            "comparisons": {"phi": nested["comparison"]} if nested["comparison"] else {},
        }
    )


def as_view(nested: dict[str, Any]) -> Any:
    """The view of the results that have these scores."""
    return view(as_results(nested))


EVALUATION = ("layer", "dev_f1", "scores", "errors", "missed", "operating_points")
TIMES = ("fit_seconds", "predict_seconds", "tokens_per_second", "attack_seconds")


def evaluated(run: dict[str, Any], dataset: str) -> dict[str, Any]:
    """A run with its one evaluation, in nested form."""
    evaluation = {key: value for key, value in run.items() if key in EVALUATION}
    rest = {key: value for key, value in run.items() if key not in (*EVALUATION, "dataset", "evaluations")}
    return {**rest, "evaluations": [{"dataset": dataset, "layer": "phi", **evaluation}]}


def tidied(nested: dict[str, Any]) -> dict[str, Any]:
    """Results whose runs have scores, times and attacks in nested form, with these as measurements."""
    records = [{**run, "measurements": list(_rows_of(run))} for run in nested["runs"]]
    kept = ("system", "seed", "fraction", "point", "learning_curve", "history")
    runs = [{name: run[name] for name in kept if name in run} for run in records]
    return {**nested, "runs": runs, "measurements": table_of(records)}


def _rows_of(run: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from rows_in(measure_rows("time", {name: run[name] for name in TIMES if name in run}))
    for found in run["evaluations"]:
        rows = [
            *(measure_rows("dev", {"f1": found["dev_f1"]}) if "dev_f1" in found else ()),
            *score_rows(found.get("scores", {})),
            *(error_rows(found["errors"]) if "errors" in found else ()),
            *measure_rows("missed", found.get("missed", {})),
        ]
        for point in found.get("operating_points", ()):
            values = {name: value for name, value in point.items() if name != "required"}
            required = "default" if point["required"] is None else str(point["required"])
            rows += measure_rows("operating_points", values, required)
        yield from rows_in(rows, dataset=found["dataset"], layer=found["layer"])
    for kind, found in {
        **run.get("attacks", {}),
        "remains": run.get("remains"),
        "phi_held": run.get("phi_held"),
    }.items():
        inner = {name: value for name, value in (found or {}).items() if isinstance(value, dict)}
        yield from rows_in(measure_rows(kind, {n: v for n, v in (found or {}).items() if n not in inner}))
        for category, values in inner.items():
            if category == "by_adversary":
                for adversary, value in values.items():
                    yield from rows_in(measure_rows(kind, {"accuracy": value}, adversary))
            else:
                yield from rows_in(measure_rows(kind, values, category))


def values_of(rows: Iterable[dict[str, Any]], kind: str, **where: Any) -> dict[tuple[str, str], float]:
    """Category and measure -> value, of the measurements of a kind that have these values in some columns."""
    where |= {"kind": kind}
    chosen = [row for row in rows if all(row[name] == value for name, value in where.items())]
    return {(row["category"], row["measure"]): row["value"] for row in chosen}


def rich_view(systems: tuple[str, ...] = SYSTEMS, seeds: tuple[int, ...] = (0, 1, 2)) -> dict[str, Any]:
    """These results in nested form, in which a test changes them: systems with runs, runs with scores."""
    fractions = _fractions(systems, seeds)
    dataset = _corpus()
    names = ("fraction", "documents", "sentences", "tokens")
    dataset["fractions"] = [{name: part[name] for name in names} for part in fractions]
    return {
        "dataset": dataset,
        "command": _command(seeds),
        "repair": "begin",
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
        "systems": {s: _model(s, seeds_of(s, seeds)) for s in systems},
        "embeddings": {name: _embedding(name, dim) for name, dim in EMBEDDINGS.items()},
        "fractions": fractions,
        "sweep": _sweep([s for s in systems if s != "crf"], seeds),
        "comparison": _significance(systems, seeds),
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
        "sweep": [["window", [7, 9, 11]], ["hidden", [50, 100]]],
        "augment": "none",
        "pseudonymise": None,
        "neighbours_from": None,
    }


def _settings(system: str) -> dict[str, Any]:
    if system == "crf":
        return {"features": "strong", "pos": "none", "c1": 0.02, "c2": 0.02, "max_iterations": 100}
    model, embedding = system.split("-")
    shape = {"window": 11, "hidden": 100} if model == "elman" else {"window": 9, "hidden": 150}
    return {**shape, "embedding_dim": EMBEDDINGS[embedding], "init_range": None, "epochs": 10, "lr": 0.06, "layers": 1}


def _model(system: str, seeds: tuple[int, ...]) -> dict[str, Any]:
    model, _, embedding = system.partition("-")
    return {
        "model": model,
        "embedding": embedding or None,
        "settings": _settings(system),
        "trained_on": "invented",
        "tags": ["phi"],
        **({} if system == "crf" else {"chosen": {"window": 9, "hidden": 100}}),
        "runs": [_run(system, seed) for seed in seeds],
    }


def _run(system: str, seed: int) -> dict[str, Any]:
    chance = random.Random(f"{system} {seed}")
    outcomes = {label: _outcome(TROUBLE[system], label, chance) for label in TYPES}
    found = _scores(outcomes)
    dev_f1 = found["entity_strict"]["micro"]["f1"] - 0.01
    return {
        "system": system,
        "seed": seed,
        "fraction": 1.0,
        "point": {},
        "layer": "phi",
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
    tab = {name: Proportion(right, 40).to_dict() for name, right in zip(TAB_MEASURES, range(40, 34, -1), strict=True)}
    return {**{kind: Scores(by_type).to_dict() for kind, by_type in kinds.items()}, "tab": tab}


def _errors(outcomes: dict[str, Counter[str]]) -> dict[str, Any]:
    by_type = {c: {label: n for label in sorted(TYPES) if (n := outcomes[label][c])} for c in ERROR_KINDS}
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


def _fractions(systems: tuple[str, ...], seeds: tuple[int, ...]) -> list[dict[str, Any]]:
    """Each share of the training documents, with the runs of all systems on it."""
    return [
        {
            "fraction": part,
            "documents": round(500 * part),
            "sentences": round(20_000 * part),
            "tokens": round(310_000 * part),
            "runs": [_run_on(system, seed, part) for system in systems for seed in seeds_of(system, seeds)],
        }
        for part in FRACTIONS
    ]


def _run_on(system: str, seed: int, part: float) -> dict[str, Any]:
    run = _run(system, seed)
    if part == 1.0:
        return run
    trouble = TROUBLE[system] + round(20 * (1 - part) ** 2)
    chance = random.Random(f"{system} {seed} {part}")
    found = _scores({label: _outcome(trouble, label, chance) for label in TYPES})
    return {**run, "fraction": part, "scores": found, "dev_f1": found["entity_strict"]["micro"]["f1"] - 0.01}


def _sweep(systems: list[str], seeds: tuple[int, ...]) -> list[dict[str, Any]]:
    """Runs at every point; the best one is that of `_model`."""
    return [
        {
            "system": system,
            "seed": seed,
            "fraction": 1.0,
            "point": {"window": window, "hidden": hidden},
            "layer": "phi",
            "fit_seconds": 1.0,
            "learning_curve": [],
            "dev_f1": 0.80 - 0.002 * abs(window - 9) + 0.0004 * hidden + 0.001 * seed,
        }
        for system in systems
        for window, hidden in itertools.product((7, 9, 11), (50, 100))
        for seed in seeds
    ]


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
