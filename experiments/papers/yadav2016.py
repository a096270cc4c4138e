"""yadav2016: scores of its Tables 4 and 5 as printed, in per cent, and their orders.

Figure 2 shows the F of Table 5. This library does not have the paper's corpus.

Reference:
    S. Yadav, A. Ekbal, S. Saha, P. Bhattacharyya: Deep Learning Architecture for Patient Data De-identification in
    Clinical Records. Proceedings of the Clinical Natural Language Processing Workshop, 2016.
"""

from __future__ import annotations

from experiments.papers.paper import Order, Paper, Printed, SystemRow, SystemTable, TypeTable

MODELS = {"CRF": "crf", "E-RNN": "elman", "J-RNN": "jordan"}
"""The paper's names of the models -> this library's."""

TABLE_4 = {
    "random": (100, Printed(85.48, 87.19, 86.32)),
    "rnnlm": (80, Printed(87.32, 88.21, 87.76)),
    "cbow": (300, Printed(89.55, 89.35, 89.44)),
}
"""Embedding -> dimension and scores of E-RNN (which prints precision before recall)."""

TABLE_5 = {
    "PATIENT": (Printed(60.87, 57.14, 58.95), Printed(86.96, 90.91, 88.89), Printed(91.30, 91.30, 91.30)),
    "DOCTOR": (Printed(80.43, 77.78, 79.08), Printed(82.55, 83.98, 83.26), Printed(85.11, 86.58, 85.84)),
    "HOSPITAL": (Printed(47.24, 83.70, 60.39), Printed(73.01, 83.80, 78.03), Printed(70.55, 83.33, 76.41)),
    "LOCATION": (Printed(52.63, 58.82, 55.56), Printed(57.89, 40.74, 47.83), Printed(68.42, 56.52, 61.90)),
    "PHONE": (Printed(69.23, 90.00, 78.26), Printed(84.62, 91.67, 88.00), Printed(76.92, 83.33, 80.00)),
    "ID": (Printed(75.86, 73.06, 74.44), Printed(89.27, 91.37, 90.31), Printed(90.80, 92.58, 91.68)),
    "DATE": (Printed(95.17, 94.22, 94.69), Printed(98.39, 95.14, 96.74), Printed(98.39, 95.32, 96.83)),
    "Overall": (Printed(79.74, 83.11, 81.39), Printed(88.90, 89.55, 89.22), Printed(89.63, 90.73, 90.18)),
}
"""Category -> scores of each of `MODELS`."""

TABLE_2_TEST = {"DOCTOR": 236, "HOSPITAL": 164, "DATE": 498, "PATIENT": 59, "LOCATION": 19, "PHONE": 13, "ID": 264}
"""Type -> entities of the test set, as printed."""

SCORED = {"DOCTOR": 235, "HOSPITAL": 163, "DATE": 497, "PATIENT": 46, "LOCATION": 19, "PHONE": 13, "ID": 261}
"""Type -> number of entities of which the recalls of all three models in `TABLE_5` are whole parts; computed here."""

NOTES_4 = (
    "Table 4 gives CBOW an F of 89.44, Table 5 gives the same model, said to use CBOW, 89.22: the paper does not say "
    "what differs.",
)
NOTES_5 = (
    f"Table 2 counts {sum(TABLE_2_TEST.values()):,} test entities, but the recalls of all three models are whole parts "
    f"of {sum(SCORED.values()):,}: 46 patients and not 59, 261 IDs and not 264, one doctor, hospital and date less.",
    "Section 4 counts 106 missed and 223 wrong entities of E-RNN, 95 and 164 of J-RNN: more than the 137 and 128 "
    "entities that its recall leaves unfound.",
)
"""Printed numbers that contradict each other; the tables repeat them as printed."""

PAPER = Paper(
    name="yadav2016",
    year=2016,
    source="Yadav et al. 2016, Deep Learning Architecture for Patient Data De-identification in Clinical Records",
    warning="Another corpus, other splits: the published scores and ours cannot be compared directly.",
    models=MODELS,
    tables=(
        TypeTable(
            name="scores",
            title="Published scores of another corpus beside ours (recall, precision, F in %; Table 5 of yadav2016)",
            scores=TABLE_5,
            notes=NOTES_5,
        ),
        TypeTable(
            name="f",
            title="Published F of another corpus beside ours (F in %; Figure 2 of yadav2016)",
            scores=TABLE_5,
            measures=("f1",),
        ),
        SystemTable(
            name="embeddings",
            title="Published scores by embedding, of another corpus, beside ours (%; Table 4 of yadav2016)",
            rows=tuple(
                SystemRow(f"E-RNN (2016): {embedding}", printed, dim, embedding=embedding)
                for embedding, (dim, printed) in TABLE_4.items()
            ),
            notes=NOTES_4,
        ),
    ),
    orders=(Order("models", ("crf", "elman", "jordan")), Order("embeddings", ("random", "rnnlm", "cbow"))),
    embedding="cbow",
    synthetic="yadav2016",
)
