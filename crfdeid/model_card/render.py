"""A model's card as Markdown, for `crfdeid info` and for people who choose a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crfdeid.augmentation import NO_COPIES
from crfdeid.documents import CONCEPT
from crfdeid.known_phi.lists import CustomLists
from crfdeid.model_card.card import LISTS_FILE, read_saved_lists
from crfdeid.serialization import ModelFolder, open_model
from crfdeid.thresholds import VOIDS_CLAIM, LeakClaim, chosen_sensitivity, chosen_threshold, usual_points
from crfdeid.utils.tables import markdown_table
from features.languages import LANGUAGES


def _corpus_table(splits: Mapping[str, Mapping[str, Any]], *, concepts: bool) -> str:
    """Table of the sizes of the splits, with their concepts if the model finds any."""
    names = ("documents", "sentences", "tokens", "spans", "unaligned")
    head, rows = ["notes", *names], []
    for split, facts in splits.items():
        further = [_concept_counts(facts).get(name, 0) for name in ("spans", "unaligned")] if concepts else []
        rows.append([split, *("-" if facts[name] is None else facts[name] for name in names), *further])
    return markdown_table([*head, *(["concepts", "unaligned concepts"] if concepts else [])], rows)


def _score_table(scores: Mapping[str, Any]) -> str:
    """Strict entity scores by type."""
    rows = [[label, *_prf(counts)] for label, counts in scores["by_type"].items()]
    rows.append(["all", *_prf(scores["micro"])])
    return markdown_table(["type (strict)", "P", "R", "F", "marked", "found", "missed"], rows)


def _prf(counts: Mapping[str, Any]) -> list[Any]:
    figures = [f"{100 * counts[name]:.2f}" for name in ("precision", "recall", "f1")]
    return [*figures, counts["tp"] + counts["fn"], counts["tp"], counts["fn"]]


def _use_table(scores: Mapping[str, Any]) -> str:
    """PHI tokens found, whatever their type, and notes that would leak, with and without document consistency."""
    rows = []
    for name, text in (("alone", "the model alone"), ("consistent", "with document consistency, the default")):
        micro, leaking = scores[name]["token_binary"]["micro"], scores[name]["leaking_documents"]
        shares = (f"{100 * micro[measure]:.2f}" for measure in ("recall", "precision"))
        rows.append([text, *shares, micro["fn"], *_counted(leaking)])
    head = ["PHI tokens of any type", "sensitivity", "PPV", "missed tokens", "notes with a miss", "95 % interval"]
    return markdown_table(head, rows)


def _counted(part: Mapping[str, Any]) -> tuple[str, str]:
    """A count of its total, and the interval of the share."""
    return f"{part['count']} of {part['total']}", f"{100 * part['low']:.2f} to {100 * part['high']:.2f}"


def _leak_table(leaks: Mapping[str, Mapping[str, Any]]) -> str:
    """The share of each type's PHI tokens that nothing marked."""
    rows = []
    for label, leak in leaks.items():
        count, interval = _counted(leak)
        rows.append([label, count, f"{100 * leak['count'] / max(leak['total'], 1):.2f}", interval])
    return markdown_table(["type", "missed tokens", "leak %", "95 % interval"], rows)


def _point_table(points: Sequence[Mapping[str, Any]]) -> str:
    """Thresholds and their counts on the development notes, and on the test notes if there are any."""
    costs = ["PHI tokens missed", "reached %", "PPV", "F1", "FN/1000 tokens", "FP/1000 tokens"]
    head, rows = ["sensitivity", "threshold", *costs], []
    if any("test" in point for point in points):
        head += [f"test {name}" for name in costs]
    for point in points:
        cells = [f"{point['required']:g}", f"{point['threshold']:.3g}"]
        for cost in (point, point["test"]) if "test" in point else (point,):
            cells.append(f"{cost['missed']} of {cost['phi_tokens']}")
            cells += (f"{100 * cost[name]:.2f}" for name in ("sensitivity", "ppv", "f1"))
            cells += (f"{cost[name]:.2f}" for name in ("false_negatives_per_1000", "false_positives_per_1000"))
        rows.append(cells)
    return markdown_table(head, rows)


def _concept_counts(split: Mapping[str, Any]) -> dict[str, Any]:
    """The counts of the concepts of some notes, as the card has them; empty without annotations."""
    return dict(split.get("layers", {}).get(CONCEPT, {}))


