"""Tables from fixed view, against their literal text."""

from __future__ import annotations

import copy
from textwrap import dedent
from typing import Any

import pytest
from samples import as_view

from crfdeid.evaluation import Counts, Scores
from experiments import tables
from experiments.tables import frames

SHARED = (
    "Seeds share splits, rewritten copies, pseudonyms, trained word vectors, and the order of batches by length: "
    "whole new experiments would vary more."
)


def scores(**by_type: tuple[int, int, int]) -> dict[str, Any]:
    return Scores({label: Counts(*counts) for label, counts in sorted(by_type.items())}).to_dict()


def run(seed: int, *, hits: int, fit: float, tagging: float, speed: float) -> dict[str, Any]:
    entity = scores(PATIENT=(hits, 10 - hits, 20 - hits), DATE=(30, 0, 10))
    return {
        "seed": seed,
        "fit_seconds": fit,
        "predict_seconds": tagging,
        "tokens_per_second": speed,
        "scores": {
            "entity_strict": entity,
            "entity_relaxed": scores(PATIENT=(10, 0, 10), DATE=(30, 0, 10)),
            "token": scores(PATIENT=(40, 10, 10), DATE=(60, 20, 20)),
            "token_binary": scores(PHI=(110, 20, 20)),
            "token_binary_hipaa": scores(HIPAA=(90, 10, 30)),
        },
        "errors": {
            "categories": {"missed": 12, "wrong": 3, "boundary": hits, "spurious": 0},
            "by_type": {},
            "causes": {
                "missed": {"unseen": 7, "single-word": 4},
                "wrong": {"unseen": 1},
                "boundary": {"long-compound": 2, "longer": 1},
                "spurious": {},
            },
            "confusions": [
                {"gold": "PATIENT", "predicted": "DOCTOR", "count": 2},
                {"gold": "DATE", "predicted": "ID", "count": 1},
            ],
        },
        "learning_curve": [],
    }


def system(model: str, runs: list[dict[str, Any]], **settings: Any) -> dict[str, Any]:
    return {"model": model, "embedding": None, "settings": settings, "runs": runs}


@pytest.fixture
def view() -> dict[str, Any]:
    split = {"documents": 3, "sentences": 40, "tokens": 1200, "unaligned": 0}
    train = {**split, "spans": 1500, "spans_by_type": {"DATE": 1400, "PATIENT": 100}}
    test = {**split, "spans": 60, "spans_by_type": {"DATE": 40, "PATIENT": 20}, "unaligned": 2}
    return {
        "dataset": {
            "name": "notes",
            "format": "jsonl",
            "type_map": "seven",
            "types": ["PATIENT", "DATE"],
            "test": "test",
            "notices": ["Two notes are the same."],
            "splits": {"train": train, "dev": {**split, "spans": 0, "spans_by_type": {}}, "test": test},
            "sha256": "0" * 64,
        },
        "command": {"profile": "paper", "seeds": [0]},
        "repair": "begin",
        "environment": {"device": "cpu", "cores": 2, "jobs": 2, "corpus_seconds": 1.26, "total_seconds": 100.0},
        "systems": {
            "crf": system(
                "crf",
                [run(0, hits=5, fit=10.04, tagging=0.5, speed=12345.6)],
                features="paper",
                pos="none",
                c2=0.5,
            ),
            "net": system("net", [run(0, hits=8, fit=20.0, tagging=0.25, speed=1e6)], lr=0.01, sizes=[100, 50]),
        },
        "embeddings": {},
        "fractions": [],
        "sweep": [],
        "comparison": None,
    }


@pytest.fixture
def replicated(view: dict[str, Any]) -> dict[str, Any]:
    """Three seeds of one model, with recalls of 20, 40 and 30 % on PATIENT."""
    found = copy.deepcopy(view)
    runs = [run(seed, hits=h, fit=10.0 * h, tagging=1, speed=10) for seed, h in ((0, 4), (1, 8), (2, 6))]
    found["systems"] = {"crf": view["systems"]["crf"] | {"runs": runs}}
    return found


def check_text(table: tables.Table, expected: str) -> None:
    assert tables.to_text(table) == dedent(expected).lstrip("\n")


def test_corpus_statistics_in_the_form_of_table_2(view: dict[str, Any]) -> None:
    check_text(
        tables.corpus_table(view["dataset"]),
        """
        Corpus: spans of each type
        ==========================
                                    Train    Validation    Test
        ------------------------  -------  ------------  ------
        PATIENT                       100             0      20
        DATE                        1,400             0      40
        Total                       1,500             0      60
        Documents                       3             3       3
        Sentences                      40            40      40
        Tokens                      1,200         1,200   1,200
        Spans that fit no tokens        0             0       2
        Corpus: notes, format jsonl; types: seven.
        Two notes are the same.
        Spans that fit no tokens cannot be predicted; each one in the scored split counts as missed.
        """,
    )


