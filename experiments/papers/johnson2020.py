"""johnson2020: Tables 2 to 5 as printed, in per cent, and section 4.2; scores of tokens, split at white space.

`NOTES_2` to `NOTES_5` list printed numbers that contradict each other.

Reference:
    A. E. W. Johnson, L. Bulgarelli, T. J. Pollard: Deidentification of free-text medical records using pre-trained
    bidirectional transformers. ACM Conference on Health, Inference, and Learning (CHIL), 2020.
"""

from __future__ import annotations

from typing import NamedTuple

from experiments.papers.paper import Paper, Printed, PrintedTable, SystemRow, SystemTable


class PrintedRow(NamedTuple):
    """Three printed numbers, in the paper's order: positive predictive value, sensitivity, F1."""

    ppv: float
    se: float
    f1: float


MODELS = {"BERT base": "bert"}
"""The paper's name of its model -> this library's."""

TABLE_2: dict[str, tuple[PrintedRow, PrintedRow | None]] = {
    "BERT large": (PrintedRow(98.66, 98.15, 98.40), PrintedRow(99.08, 98.57, 98.82)),
    "BERT large, cased": (PrintedRow(98.56, 97.77, 98.16), PrintedRow(99.00, 98.20, 98.60)),
    "BERT base": (PrintedRow(98.61, 97.90, 98.25), PrintedRow(98.98, 98.27, 98.62)),
    "BERT base, cased": (PrintedRow(98.36, 97.38, 97.87), PrintedRow(98.90, 97.91, 98.40)),
    "SciBERT, own vocabulary": (PrintedRow(98.34, 97.88, 98.11), PrintedRow(98.80, 98.33, 98.57)),
    "SciBERT, BERT's vocabulary": (PrintedRow(98.25, 98.06, 98.15), PrintedRow(98.66, 98.47, 98.57)),
    "BioBERT": (PrintedRow(95.27, 91.60, 93.36), PrintedRow(96.95, 93.18, 95.03)),
    "Dernoncourt et al.": (PrintedRow(98.16, 98.32, 98.23), PrintedRow(97.92, 97.83, 97.88)),
    "Hartman et al.": (PrintedRow(85.7, 99.1, 91.7), None),
    "Liu et al.": (PrintedRow(97.94, 96.04, 96.98), PrintedRow(99.30, 97.28, 98.28)),
}
"""Model -> seven categories, and PHI or not, on the test part of i2b2 2014."""

TABLE_3 = {
    "AGE": (789, PrintedRow(97.12, 98.23, 97.67), PrintedRow(98.97, 97.60, 98.28)),
    "CONTACT": (648, PrintedRow(98.31, 98.46, 98.38), PrintedRow(98.80, 98.33, 98.57)),
    "DATE": (8022, PrintedRow(99.43, 99.26, 99.35), PrintedRow(99.06, 99.52, 99.29)),
    "ID": (1455, PrintedRow(96.73, 97.66, 97.20), PrintedRow(99.29, 98.76, 99.02)),
    "LOCATION": (3027, PrintedRow(97.14, 94.12, 95.60), PrintedRow(95.96, 95.74, 95.85)),
    "NAME": (5387, PrintedRow(99.12, 98.29, 98.70), PrintedRow(98.22, 99.15, 98.68)),
    "PROFESSION": (346, PrintedRow(96.39, 92.49, 94.40), PrintedRow(87.99, 79.71, 83.64)),
}
"""Category -> tokens of the test part, BERT base, and Dernoncourt et al."""

CORPORA = ("i2b2 2014", "i2b2 2006", "PhysioNet", "Dernoncourt-Lee")
TABLE_4 = {
    "f1": (
        (98.62, 81.62, 87.95, 88.32),
        (92.77, 98.45, 75.37, 86.85),
        (83.84, 52.28, 95.61, 78.54),
        (84.02, 63.13, 90.27, 97.42),
    ),
    "recall": (
        (98.27, 72.55, 96.05, 83.10),
        (92.11, 97.71, 77.19, 80.85),
        (76.26, 36.68, 95.61, 68.40),
        (84.89, 61.57, 95.61, 97.59),
    ),
    "precision": (
        (98.98, 93.27, 81.11, 94.25),
        (93.45, 99.20, 73.64, 93.81),
        (93.09, 90.93, 95.61, 92.19),
        (83.16, 64.76, 85.49, 97.25),
    ),
}
"""Measure -> a row for each training corpus of BERT base, with a number for each test corpus."""