_WITHOUT_CARD = (
    "It has no card: `crfdeid train` writes one, with what the model was trained on, its scores and its thresholds."
)
_UNALIGNED = (
    "Unaligned spans begin or end inside a token, so that no tags can express them: the model does not learn them, and "
    "the scores count them as they were annotated."
)
_LEAKS = (
    "What leaks: PHI tokens that nothing marked, by the type that they were annotated with, and the 95 % interval "
    "(Wilson's) for their share, used with document consistency. Tokens of one note are missed together, so the true "
    "range is wider."
)
_LIMITS = (
    "The development notes also chose the thresholds (and a network's best epoch), so their figures flatter the model. "
    "No figure here promises anything for notes of another hospital, time or kind: have people check a sample of the "
    "redacted notes."
)
_POINTS = (
    "`crfdeid redact --sensitivity 0.99` uses the threshold of its line, and other fractions theirs: a sensitivity s "
    "needs 1/(1-s) PHI tokens in the development notes, which have {tokens:,}. Without the option, {default}. A "
    "threshold rests on the PHI tokens missed, which lie below it: where they are fewer than ten, other notes can give "
    "quite another threshold. Where PPV is below 50 %, most hidden tokens are no PHI."
)
_CONCEPTS = "Concepts, found where PHI is marked with document consistency:"
_TITLES = {"dev": "On the development notes", "test": "On the held-out test notes"}


def render_card(folder: Path | ModelFolder, card: Mapping[str, Any] | None) -> str:
    """A model's card in Markdown.

    Args:
        folder: the model's.
        card: from `crfdeid.model_card.card.read_card`; None without one.

    Raises:
        DataError: the folder holds no model, or a damaged one.
    """
    model = open_model(folder)
    parts = [f"# Model card: {model.path.resolve().name}", _facts(model, card)]
    if card is None:
        return "\n\n".join([*parts, _WITHOUT_CARD])
    corpus = card["corpus"]
    table = _corpus_table(corpus["splits"], concepts="layers" in card)
    parts += ["## Trained and measured on", table, _UNALIGNED, *corpus["notices"]]
    if "shared" in corpus:
        names = ("sentences", "tokens", "spans")
        rows = [[file["sha256"][:16], *(file[name] for name in names)] for file in corpus["shared"]]
        parts.append(markdown_table(["shared file", *names], rows))
    for name, title in _TITLES.items():
        if name in card:
            parts += [f"## {title}", *_measured(card[name])]
    points = usual_points(card)
    parts += [
        "## Operating points",
        *([_point_table(points)] if points else []),
        _POINTS.format(tokens=card["thresholds"]["dev"]["phi_tokens"], default=_default(card)),
        *([_claim(card["leak_claim"])] if "leak_claim" in card else []),
        "## What this does not say",
        _LIMITS,
    ]
    return "\n\n".join(parts)


def _default(card: Mapping[str, Any]) -> str:
    """What redaction uses where no sensitivity is asked for."""
    share, threshold = chosen_sensitivity(card, None), chosen_threshold(card, None)
    if share is not None:
        return f"a sensitivity of {share:g} is asked for"
    if threshold is not None:
        return f"the threshold {threshold:.3g} is used, which keeps all that the built-in member hides by default"
    return "the most probable tags are used"


def _claim(stored: Mapping[str, Any]) -> str:
    claim = LeakClaim(**stored)
    return (
        f"Claim, which `crfdeid redact --max-leak-rate {claim.max_leak_rate:g}` uses: with the threshold "
        f"{claim.threshold:g} {claim}. It hides {claim.needless_per_1000:.1f} of 1,000 tokens that are no PHI. Void "
        f"with: {VOIDS_CLAIM}."
    )


def _facts(model: ModelFolder, card: Mapping[str, Any] | None) -> str:
    description = model.description
    rows = [
        ("Model", description["model"]),
        ("Digest", (description if card is None else card)["sha256"]),
        *saved_facts(description),
        ("Language packs", _packs(description)),
        ("Vocabulary", _VOCABULARY.get(description["vocabulary"], "unknown")),
    ]
    lists = read_saved_lists(model)
    if lists:
        rows.append(("Custom lists", _lists(lists)))
    if card is not None:
        corpus = card["corpus"]
        rows += [
            *([("Trained", card["trained"])] if "trained" in card else []),
            ("Corpus", f"{corpus['name']}, format {corpus['format']}, types {corpus['type_map']}"),
            *_layer_facts(card),
            ("Types", ", ".join(corpus["types"])),
            ("Languages", ", ".join(map(_language_name, card["drift_profile"]["languages"]))),
            *([("Training went on from the model", card["base_model_sha256"])] if "base_model_sha256" in card else []),
            ("Rewritten copies", _copies(card["augment"])),
        ]
    return bullet_list(rows)


