"""Lesson 5: a right answer to each exercise, and wrong ones."""


def strict_f1(gold, found):
    both = len(set(gold) & set(found))
    return 2 * both / (len(gold) + len(found)) if both else 0.0


def recall(gold, found):
    return len(set(gold) & set(found)) / len(gold) if gold else 0.0


def overlapping(gold, found):
    both = sum(any(g.start < f.end and f.start < g.end for f in found) for g in gold)
    return 2 * both / (len(gold) + len(found)) if both else 0.0


def possible_hits(printed, n):
    return [k for k in range(n + 1) if round(100 * k / n, 2) == printed]


def corrected(p_values):
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    result, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, p_values[i] * (len(p_values) - rank))
        result[i] = min(largest, 1.0)
    return result


def bonferroni(p_values):
    return [min(p * len(p_values), 1.0) for p in p_values]


RIGHT = {1: strict_f1, 2: possible_hits, 3: corrected}
WRONG = {
    1: [recall, overlapping],
    2: [
        lambda printed, n: [round(printed * n / 100)],
        lambda printed, n: [k for k in range(n + 1) if round(100 * k / n) == round(printed)],
    ],
    3: [bonferroni, lambda p_values: sorted(corrected(p_values)), lambda p_values: p_values[:1]],
}
