"""Lesson 1: a right answer to each exercise, and wrong ones."""

from features import ContextWords, Extractor


def shape_of(word):
    return "".join("X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c for c in word)


class Around(Extractor):
    def columns(self, sentence):
        row = ["<s>", *sentence.words, "</s>"]
        return [(("around=",), [f"{row[i]}|{row[i + 2]}" for i in range(len(sentence.words))])]

    def describe(self):
        return "the words before and after, together"


class OneSide(Around):
    def columns(self, sentence):
        words = sentence.words
        return [(("around=",), [f"{before}|" for before in ("<s>", *words[:-1])])]


class FormAndTitle(Extractor):
    """How the words around are written, and whether a title stands before."""

    def columns(self, sentence):
        row = ["<s>"] * 2 + [shape_of(word) for word in sentence.words] + ["</s>"] * 2
        count = len(sentence.words)
        runs = ["".join(row[i + 1 : i + 4]) for i in range(count)]
        return [(("form[-2]=", "form[-1]=", "form[0]=", "form[1]=", "form[2]="), row), (("run=",), runs)]

    def describe(self):
        return "how words are written"


class Nothing(Around):
    def columns(self, sentence):
        return [(("same=",), ["1"] * len(sentence.words))]


RIGHT = {1: shape_of, 2: Around, 3: FormAndTitle}
WRONG = {
    1: [str.upper, lambda word: "x" * len(word), lambda word: shape_of(word).replace("'", "")],
    2: [OneSide, ContextWords],
    3: [Nothing],
}
