# %% [markdown]
# # Lesson 1: from text to features
#
# A doctor can be called Brown, and sputum can be brown. A reader tells the two apart without thinking. A program that
# tags words sees neither letters nor meaning: it sees what we show it.
#
# What do we have to show a program so that it can tell the doctor from the colour?
#
# You need Python, and nothing about machine learning. The lesson follows sections 2 and 3.8 of Yadav et al. (2016),
# *Deep Learning Architecture for Patient Data De-identification in Clinical Records*.
#
# - **Objectives:** cut a text into tokens and tags; write feature extractors; measure what a feature earns.
# - **Difficulty:** easy.
# - **Time:** 20 minutes to read and run, 30 for the exercises.

# %%
import re
from collections import Counter

import matplotlib.pyplot as plt
from exercise import exercise
from sklearn_crfsuite import CRF

import crfdeid
from crfdeid.bio import decode, encode
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.evaluation import count_tags
from features import (
    Affixes,
    Column,
    ContextWords,
    Extractor,
    FeatureSet,
    NGrams,
    PosFeatures,
    Sentence,
    Shapes,
    TextBlobTagger,
    add_feature_set,
    to_dicts,
    tokenize,
)
from features.columns import WordColumn

# %% [markdown]
# ## Tokens
#
# A note is one long text. We cut it into tokens: a run of letters, a run of digits, or one other character that can be
# seen. One regular expression says just that.

# %%
text = "Seen by Dr. Brown on 03/14/72: brown sputum."
by_hand = re.findall(r"[^\W\d_]+|\d+|[^\w\s]|_", text)
print(by_hand)

# %% [markdown]
# The library cuts this text in the same way (it also parts words typed together, as in "SmithPhone"). And it knows
# the place of each token, so that every find can be traced back to its place in the note. That is more important
# than it looks: a name that is found, but hidden one letter too far to the right, is still there to read.

# %%
tokens = tokenize(text)
assert [token.text for token in tokens] == by_hand
for token in tokens[:5]:
    print(token, "->", text[token.start : token.end])

# %% [markdown]
# ## Tags
#
# What is to be found is marked by spans: a start, an end, a label. A model gives one answer a token, so spans become
# tags, as in Table 1 of the paper: `B-` begins an entity, `I-` continues it, `O` is outside of all. From the tags we
# get the spans back; nothing is lost where each span begins and ends at the edge of a token.

# %%
start = text.index("Brown")
day = text.index("03")
note = crfdeid.Document("note", text, (crfdeid.Span(start, start + 5, "DOCTOR"), crfdeid.Span(day, day + 8, "DATE")))
(labelled,) = encode(note).sentences
for word, tag in zip(labelled.sentence.words, labelled.tags, strict=True):
    print(f"{word:8}{tag}")
assert decode(labelled.sentence, labelled.tags) == list(note.spans)

# %% [markdown]
# ## The words around a word
#
# A feature is a text that a token has or has not. `w[-1]=Dr` says that the word before the token is "Dr". Here are the
# features of a window of one word on each side, by hand. Where the window reaches beyond the sentence, `<s>` and `</s>`
# take the missing places.


# %%
def window_features(words):
    row = ["<s>", *words, "</s>"]
    return [[f"w[-1]={row[i]}", f"w[0]={row[i + 1]}", f"w[1]={row[i + 2]}"] for i in range(len(words))]


sentence = Sentence.from_words(["Seen", "by", "Dr", "Brown"])
print(window_features(sentence.words)[3])
assert window_features(sentence.words) == ContextWords(window=1).extract(sentence)

# %% [markdown]
# `ContextWords` is an extractor: a small object with a method `extract`, which takes a sentence and gives each token
# its list of features. It sees no tags, so it cannot give away what is to be found.
#
# The paper's features 1 and 2 are the words in a window of three, and the runs of one, two and three words (n-grams) in
# a window of two. Runs of two words, by hand:


# %%
def bigram_features(words):
    row = ["<s>", *words, "</s>"]
    return [[f"w[-1,0]={row[i]} {row[i + 1]}", f"w[0,1]={row[i + 1]} {row[i + 2]}"] for i in range(len(words))]


print(bigram_features(sentence.words)[3])
assert bigram_features(sentence.words) == NGrams(sizes=(2,), window=1).extract(sentence)

# %% [markdown]
# ## Parts of speech
#
# Features 3 to 5 of the paper come from another program, which says what kind of word each one is, and which words make
# a phrase. `NNP` is a proper noun, `JJ` an adjective, `NN` a common noun.

# %%
for phrase in (["Dr", ".", "Brown", "called"], ["brown", "sputum", "was", "seen"]):
    print([f"{word}/{tag.pos}" for word, tag in zip(phrase, TextBlobTagger().tag(phrase), strict=True)])