def test_settings_in_the_form_of_table_3(view: dict[str, Any]) -> None:
    check_text(
        tables.settings_table(view),
        """
        Settings
        ========
                    crf      net
        --------  -----  -------
        features  paper        -
        pos        none        -
        c2          0.5        -
        lr            -     0.01
        sizes         -  100, 50
        Profile: paper; seeds: 0.
        """,
    )


def test_settings_say_what_was_trained_on_besides_the_training_documents(view: dict[str, Any]) -> None:
    view["command"]["augment"] = "case"
    assert tables.settings_table(view).notes[1:] == ("Trained on rewritten copies of training documents too: case.",)
    view["command"] |= {"augment": "none", "pseudonymise": 20, "neighbours_from": "public/wiki.vec"}
    (note,) = tables.settings_table(view).notes[1:]
    assert "one of its 20 nearest" in note
    assert "by vectors of wiki.vec" in note


def test_scores_side_by_side_in_the_form_of_table_5(view: dict[str, Any]) -> None:
    # PATIENT of crf: 5 of 20 found, 10 predicted. Overall: 35 of 60 found, 40 predicted.
    check_text(
        tables.score_table(as_view(view)),
        """
        Scores by category (recall, precision, F in %)
        ==============================================
                         crf R    crf P    crf F    net R    net P    net F
        -------------  -------  -------  -------  -------  -------  -------
        PATIENT          25.00    50.00    33.33    40.00    80.00    53.33
        DATE             75.00   100.00    85.71    75.00   100.00    85.71
        Overall          58.33    87.50    70.00    63.33    95.00    76.00
        Macro average    50.00    75.00    59.52    57.50    90.00    69.52
        Match: strict entity (type and both boundaries). Overall: all types together (micro average).
        Scored on the test split of notes: 3 documents, 60 spans; types: seven.
        Tags that are not valid IOB2 are read by the policy 'begin'.
        crf: features 'paper', no POS and chunk features.
        """,
    )


def test_markdown_has_the_same_cells_and_notes(view: dict[str, Any]) -> None:
    assert tables.to_markdown(tables.score_table(as_view(view))) == dedent(
        """\
        ## Scores by category (recall, precision, F in %)

        |               |   crf R |   crf P |   crf F |   net R |   net P |   net F |
        |---------------|---------|---------|---------|---------|---------|---------|
        | PATIENT       |   25.00 |   50.00 |   33.33 |   40.00 |   80.00 |   53.33 |
        | DATE          |   75.00 |  100.00 |   85.71 |   75.00 |  100.00 |   85.71 |
        | Overall       |   58.33 |   87.50 |   70.00 |   63.33 |   95.00 |   76.00 |
        | Macro average |   50.00 |   75.00 |   59.52 |   57.50 |   90.00 |   69.52 |

        - Match: strict entity (type and both boundaries). Overall: all types together (micro average).
        - Scored on the test split of notes: 3 documents, 60 spans; types: seven.
        - Tags that are not valid IOB2 are read by the policy 'begin'.
        - crf: features 'paper', no POS and chunk features.
        """
    )


def test_several_seeds_give_mean_and_sample_standard_deviation(replicated: dict[str, Any]) -> None:
    check_text(
        tables.score_table(as_view(replicated)),
        f"""
        Scores by category (recall, precision, F in %)
        ==============================================
                               crf R          crf P          crf F
        -------------  -------------  -------------  -------------
        PATIENT        30.00 ± 10.00  60.00 ± 20.00  40.00 ± 13.33
        DATE            75.00 ± 0.00  100.00 ± 0.00   85.71 ± 0.00
        Overall         60.00 ± 3.33   90.00 ± 5.00   72.00 ± 4.00
        Macro average   52.50 ± 5.00  80.00 ± 10.00   62.86 ± 6.67
        Match: strict entity (type and both boundaries). Overall: all types together (micro average).
        Mean ± standard deviation of 3 seeds.
        {SHARED}
        Scored on the test split of notes: 3 documents, 60 spans; types: seven.
        Tags that are not valid IOB2 are read by the policy 'begin'.
        crf: features 'paper', no POS and chunk features.
        """,
    )


def test_a_type_that_one_model_never_met_or_gave_has_no_score(view: dict[str, Any]) -> None:
    # No gold of this type: a model that never predicts it has nothing to score.
    view["dataset"]["types"].append("ID")
    strict = view["systems"]["net"]["runs"][0]["scores"]["entity_strict"]
    strict["by_type"]["ID"] = Counts(0, 2, 0).to_dict()
    table = tables.score_table(as_view(view))
    assert table.cells.loc["ID"].tolist() == ["-", "-", "-", "0.00", "0.00", "0.00"]
    assert "Without gold here, so that any prediction is a false alarm and F is 0: ID." in table.notes


