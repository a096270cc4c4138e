"""friedrich2019: F of its Table 2, in per cent.

All systems were trained on the i2b2 2014 corpus and scored on its test part of 514 notes, by token-based binary HIPAA
F: a token counts as found under any type that HIPAA names (`crfdeid.evaluation.score_hipaa_tokens`).

Reference:
    M. Friedrich, A. Köhn, G. Wiedemann, C. Biemann: Adversarial Learning of Privacy-Preserving Text Representations for
    De-Identification of Medical Records. ACL 2019.
"""

from __future__ import annotations

from experiments.papers.paper import Paper, Printed, PrintedTable, SystemRow, SystemTable

MODELS = {"LSTM-CRF": "bilstm-crf"}
"""The paper's name of its model -> this library's."""

BEST_KNOWN = {"Dernoncourt et al. (LSTM-CRF)": 97.85, "Liu et al. (ensemble + rules)": 98.27}
"""Systems that the paper compares its own with -> F."""

OWN = {"GloVe": 97.24, "GloVe + casing": 97.62, "FastText": 97.67}
"""Input of the paper's non-private model -> F, a mean of five runs."""

PRIVATE = {
    ("non-private", "fasttext"): 97.67,
    ("non-private", "glove"): 97.62,
    ("pseudonyms", "fasttext"): 96.75,
    ("pseudonyms", "glove"): 96.42,
    ("representation", "fasttext"): 97.40,
    ("representation", "glove"): 96.89,
}
"""Kind of private sentences, and word vectors -> F; with 100 neighbours where the kind has any.

The non-private one by GloVe has the casing feature, as ours have.
"""

CONTAINING = {"fasttext": 7.37, "glove": 0.44}
"""Number of a word's 100 neighbours that contain it: the mean over words of PHI in the training part (section 9)."""

NOTES = (
    "The paper's own are means of five runs. Below them stand ours of the same model, with whatever word vectors.",
    "The challenge's script, which the paper used, leaves IDNUM out by a slip in a pattern; our scores count it.",
    "Section 8 says that with the casing feature FastText is better than GloVe by 0.05 only, which is the difference "
    "of the rows FastText and GloVe + casing: FastText, too, was most likely given the casing feature.",
)


def _row(label: str, f1: float, model: str | None = None) -> SystemRow:
    return SystemRow(label, Printed(None, None, f1), model=model)


PAPER = Paper(
    name="friedrich2019",
    year=2019,
    source="Friedrich et al. 2019, Adversarial Learning of Privacy-Preserving Text Representations for "
    "De-Identification of Medical Records",
    warning="The published scores are of i2b2 2014's test part: with ours of any other corpus or types they cannot be "
    "compared.",
    models=MODELS,
    seeds=5,
    embedding="fasttext",
    tables=(
        SystemTable(
            name="hipaa",
            title="Published binary HIPAA token scores of i2b2 2014 beside ours (F in %; Table 2 of friedrich2019)",
            rows=(
                *(_row(name, f1) for name, f1 in BEST_KNOWN.items()),
                *(_row(f"LSTM-CRF (2019): {given}", OWN[given]) for given in ("GloVe", "GloVe + casing")),
                _row("LSTM-CRF (2019): FastText", OWN["FastText"], MODELS["LSTM-CRF"]),
            ),
            match="token_binary_hipaa",
            notes=NOTES,
        ),
    ),
    printed={
        "table-2": PrintedTable(
            columns=("Published F",),
            rows={system: (f1,) for system, f1 in PRIVATE.items()},
            notes=(
                "Published: Table 2 of friedrich2019, i2b2 2014; not to be compared with ours of another corpus or "
                "types.",
            ),
        )
    },
)
