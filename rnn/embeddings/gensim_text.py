"""What the vectors that gensim trains have in common: the text as it is given to gensim, and its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from crfdeid.errors import EmptyInputError
from rnn.embeddings.vectors import BOUNDARY, replace_rare

if TYPE_CHECKING:
    from gensim.models.callbacks import CallbackAny2Vec

_LONGEST = 10_000  # words of a sentence that gensim reads; it would leave out the rest without a word

OnEpoch = Callable[[int, int], None]


def readable_text(sentences: Iterable[Sequence[str]], *, min_count: int) -> list[list[str]]:
    """Sentences between boundaries, rare words replaced (`replace_rare`), in pieces that gensim reads whole.

    Raises:
        DataError: there are no words.
    """
    text = list(_pieces(replace_rare(sentences, min_count=min_count)))
    if not text:
        raise EmptyInputError("there is no text to learn word vectors from: give sentences with words")
    return text


def _pieces(sentences: Iterable[list[str]]) -> Iterator[list[str]]:
    for sentence in sentences:
        words = [BOUNDARY, *sentence, BOUNDARY] if sentence else []
        for start in range(0, len(words), _LONGEST):
            yield words[start : start + _LONGEST]


def callbacks(epochs: int, on_progress: OnEpoch | None) -> list[CallbackAny2Vec]:
    """What gensim is to call: after each epoch, ``on_progress`` with its number and the number of epochs."""
    if on_progress is None:
        return []
    tell = on_progress
    from gensim.models.callbacks import CallbackAny2Vec  # noqa: PLC0415  a second to import

    class Epochs(CallbackAny2Vec):
        done = 0

        def on_epoch_end(self, model: Any) -> None:
            self.done += 1
            tell(self.done, epochs)

    return [Epochs()]
