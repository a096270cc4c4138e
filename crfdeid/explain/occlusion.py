"""Sentences with other words, and what a model says of them: an explanation that any model can give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from crfdeid.errors import UsageError
from crfdeid.explain.data import Counterfactual, TagContrast, WordTerm
from crfdeid.tagger import Tagger
from features.tokenizer import Token
from features.tokens import Sentence

_LETTERS, _MARK = "zqxjv", "▮"  # what no training text has

_LEAST = 1e-30  # what a probability of 0 is read as, which rules can give


def unknown_word(word: str) -> str:
    """A word that no training text has, in the same casing: what stands for a word that is occluded.

    So networks read words in training that are too rare to have a vector. What has no letters becomes a mark.

    Example:
        >>> [unknown_word(word) for word in ("seen", "Quill", "MRN", "Q", "McCoy", "72")]
        ['zqxjv', 'Zqxjv', 'ZQXJV', 'Zqxjv', 'ZqXjv', '▮']
    """
    if not any(map(str.isalpha, word)):
        return _MARK
    if word.islower():
        return _LETTERS
    if word.isupper():
        return _LETTERS.upper() if len(word) > 1 else _LETTERS.capitalize()
    return _LETTERS.capitalize() if word[1:].islower() else "ZqXjv"


def tag_log_odds(table: np.ndarray, token: int, tag: int, contrast_tag: int) -> float:
    """The log-odds of two tags at a token, in nats; a probability of 0 is read as 1e-30.

    Args:
        table: marginals, [T, K].
        token: the token's place.
        tag: the number of a tag.
        rival: of another.
    """
    first, second = (max(float(table[token, k]), _LEAST) for k in (tag, contrast_tag))
    return float(np.log(first) - np.log(second))


def with_words(sentence: Sentence, words: Mapping[int, str | None]) -> Sentence:
    """The sentence with other words in some places, in the same layout; the note around it is the same.

    The heading and the field of the line, which some models read, stay as they are.

    Args:
        sentence: the sentence.
        words: the word for a place; None to leave the token out.

    Example:
        >>> with_words(Sentence.from_words(["Seen", "by", "Dr", "Doe"]), {2: None, 3: "doe"}).words
        ('Seen', 'by', 'doe')
    """
    old = sentence.tokens
    gaps = [0, *(after.start - before.end for before, after in pairwise(old))]
    tokens: list[Token] = []
    end = old[0].start if old else 0
    for place, (token, gap) in enumerate(zip(old, gaps, strict=True)):
        word = words.get(place, token.text)
        if word is None:
            continue
        start = end + (gap if tokens else 0)
        length = len(word) if place in words else token.end - token.start  # marks within a token are part of its length
        end = start + length
        tokens.append(Token(word, start, end))
    if not sentence.note:
        return replace(sentence, tokens=tuple(tokens))
    stop = sentence.note_start + len(old)
    moved = end - old[-1].end if old else 0
    rest = tuple(Token(text, start + moved, last + moved) for text, start, last in sentence.note[stop:])
    note = (*sentence.note[: sentence.note_start], *tokens, *rest)
    return replace(sentence, tokens=tuple(tokens), note=note)


def occluded(sentence: Sentence, places: Sequence[int]) -> list[tuple[str, int | None, Sentence]]:
    """What can be occluded of a sentence: what it is, its place, and the sentence without it.

    Args:
        sentence: the sentence.
        places: the words to occlude, each of them alone. The line's field and the heading follow where there are any.
    """
    found: list[tuple[str, int | None, Sentence]] = [
        (word, place, with_words(sentence, {place: unknown_word(word)}))
        for place, word in ((place, sentence.words[place]) for place in places)
    ]
    if sentence.line_prefix:
        found.append((f"(field: {sentence.line_prefix})", None, replace(sentence, line_prefix="")))
    if sentence.heading:
        found.append((f"(heading: {sentence.heading})", None, replace(sentence, heading="")))
    return found


def occlusion_terms(
    tagger: Tagger, sentence: Sentence, questions: Sequence[TagContrast], table: np.ndarray, window: int
) -> list[tuple[WordTerm, ...]]:
    """What the log-odds lose without each word near a token: of each question.

    Args:
        tagger: a trained model.
        sentence: the sentence.
        questions: tokens of it, and tags that the tagger has.
        table: the sentence's marginals, [T, K].
        window: the words on each side that are occluded, each by itself.
    """
    near = {p for q in questions for p in range(q.token - window, q.token + window + 1)}
    variants = occluded(sentence, sorted(near.intersection(range(len(sentence.tokens)))))
    tables = tagger.marginals([variant for _, _, variant in variants])
    place = {tag: k for k, tag in enumerate(tagger.tags)}
    found = []
    for token, tag, contrast_tag in questions:
        whole = tag_log_odds(table, token, place[tag], place[contrast_tag])
        found.append(
            tuple(
                WordTerm(
                    name,
                    None if at is None else at - token,
                    whole - tag_log_odds(other, token, place[tag], place[contrast_tag]),
                )
                for (name, at, _), other in zip(variants, tables, strict=True)
                if at is None or abs(at - token) <= window
            )
        )
    return found


def counterfactual(
    tagger: Tagger, sentence: Sentence, question: TagContrast, replacing: Mapping[int, str | None]
) -> Counterfactual:
    """What a model says of a token once words are others.

    Args:
        tagger: a trained model.
        sentence: the sentence.
        question: a token of it, and two tags.
        replacing: other words for places of the sentence, None to leave one out.

    Raises:
        UsageError: the token itself is to be left out.
    """
    if replacing.get(question.token, "") is None:
        raise UsageError("the token that is explained cannot be left out: replace it by another word")
    changed = with_words(sentence, replacing)
    left_out = sum(word is None and place < question.token for place, word in replacing.items())
    token = question.token - left_out
    (table,), (given,) = tagger.marginals([changed]), tagger.predict([changed])
    place = {tag: k for k, tag in enumerate(tagger.tags)}
    return Counterfactual(
        changed.words,
        given[token],
        float(table[token, place[given[token]]]),
        tag_log_odds(table, token, place[question.tag], place[question.contrast_tag]),
    )