TABLE_5 = {
    100.0: (0.0, 0.0, 0.0, 1000.0),
    99.7: (49.86, 66.47, 0.14, 47.18),
    99.0: (96.82, 97.90, 0.47, 1.53),
    98.27: (98.92, 98.60, 0.81, 0.51),
}
"""Sensitivity, the last one at the default threshold -> PPV, F1, and misses and false alarms in 1,000 tokens."""

MISSED, ADJACENT_FOUND = 632, 493
"""Section 4.2: tokens that BERT large misses, and how many of them are adjacent to PHI that it finds."""

WARNING = "Published by johnson2020, other corpora and tokens at white space: not to be compared with ours directly."
NOTES_2 = (
    "Dernoncourt et al. have scored PHI or not over the types that HIPAA names alone.",
    "By category, PPV and sensitivity of BioBERT and of Hartman et al. give 93.40 and 91.9 for F, not 93.36 and 91.7.",
    f"Section 4.2 has BERT large miss {MISSED} tokens, {ADJACENT_FOUND} of them next to PHI that was found: "
    "more misses than its sensitivity leaves of the tokens that Table 3 counts.",
)
NOTES_3 = (
    "Table 3 counts 648 tokens of CONTACT in the test part, Table 1 541 in the whole corpus: not the same tokens.",
)
NOTES_4 = (
    "The text says that Table 4 is of NAME alone. Its first cell, 98.62, is the F of PHI or not in Table 2, to all "
    "printed digits of F, sensitivity and PPV: the table is of all PHI.",
)
NOTES_5 = (
    "At a sensitivity of 100 everything is hidden; PPV is then the share of PHI, and not 0 as printed.",
    "The default threshold has another PPV and F here (98.92, 98.60) than in Table 2 (98.98, 98.62).",
    "The caption chooses the lowest threshold that has the sensitivity; the lowest of all hides everything, so it is "
    "the highest one here.",
)


def _numbers(*rows: PrintedRow | None) -> tuple[float | None, ...]:
    return tuple(value for row in rows for value in row or (None, None, None))


_MEASURES = {"f1": "F1", "recall": "Sensitivity", "precision": "PPV"}
_PRINTED = {
    "table-2": PrintedTable(
        columns=tuple(f"{kind} {letter}" for kind in ("Multi-class", "PHI or not") for letter in ("PPV", "Se", "F1")),
        rows={f"{name} (2020)": _numbers(*both) for name, both in TABLE_2.items()},
        notes=(WARNING, *NOTES_2),
    ),
    "table-3": PrintedTable(
        columns=(
            "n",
            *(f"{name} (2020) {letter}" for name in ("BERT base", "Dernoncourt et al.") for letter in ("P", "R", "F1")),
        ),
        rows={f"i2b2 2014: {category}": (n, *_numbers(*both)) for category, (n, *both) in TABLE_3.items()},
        notes=(WARNING, *NOTES_3),
    ),
    **{
        f"table-4-{measure}": PrintedTable(
            columns=CORPORA,
            rows=dict(zip(CORPORA, TABLE_4[measure], strict=True)),
            title=f"Published: {name} by corpus in % (Table 4 of johnson2020)",
            notes=("BERT base. Rows: trained on; columns: tested on.", WARNING, *NOTES_4),
        )
        for measure, name in _MEASURES.items()
    },
    "table-5": PrintedTable(
        columns=("PPV", "F1", "FN/1000", "FP/1000"),
        rows={f"{required:g}": row for required, row in TABLE_5.items()},
        title="Published: operating points (Table 5 of johnson2020)",
        digits=None,
        notes=("BERT base, i2b2 2014.", WARNING, *NOTES_5),
    ),
}


def _rows(column: int) -> tuple[SystemRow, ...]:
    return tuple(
        SystemRow(f"{name} (2020)", Printed(row.se, row.ppv, row.f1), model=MODELS.get(name))
        for name, both in TABLE_2.items()
        if (row := both[column]) is not None
    )


PAPER = Paper(
    name="johnson2020",
    year=2020,
    source="Johnson et al. 2020, Deidentification of free-text medical records using pre-trained bidirectional "
    "transformers",
    warning="The published scores are of i2b2 2014's test part, of tokens at white space and seven categories: with "
    "ours of any other corpus or types they cannot be compared.",
    models=MODELS,
    tables=tuple(
        SystemTable(
            name=f"tokens-{name}",
            title=f"Published token scores of i2b2 2014 beside ours ({what}, in %; Table 2 of johnson2020)",
            rows=_rows(place),
            match=match,
            notes=NOTES_2,
        )
        for place, (name, what, match) in enumerate(
            (("types", "types", "token"), ("binary", "PHI or not", "token_binary"))
        )
    ),
    printed=_PRINTED,
)