def _packs(description: Mapping[str, Any]) -> str:
    """The packs that a model's features and rules read, and the further ones that end its sentences, with digests."""
    digests, own = description.get("packs", {}), description.get("languages", ())
    named = {code: f"{_language_name(code)} {digest[:12]}" for code, digest in digests.items()}
    read, others = ", ".join(named[code] for code in own), ", ".join(named[code] for code in named if code not in own)
    return "; ".join(filter(None, [read, others and f"for the ends of sentences alone: {others}"]))


def _language_name(code: str) -> str:
    """The name of a language in English; its code where its pack is not here."""
    return LANGUAGES[code].name if code in LANGUAGES else code


def saved_facts(description: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Settings and library versions from the description of a saved model."""
    settings = ", ".join(f"{name}={value}" for name, value in description["settings"].items())
    versions = ", ".join(f"{name} {number}" for name, number in description["versions"].items())
    return [("Settings", settings), ("Versions", versions)]


def bullet_list(facts: Iterable[tuple[str, str]]) -> str:
    """Facts and their names as a list."""
    return "\n".join(f"- {name}: {text}" for name, text in facts)


def _layer_facts(card: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Annotation layers of a model that finds concepts, and the input of its concept part."""
    if "layers" not in card:
        return []
    part = "hidden from" if card.get("hides_phi") else "read by"
    layers = f"{', '.join(card['layers'])}; what is taken for PHI is {part} the part that finds concepts"
    counts = map(_concept_counts, card["corpus"]["splits"].values())
    types = {label for split in counts for label in split.get("spans_by_type", {})}
    return [("Annotation layers", layers), ("Types of concepts", ", ".join(sorted(types)))]


def _lists(lists: CustomLists) -> str:
    return (
        f"{len(lists.deny)} always hidden, {len(lists.patterns)} found by a pattern, {len(lists.allow)} not hidden by "
        f"themselves; they are in {LISTS_FILE} in the clear; the figures here are without them"
    )


_COPIES = {
    "accents": "without accents",
    "case": "in small letters and in capitals",
    "layout": "in other layouts",
    "values": "with other values, of few notes",
}
_VOCABULARY = {
    "readable": "readable: words of the training notes stand in the model's files; keep them as confidential as the "
    "notes",
    "hashed": "words are stored as keyed hashes; the secret is needed to use the model",
    "public": "the words in the model's files came with its representation or its pretrained encoder, whose provider "
    "says that they are public; no word of the training notes is among them, but its weights were learned from these: "
    "keep them as confidential",
}


def _measured(scores: Mapping[str, Any]) -> Iterator[str]:
    """Tables of one split: entities by type, tokens of any type, members of an ensemble, leaks and concepts."""
    used = scores["consistent"]
    yield _score_table(used["entity_strict"])
    yield _use_table(scores)
    if "members" in scores:
        yield from _members(scores["members"], used)
    yield _LEAKS
    yield _leak_table(used["leaks_by_type"])
    if "concepts" in scores:
        yield _CONCEPTS
        yield _score_table(scores["concepts"]["entity_strict"])


def _members(members: Sequence[Mapping[str, Any]], scores: Mapping[str, Any]) -> Iterator[str]:
    """The scores of an ensemble's members by themselves, and what the ensemble lacks."""
    f1, missed = scores["entity_strict"]["micro"]["f1"], scores["token_binary"]["micro"]["fn"]
    members = [{**one, "model": f"{one['model']} ({number})"} for number, one in enumerate(members, 1)]
    rows = [[one["model"], f"{100 * one['f1']:.2f}", one["missed"]] for one in members]
    rows.append(["all together", f"{100 * f1:.2f}", missed])
    yield markdown_table(["member by itself", "strict F", "missed tokens"], rows)
    best = max(members, key=lambda one: one["f1"])
    fewest = min(members, key=lambda one: one["missed"])
    if best["f1"] > f1:
        yield f"The ensemble lacks {100 * (best['f1'] - f1):.2f} of strict F to its member {best['model']}."
    if fewest["missed"] < missed:
        yield f"The ensemble misses {missed - fewest['missed']} more PHI tokens than its member {fewest['model']}."


def _copies(augment: str) -> str:
    if augment == NO_COPIES:
        return "none: expect it to miss more in small letters, in capitals, without accents, and in other layouts"
    return f"of training notes: {', '.join(_COPIES[kind] for kind in augment.split(','))}"
