"""Occlusion and counterfactuals: predictions of any model for sentences with replaced words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from crfdeid.errors import OptionConflictError
from crfdeid.explain.data import Counterfactual, TagContrast, WordTerm
from crfdeid.tagger import Tagger
from features.tokenizer import Token
from features.tokens import Sentence

_LETTERS, _MARK = "zqxjv", "▮"  # in no training text
_LEAST = 1e-30  # least probability; rules can give 0


def unknown_word(word: str) -> str:
    """A word in no training text, with the same casing, as a substitute for an occluded word.

    Networks read it as an unknown word. A word without letters becomes a mark.

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
    """The log-odds of two tags at a token, in nats, with probabilities of at least 1e-30.

    Args:
        table: marginals, [T, K].
        token: index of the token.
        tag: index of the tag.
        contrast_tag: index of the contrast tag.
    """
    first, second = (max(float(table[token, k]), _LEAST) for k in (tag, contrast_tag))
    return float(np.log(first) - np.log(second))


def with_words(sentence: Sentence, words: Mapping[int, str | None]) -> Sentence:
    """Replace words of a sentence; its layout, heading, line prefix and the rest of its note stay.

    Args:
        sentence: the sentence.
        words: the new word by index; None drops the token.

    Example:
        >>> with_words(Sentence.from_words(["Seen", "by", "Dr", "Doe"]), {2: None, 3: "doe"}).words
        ('Seen', 'by', 'doe')
    """
    old = sentence.tokens
    gaps = [0, *(after.start - before.end for before, after in pairwise(old))]
    tokens: list[Token] = []
    end = old[0].start if old else 0
    for index, (token, gap) in enumerate(zip(old, gaps, strict=True)):
        word = words.get(index, token.text)
        if word is None:
            continue
        start = end + (gap if tokens else 0)
        length = len(word) if index in words else token.end - token.start  # marks within a token are part of its length
        end = start + length
        tokens.append(Token(word, start, end))
    if not sentence.note:
        return replace(sentence, tokens=tuple(tokens))
    stop = sentence.note_start + len(old)
    moved = end - old[-1].end if old else 0
    rest = tuple(Token(text, start + moved, last + moved) for text, start, last in sentence.note[stop:])
    note = (*sentence.note[: sentence.note_start], *tokens, *rest)
    return replace(sentence, tokens=tuple(tokens), note=note)


def occluded(sentence: Sentence, indices: Sequence[int]) -> list[tuple[str, int | None, Sentence]]:
    """Variants of a sentence with one input occluded: the input, its index, and the variant.

    Args:
        sentence: the sentence.
        indices: indices of the words to occlude, one at a time; then the line's field and the heading, if any.
    """
    variants: list[tuple[str, int | None, Sentence]] = [
        (word, index, with_words(sentence, {index: unknown_word(word)}))
        for index, word in ((index, sentence.words[index]) for index in indices)
    ]
    if sentence.line_prefix:
        variants.append((f"(field: {sentence.line_prefix})", None, replace(sentence, line_prefix="")))
    if sentence.heading:
        variants.append((f"(heading: {sentence.heading})", None, replace(sentence, heading="")))
    return variants


def occlusion_terms(
    tagger: Tagger, sentence: Sentence, questions: Sequence[TagContrast], table: np.ndarray, window: int
) -> list[tuple[WordTerm, ...]]:
    """The loss of log-odds for each occluded word near a token, for each question.

    Args:
        tagger: a trained model.
        sentence: the sentence.
        questions: tokens of the sentence, with tags of the tagger.
        table: marginals of the sentence, [T, K].
        window: words on each side to occlude, one at a time.
    """
    near = {p for q in questions for p in range(q.token - window, q.token + window + 1)}
    variants = occluded(sentence, sorted(near.intersection(range(len(sentence.tokens)))))
    tables = tagger.marginals([variant for _, _, variant in variants])
    column = {tag: k for k, tag in enumerate(tagger.tags)}
    terms = []
    for token, tag, contrast_tag in questions:
        whole = tag_log_odds(table, token, column[tag], column[contrast_tag])
        terms.append(
            tuple(
                WordTerm(
                    name,
                    None if at is None else at - token,
                    whole - tag_log_odds(other, token, column[tag], column[contrast_tag]),
                )
                for (name, at, _), other in zip(variants, tables, strict=True)
                if at is None or abs(at - token) <= window
            )
        )
    return terms


def counterfactual(
    tagger: Tagger, sentence: Sentence, question: TagContrast, replacing: Mapping[int, str | None]
) -> Counterfactual:
    """Predict a token of a sentence with replaced words.

    Args:
        tagger: a trained model.
        sentence: the sentence.
        question: a token of the sentence, with two tags.
        replacing: replacements by index of a word; None drops a word.

    Raises:
        OptionConflictError: the explained token itself is to be dropped.
    """
    if replacing.get(question.token, "") is None:
        raise OptionConflictError("the explained token cannot be left out: replace it by another word")
    changed = with_words(sentence, replacing)
    dropped = sum(word is None and index < question.token for index, word in replacing.items())
    token = question.token - dropped
    (table,), (predicted,) = tagger.marginals([changed]), tagger.predict([changed])
    column = {tag: k for k, tag in enumerate(tagger.tags)}
    return Counterfactual(
        changed.words,
        predicted[token],
        float(table[token, column[predicted[token]]]),
        tag_log_odds(table, token, column[question.tag], column[question.contrast_tag]),
    )