# %% [markdown]
# Such a program makes mistakes of its own: it was written for newspapers, and it has never seen a note. Its answers are
# worth showing to our model all the same, which will learn how far to trust them.
#
# ## What can a feature say about a new note?
#
# A model learns a weight for each feature that it sees in training. A feature that it meets for the first time in a new
# note has no weight, and says nothing. So let us count: of the features of new notes, which share did the training
# notes have? The notes are invented, and their PHI (protected health information) is marked.

# %%
train_notes = list(generate_notes(40, seed=0))
dev_notes = list(generate_notes(20, seed=1))
train = [item for one in train_notes for item in encode(one).sentences]
dev = [item for one in dev_notes for item in encode(one).sentences]
print(f"{len(train)} sentences to learn from, {len(dev)} to try it on")
print(Counter(span.label for one in train_notes for span in one.spans))

# %%
kinds = {
    "the word": ContextWords(window=0),
    "runs of 2 words": NGrams(sizes=(2,), window=1),
    "runs of 3 words": NGrams(sizes=(3,), window=2),
    "affixes": Affixes(longest=3),
    "shape": Shapes(window=0),
    "part of speech": PosFeatures(window=0),
}


def features_of(extractor, items):
    return [feature for item in items for row in extractor.extract(item.sentence) for feature in row]


distinct, known = {}, {}
for name, extractor in kinds.items():
    seen = set(features_of(extractor, train))
    new = features_of(extractor, dev)
    distinct[name] = len(seen)
    known[name] = sum(feature in seen for feature in new) / len(new)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
left.barh(list(distinct), list(distinct.values()), color="tab:blue")
left.set(title="different features in the training notes", xlabel="features")
right.barh(list(known), [100 * share for share in known.values()], color="tab:green")
right.set(title="features of new notes that training had", xlabel="per cent", xlim=(0, 100))
left.invert_yaxis()
plt.show()
assert known["runs of 3 words"] < known["runs of 2 words"] < known["the word"] < known["affixes"]

# %% [markdown]
# The longer the run of words, the more it says where it is known, and the less often it is known. Affixes (the first
# and last letters of a word) and shapes say less about a word, but they say it also about words that no note had,
# and a name in a new note may well be one of these.
#
# ## What a feature earns
#
# The proof is in the notes. We train a conditional random field (CRF, the subject of lesson 2) on some features, and
# count the entities that it finds in the new notes. `count_tags` counts one as found when its type and both its ends
# are right. tp are the right ones, fp false alarms, fn what was missed.


# %%
def earned(*extractors):
    add_feature_set(FeatureSet("mine", extractors))
    tagger = crfdeid.create("crf", overrides={"features": "mine", "max_iterations": 30})
    tagger.fit(train, [])
    found = tagger.predict([item.sentence for item in dev])
    return count_tags([item.tags for item in dev], found).micro


words = ContextWords(window=1)
words_alone = earned(words)
words_and_shapes = earned(words, Shapes(window=1))
for name, counts in (("words", words_alone), ("words, shapes", words_and_shapes)):
    print(f"{name:15} recall {counts.recall:.1%}  precision {counts.precision:.1%}  F {counts.f1:.1%}  {counts}")
assert words_and_shapes.recall > words_alone.recall

# %% [markdown]
# Shapes find numbers and names that were in no training note, so recall rises.
#
# ## An extractor of your own
#
# An extractor is a class. `describe` says in a line what it gives. Features that one word alone decides come from
# `word_columns`: for each kind, how the features begin, with the place of the word (0 for the token itself, -1 for the
# word before it), and a function that gives from the word how they go on. Here is one for the length of a word.


# %%
class WordLength(Extractor):
    """The number of letters of a word, up to 10."""

    def word_columns(self):
        return [WordColumn(((0, "length="),), lambda word: str(min(len(word), 10)))]

    def describe(self):
        return "the length of the word"


print(WordLength().extract(sentence))
words_and_length = earned(words, WordLength())
print(f"words, length: F {words_and_length.f1:.1%}, where words alone have {words_alone.f1:.1%}")

# %% [markdown]
# Features that need more than one word come from `columns`, for many sentences at a time: how the features begin, and
# how they continue, one value a token, one sentence after the other. `None` is no feature. Here is one for the
# number of words that are left in the sentence.


# %%
class WordsLeft(Extractor):
    """How many words follow in the sentence, up to 5."""

    def columns(self, batch):
        values = [str(min(left, 5)) for words in batch.words for left in reversed(range(len(words)))]
        return [Column(("left=",), values)]

    def describe(self):
        return "how many words follow"


print(WordsLeft().extract(sentence))

