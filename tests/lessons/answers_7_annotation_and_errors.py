"""Lesson 7: a right answer to each exercise, and wrong ones."""

from collections import Counter


def mutual_f1(one, other):
    both = sum(len(set(one[note]) & set(other[note])) for note in one)
    marked = sum(len(spans[note]) for spans in (one, other) for note in one)
    return 2 * both / marked if marked else 0.0


def mean_of_notes(one, other):
    return sum(mutual_f1({note: one[note]}, {note: other[note]}) for note in one) / len(one)


def kappa_of(pairs):
    total = sum(pairs.values())
    agreed = sum(count for (a, b), count in pairs.items() if a == b) / total
    first, second = Counter(), Counter()
    for (a, b), count in pairs.items():
        first[a] += count
        second[b] += count
    chance = sum(first[label] * second[label] for label in first) / total**2
    return (agreed - chance) / (1 - chance)


def agreed_share(pairs):
    return sum(count for (a, b), count in pairs.items() if a == b) / sum(pairs.values())


def unseen_share(errors):
    missed = [error for error in errors if error.kind == "missed"]
    all_of_them = Counter(error.gold.label for error in missed)
    unseen = Counter(error.gold.label for error in missed if "unseen" in error.causes)
    return {label: unseen[label] / count for label, count in all_of_them.items()}


def only_unseen(errors):
    return {label: share for label, share in unseen_share(errors).items() if share > 0.5}


RIGHT = {1: mutual_f1, 2: kappa_of, 3: unseen_share}
WRONG = {
    1: [mean_of_notes, lambda one, other: 1.0],
    2: [agreed_share],
    3: [only_unseen, lambda errors: dict.fromkeys(unseen_share(errors), 1.0)],
}
