"""Tables of how sure the differences are: intervals of F, and paired tests."""

from __future__ import annotations

import pandas as pd

from experiments.tables.cells import Table, interval_name, name_of_test, percent
from experiments.tables.frames import OVERALL, Results, interval_frame, pair_frame, rows_of


def interval_table(results: Results) -> Table:
    """The bootstrap interval of every system's overall F."""
    frame = interval_frame(results)
    overall = frame[frame["category"] == OVERALL].set_index("system")
    cells = pd.DataFrame({"F": overall["f1"], "Low": overall["low"], "High": overall["high"]}).map(percent)
    cells.index.name = None
    notes = (
        f"Each F ({results['significance']['measure']}) in %, with its {interval_name(results)} on documents, "
        f"{results['significance']['samples']:,} samples.",
        _COUNTS_NOTE,
    )
    return Table("Confidence intervals of overall F", cells, notes, frame)


def pair_table(results: Results) -> Table:
    """Overall F of any two systems: the difference, its interval, and whether it holds."""
    frame = pair_frame(results)
    overall = frame[frame["category"] == OVERALL]
    rows = [
        {
            "": pair["a"],
            "Against": pair["b"],
            "F": percent(pair["f1_a"]),
            "F against": percent(pair["f1_b"]),
            "Difference": f"{100 * pair['difference']:+.2f}",
            "Interval": f"{100 * pair['low']:+.2f} to {100 * pair['high']:+.2f}",
            "p": _probability(pair["p"]),
            "p (Holm)": _probability(pair["p_holm"]),
            "Holds": "yes" if pair["holds"] else "no",
        }
        for pair in rows_of(overall)
    ]
    notes = (
        "Difference: the second system's F less the first's, in percentage points.",
        f"Test: {name_of_test(results)}; {interval_name(results)} on documents, paired, "
        f"{results['significance']['samples']:,} samples.",
        _COUNTS_NOTE,
    )
    return Table("Significance of differences in overall F", pd.DataFrame(rows).set_index(""), notes, frame)


_COUNTS_NOTE = "A document's counts are averaged over a system's seeds before F: not quite the mean of the seeds' F."


def _probability(p: float) -> str:
    return "<0.0001" if p < 0.00005 else f"{p:.4f}"