# %% [markdown]
# ## What to remember
#
# - A model sees features, and nothing else. What the features do not say, it cannot know.
# - A feature that says much is seldom seen again; one that is often seen says little. Good sets have both.
# - A feature is worth what it earns on notes that the model has not learned from.
#
# ## Exercises
#
# Put your answer where `NotImplementedError` is raised, and run the cell. A wrong answer stops with a hint.
#
# ### Exercise 1: the shape of a word
#
# Write a function that replaces each capital letter by `X`, each other letter by `x`, each digit by `9`, and leaves
# everything else as it is.
#
# <details><summary>Hint 1</summary>A string has methods that tell letters, digits and capitals apart:
# <code>isupper</code>, <code>isalpha</code>, <code>isdigit</code>.</details>
#
# <details><summary>Hint 2</summary>Write the answer for one character with three conditions, then join the answers of
# all characters.</details>


# %%
def shape_of(word):
    raise NotImplementedError


def check_1(answer):
    for word, shape in {"Brown": "Xxxxx", "03": "99", "A1c": "X9x", "O'Neil": "X'Xxxx", "Múgica": "Xxxxxx"}.items():
        assert answer(word) == shape, f"the shape of {word} is {shape}, not {answer(word)}"


exercise(check_1, shape_of)

# %% [markdown]
# ### Exercise 2: both neighbours at once
#
# Write an extractor `Around` whose one feature joins the word before and the word after a token: in "Seen by Dr", the
# token "by" has `around=Seen|Dr`. At the ends of a sentence, the missing words are `<s>` and `</s>`.
#
# <details><summary>Hint 1</summary>Look at how <code>WordsLeft</code> above gets the words of a batch, and return one
# <code>Column</code>.</details>
#
# <details><summary>Hint 2</summary>Put <code>&lt;s&gt;</code> before the words of each sentence and
# <code>&lt;/s&gt;</code> after them. The neighbours of word i are then at i and i + 2.</details>


# %%
class Around(Extractor):
    """The words on both sides of a token, as one feature."""

    def columns(self, batch):
        raise NotImplementedError

    def describe(self):
        return "the words before and after, together"


def check_2(answer):
    for given, expected in (
        (["Seen", "by", "Dr"], [["around=<s>|by"], ["around=Seen|Dr"], ["around=by|</s>"]]),
        (["Stable"], [["around=<s>|</s>"]]),
    ):
        found = answer().extract(Sentence.from_words(given))
        assert found == expected, f"for {given} it should give {expected}, not {found}"


exercise(check_2, Around)

# %% [markdown]
# ### Exercise 3: earn something
#
# Write an extractor with which the CRF on words alone finds at least 20 entities more in the new notes than without it.
# Look at what is missed first: which words are they, and what do you see in them that `ContextWords(window=1)` does not
# show? Use `word_columns`, `columns` or both, and write it yourself: the library has extractors that would do.
#
# <details><summary>Hint 1</summary>Print the missed entities and their sentences. Many are numbers in parts, or names
# in a place with a typical form.</details>
#
# <details><summary>Hint 2</summary>Which letters a word ends with, whether it has digits or capitals, and words that
# are two places away all help.</details>
#
# <details><summary>Hint 3</summary>Let <code>word_columns</code> give one column: the shape of exercise 1.</details>


# %%
class Mine(Extractor):
    """What you think would help."""

    def word_columns(self):
        raise NotImplementedError

    def describe(self):
        return "what I think would help"


def check_3(answer):
    more = earned(words, answer()).tp - words_alone.tp
    assert more >= 20, f"{more} entities more are found: look at what is still missed, and show the model more of it"


exercise(check_3, Mine)

# %% [markdown]
# ### Exercise 4: the recipe of the tutorials
#
# Most tutorials train a CRF by sklearn-crfsuite. Its `CRF` knows no extractors: each token is a dict of features that
# you write by hand. `to_dicts` makes such dicts from our extractors.

# %%
print(to_dicts([sentence], [words])[0][3])
crf = CRF(c1=0.02, c2=0.02, max_iterations=30, all_possible_transitions=True)  # as in `earned`

# %% [markdown]
# Write a function that trains this CRF on words and shapes (`[words, Shapes(window=1)]`), by `crf.fit(X, y)`, and gives
# its tags for the new notes, by `crf.predict(X)`. `X` has the dicts of each sentence, `y` its tags. It should find the
# same entities as our CRF did.
#
# <details><summary>Hint 1</summary>Make the dicts of all sentences with one call of <code>to_dicts</code>: for
# <code>train</code> to fit, for <code>dev</code> to predict.</details>
#
# <details><summary>Hint 2</summary><code>item.sentence</code> and <code>item.tags</code> are what <code>X</code> and
# <code>y</code> need.</details>


# %%
def by_sklearn_crfsuite(train, dev):
    raise NotImplementedError


def check_4(answer):
    counts = count_tags([item.tags for item in dev], answer(train, dev)).micro
    assert counts == words_and_shapes, f"{counts}, where ours has {words_and_shapes}: are features and tags the same?"


exercise(check_4, by_sklearn_crfsuite)
