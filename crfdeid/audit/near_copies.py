"""Notes that are equal or nearly equal to training notes: the model knows them, so that they void a membership attack.

Reference:
    Broder (1997), On the resemblance and containment of documents: shingles of words, compared here without sampling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy.sparse import csr_matrix

from crfdeid.known_phi.folding import fold_to_alnum

_WORDS = 3
_LEAST_SHARED = 0.6
_AT_A_TIME = 256  # rows of the product of all pairs that are in memory

_Shingle = tuple[str, ...]


def near_copies(members: Iterable[str], others: Iterable[str]) -> list[int]:
    """Return the places of the others that are equal or nearly equal to a member.

    Equal are texts with the same letters and digits in the same order, whatever their case, accents, spaces and signs.
    Nearly equal are texts that share 60 % or more of the runs of three words that the longer one has. Texts without
    letters and digits are no copies.

    Args:
        members: texts.
        others: texts.

    Example:
        >>> note = "Dr. Quill saw the patient today, and the wound was clean and dry."
        >>> near_copies([note], ["Rest at home.", note.upper(), note.replace("today", "again")])
        [1, 2]
    """
    known, asked = (
        [list(filter(None, map(fold_to_alnum, text.split()))) for text in side] for side in (members, others)
    )
    equal = {"".join(words) for words in known if words}
    shingles = [_shingles(words) for words in known if words]
    numbers = {shingle: number for number, shingle in enumerate(set[_Shingle]().union(*shingles))}
    table = _incidence(shingles, numbers).T.tocsr()
    sizes = np.array([len(some) for some in shingles])
    copies = [place for place, words in enumerate(asked) if "".join(words) in equal]
    for start in range(0, len(asked), _AT_A_TIME):
        rows = [_shingles(words) for words in asked[start : start + _AT_A_TIME]]
        shared = (_incidence(rows, numbers) @ table).tocoo()
        own = np.array([len(some) for some in rows])
        alike = shared.data >= _LEAST_SHARED * np.maximum(own[shared.row], sizes[shared.col])
        copies += (start + shared.row[alike]).tolist()
    return sorted(set(copies))


def _shingles(words: Sequence[str]) -> set[_Shingle]:
    """Runs of three words; a shorter text is one run."""
    return {tuple(words[start : start + _WORDS]) for start in range(max(1, len(words) - _WORDS + 1))}


def _incidence(rows: Sequence[set[_Shingle]], numbers: Mapping[_Shingle, int]) -> csr_matrix:
    """1 where a row has a shingle with a number, [rows, numbers]."""
    columns = [[numbers[shingle] for shingle in row if shingle in numbers] for row in rows]
    ends = np.cumsum([0, *map(len, columns)])
    flat = np.array([number for row in columns for number in row], np.int64)
    return csr_matrix((np.ones(len(flat), np.int64), flat, ends), shape=(len(rows), len(numbers)))
