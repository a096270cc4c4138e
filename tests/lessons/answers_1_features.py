"""Lesson 1: a right answer to each exercise, and wrong ones."""

from sklearn_crfsuite import CRF

from features import Column, ContextWords, Extractor, Shapes, to_dicts
from features.columns import WordColumn


def shape_of(word):
    return "".join("X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c for c in word)


class Around(Extractor):
    def columns(self, batch):
        rows = [["<s>", *words, "</s>"] for words in batch.words]
        return [Column(("around=",), [f"{row[i]}|{row[i + 2]}" for row in rows for i in range(len(row) - 2)])]

    def describe(self):
        return "the words before and after, together"


class OneSide(Around):
    def columns(self, batch):
        return [Column(("around=",), [f"{word}|" for words in batch.words for word in ("<s>", *words[:-1])])]


class Form(Extractor):
    def word_columns(self):
        return [WordColumn(tuple((place, f"form[{place}]=") for place in range(-2, 3)), shape_of)]

    def describe(self):
        return "how the words around are written"


class Nothing(Form):
    def word_columns(self):
        return [WordColumn(((0, "same="),), lambda word: "1")]


WORDS_AND_SHAPES = (ContextWords(window=1), Shapes(window=1))


def by_sklearn_crfsuite(train, dev, extractors=WORDS_AND_SHAPES):
    X, new = (to_dicts([item.sentence for item in items], extractors) for items in (train, dev))
    crf = CRF(c1=0.02, c2=0.02, max_iterations=30, all_possible_transitions=True)
    return crf.fit(X, [item.tags for item in train]).predict(new)


def without_shapes(train, dev):
    return by_sklearn_crfsuite(train, dev, WORDS_AND_SHAPES[:1])


RIGHT = {1: shape_of, 2: Around, 3: Form, 4: by_sklearn_crfsuite}
WRONG = {
    1: [str.upper, lambda word: "x" * len(word), lambda word: shape_of(word).replace("'", "")],
    2: [OneSide, ContextWords],
    3: [Nothing],
    4: [without_shapes, lambda train, dev: by_sklearn_crfsuite(train[:20], dev)],
}
