"""The scores of the Text Anonymization Benchmark against a slow way, and by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import DIRECT, NO_MASK, QUASI, Document, Mention, Span, tokens_of
from crfdeid.errors import EmptyInputError
from crfdeid.evaluation import score_tab

TEXT = "Ann Quill, a baker, met B. Vole. Quill left on May 3."
NAME, AGAIN, JOB = Span(0, 9, "PERSON"), Span(33, 38, "PERSON"), Span(13, 18, "DEM")
OTHER, DATE = Span(24, 31, "PERSON"), Span(47, 52, "DATETIME")
MENTIONS = (
    Mention(NAME, "ann", DIRECT),
    Mention(AGAIN, "ann", DIRECT),
    Mention(OTHER, "vole", QUASI),
    Mention(JOB, "job", NO_MASK),
    Mention(DATE, "day", QUASI),
)


def case(*mentions: Mention) -> Document:
    return Document("1", TEXT, tuple(m.span for m in mentions if m.identifier != NO_MASK), mentions=mentions)


def test_an_entity_is_protected_only_if_every_mention_is() -> None:
    found = {"1": [NAME, Span(27, 31, "X"), JOB, Span(47, 50, "DATE"), Span(50, 52, "DATE")]}
    scores = score_tab([[case(*MENTIONS)]], found)
    assert (scores.direct_entities.count, scores.direct_entities.total) == (0, 1)  # Quill is left
    assert (scores.quasi_entities.count, scores.quasi_entities.total) == (1, 2)  # "B" is left; both parts of the date
    assert (scores.mentions.count, scores.mentions.total) == (2, 4)
    assert (scores.tokens.count, scores.tokens.total) == (5, 7)
    assert (scores.masked_tokens.count, scores.masked_tokens.total) == (5, 6)  # the job needs no masking
    assert (scores.masked_characters.count, scores.masked_characters.total) == (16, 21)
    whole = score_tab([[case(*MENTIONS)]], {"1": [NAME, AGAIN, OTHER, DATE]})
    assert all(share.fraction == 1.0 for share in vars(whole).values())


def test_several_annotators_count_each_with_their_own_mentions() -> None:
    annotators = [[case(*MENTIONS)], [case(MENTIONS[0], Mention(JOB, "job", QUASI))]]
    scores = score_tab(annotators, {"1": [NAME]})
    assert (scores.direct_entities.count, scores.direct_entities.total) == (1, 2)
    assert (scores.quasi_entities.count, scores.quasi_entities.total) == (0, 3)
    assert (scores.masked_tokens.count, scores.masked_tokens.total) == (4, 4)


def test_phi_without_mentions_cannot_be_scored() -> None:
    with pytest.raises(EmptyInputError):
        score_tab([[Document("1", TEXT, (NAME,))]], {"1": []})


@st.composite
def spans(draw: st.DrawFn) -> Span:
    start = draw(st.integers(0, len(TEXT) - 1))
    return Span(start, draw(st.integers(start + 1, len(TEXT))), "X")


MENTION = st.builds(Mention, spans(), st.sampled_from(["a", "b", "c"]), st.sampled_from([DIRECT, QUASI, NO_MASK]))
CASES = st.lists(st.lists(MENTION, min_size=1, max_size=6), min_size=1, max_size=3)


@given(cases=CASES, found=st.lists(spans(), max_size=4))
def test_it_agrees_with_a_slow_way(cases: list[list[Mention]], found: list[Span]) -> None:
    """Character by character, entity by entity."""
    hidden = [any(span.start <= i < span.end for span in found) for i in range(len(TEXT))]
    expected: dict[str, list[bool]] = {
        name: [] for name in ("direct", "quasi", "mentions", "tokens", "masked", "characters")
    }
    for mentions in cases:
        needed = [m for m in mentions if m.identifier != NO_MASK]
        masked = [all(hidden[i] for i in range(m.span.start, m.span.end) if TEXT[i].isalnum()) for m in needed]
        for name in {m.entity for m in needed}:
            own = [(m, is_masked) for m, is_masked in zip(needed, masked, strict=True) if m.entity == name]
            kind = "direct" if any(m.identifier == DIRECT for m, _ in own) else "quasi"
            expected[kind].append(all(is_masked for _, is_masked in own))
        expected["mentions"] += masked
        gold = [any(m.span.start <= i < m.span.end for m in needed) for i in range(len(TEXT))]
        expected["characters"] += [gold[i] for i, is_hidden in enumerate(hidden) if is_hidden and TEXT[i].isalnum()]
        for token in tokens_of(case(*mentions)):
            letters = [i for i in range(token.start, token.end) if TEXT[i].isalnum()]
            if any(gold[i] for i in letters):
                expected["tokens"].append(all(hidden[i] for i in letters if gold[i]))
            if any(hidden[i] for i in letters):
                expected["masked"].append(any(gold[i] and hidden[i] for i in letters))
    scores = score_tab([[case(*mentions)] for mentions in cases], {"1": found})
    shares = [(share.count, share.total) for share in vars(scores).values()]
    assert shares == [(sum(outcomes), len(outcomes)) for outcomes in expected.values()]