def test_all_kinds_of_match(view: dict[str, Any]) -> None:
    cells = tables.overview_table(as_view(view)).cells
    assert cells["net F"].to_dict() == {
        "strict entity (type and both boundaries)": "76.00",
        "relaxed entity (type and overlap, one-to-one)": "80.00",
        "token (type)": "76.92",
        "token (PHI or not)": "84.62",
        "token (PHI that HIPAA names or not)": "81.82",
    }


def test_results_without_a_score_over_hipaas_types_have_an_empty_cell(view: dict[str, Any]) -> None:
    for found in view["systems"].values():
        for run in found["runs"]:
            del run["scores"]["token_binary_hipaa"]
    table = tables.overview_table(as_view(view))
    assert table.cells.iloc[-1].tolist() == ["-"] * 6
    assert not any("HIPAA" in note for note in table.notes)


def test_scores_over_hipaas_types_say_where_they_are_approximate(view: dict[str, Any]) -> None:
    assert tables.overview_table(as_view(view)).notes[0].startswith("PHI that HIPAA names: token by token")
    assert "Approximate" not in " ".join(
        tables.overview_table(as_view(view)).notes
    )  # patients and dates: types of 2014
    view["dataset"]["types"] += ["LOCATION", "AGE", "ID"]
    assert tables.overview_table(as_view(view)).notes[1] == "Approximate: that challenge has no ID, LOCATION."
    view["dataset"]["types"] += ["CALLE", "FECHAS", "PAIS"]
    assert tables.overview_table(as_view(view)).notes[1].endswith("has no CALLE, FECHAS, ID and 2 more.")


def test_errors_by_category_cause_and_confusion(view: dict[str, Any]) -> None:
    check_text(
        tables.error_table(as_view(view)),
        """
        Errors: entities by category and cause
        ======================================
                                                  crf    net
        --------------------------------------  -----  -----
        Missed entity                              12     12
        Missed entity: single-word                  4      4
        Missed entity: unseen                       7      7
        Wrong entity                                3      3
        Wrong entity: unseen                        1      1
        Wrong entity: PATIENT taken for DOCTOR      2      2
        Wrong entity: DATE taken for ID             1      1
        Boundary                                    5      8
        Boundary: longer                            1      1
        Boundary: long-compound                     2      2
        Spurious                                    0      0
        All errors                                 20     23
        One error can have several causes, or none.
        Scored on the test split of notes: 3 documents, 60 spans; types: seven.
        Tags that are not valid IOB2 are read by the policy 'begin'.
        crf: features 'paper', no POS and chunk features.
        """,
    )


def test_only_the_most_frequent_confusions_are_shown(view: dict[str, Any]) -> None:
    view["systems"]["crf"]["runs"][0]["errors"]["confusions"] = [
        {"gold": "DATE", "predicted": name, "count": count} for count, name in enumerate("ABCDEFGH", start=3)
    ]
    shown = [name for name in tables.error_table(as_view(view)).cells.index if " taken for " in name]
    assert shown == [f"Wrong entity: DATE taken for {name}" for name in "HGFED"]


def test_errors_of_several_seeds_are_means(replicated: dict[str, Any]) -> None:
    table = tables.error_table(as_view(replicated))
    assert table.cells["crf"]["Boundary"] == "6.0"
    assert table.cells["crf"]["All errors"] == "21.0"
    assert "Means of 3 seeds." in table.notes


def test_times(view: dict[str, Any]) -> None:
    check_text(
        tables.time_table(as_view(view)),
        """
        Time
        ====
                               crf        net
        ------------------  ------  ---------
        Training (s)          10.0       20.0
        Tagging (s)            0.5        0.2
        Tagging (tokens/s)  12,346  1,000,000
        Device: cpu; 2 trained at the same time on 2 cores.
        Tagging includes what a model compiles when it first meets sentences of some length.
        Reading the corpus took 1.3 s, everything 100.0 s.
        """,
    )


def test_the_part_of_speech_tagger_is_named(view: dict[str, Any]) -> None:
    view["systems"]["crf"]["settings"]["pos"] = "textblob"
    assert "crf: features 'paper', POS and chunk tags by textblob." in tables.score_notes(as_view(view))


def test_frames_hold_fractions_and_numbers(view: dict[str, Any]) -> None:
    frame = frames.score_frame(as_view(view)).set_index(["system", "seed", "category", "measure"])["value"]
    assert frame["crf", 0, "PATIENT", "recall"] == 0.25
    assert frame["net", 0, tables.OVERALL, "f1"] == 0.76
    assert frames.corpus_frame(view["dataset"]).loc["DATE", "Train"] == 1400
    times = frames.select(as_view(view)["measurements"], "time")["value"]
    assert times.sum() == pytest.approx(10.04 + 0.5 + 12345.6 + 20 + 0.25 + 1e6)
