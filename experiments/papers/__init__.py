"""Published papers: one module a paper, and nothing particular to a paper elsewhere in experiments/.

paper.py          `Paper`: printed tables, orders of rows and columns, name of its profile
yadav2016.py      CRF, Elman and Jordan networks, the paper that this library began with
friedrich2019.py  a BiLSTM-CRF on i2b2 2014, and private representations
johnson2020.py    BERT on four corpora
lange2020.py      PHI and concepts tagged together
"""

from __future__ import annotations

from collections.abc import Collection

from experiments.papers.friedrich2019 import PAPER as FRIEDRICH2019
from experiments.papers.johnson2020 import PAPER as JOHNSON2020
from experiments.papers.lange2020 import PAPER as LANGE2020
from experiments.papers.paper import Paper
from experiments.papers.yadav2016 import PAPER as YADAV2016

CORE = YADAV2016
PAPERS: dict[str, Paper] = {paper.name: paper for paper in (YADAV2016, FRIEDRICH2019, LANGE2020, JOHNSON2020)}
"""Every paper by the name of its profile."""

__all__ = ["CORE", "FRIEDRICH2019", "LANGE2020", "PAPERS", "Paper", "papers_on", "seeds_of"]


def seeds_of(profile: str) -> tuple[int, ...]:
    """Seeds of a profile: as many as its paper has runs of a network, or one.

    Example:
        >>> seeds_of("lange2020"), seeds_of("default")
        ((0, 1, 2), (0,))
    """
    return tuple(range(PAPERS[profile].seeds if profile in PAPERS else 1))


def papers_on(models: Collection[str]) -> list[Paper]:
    """Papers that report one of these models.

    Example:
        >>> [paper.name for paper in papers_on(["elman", "rules"])]
        ['yadav2016']
    """
    return [paper for paper in PAPERS.values() if set(paper.models.values()) & set(models)]
