# %% [markdown]
# # Lesson 4: word vectors
#
# Annotated notes are few, for somebody has to mark every name in them. Notes without marks are many. A network starts
# with a random vector for each word of its few annotated notes, and knows nothing of all other words.
#
# Can text without any marks teach it which words are alike, and does that help?
#
# You need lesson 3. This lesson follows sections 3.1 and 3.7 of Yadav et al. (2016), with Table 4; the language model
# is that of Mikolov et al. (2010), the bag of words that of Mikolov et al. (2013).
#
# - **Objectives:** learn word vectors from text without marks in three ways; judge whether they help a tagger.
# - **Difficulty:** medium.
# - **Time:** 25 minutes to read and run, 30 for the exercises.

# %%
import itertools
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
from exercise import exercise

import crfdeid
from crfdeid.bio import encode
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.evaluation import count_tags
from experiments.papers.yadav2016 import TABLE_4
from rnn.embeddings import (
    CbowSettings,
    RnnlmSettings,
    WordVectors,
    nearest,
    out_of_vocabulary,
    random_vectors,
    train_cbow,
)
from rnn.embeddings.rnnlm import train_language_model
from rnn.vocab import zero_digits

# %% [markdown]
# ## A word by its company
#
# Words that keep the same company are alike: "daily" and "bid" both follow a dose. So let us count, for the most
# frequent words of 120 notes without marks, which words are within two places of them. Every digit is read as 0, by
# `zero_digits`, so that all dates look alike.

# %%
unlabelled = [[zero_digits(w) for w in s.words] for note in generate_notes(120, seed=2) for s in note.sentences()]
frequency = Counter(word for sentence in unlabelled for word in sentence)
words = [word for word, _ in frequency.most_common(600)]
place = {word: i for i, word in enumerate(words)}

counts = np.zeros((len(words), len(words)))
for sentence in unlabelled:
    for t, word in enumerate(sentence):
        for other in sentence[max(t - 2, 0) : t] + sentence[t + 1 : t + 3]:
            if word in place and other in place:
                counts[place[word], place[other]] += 1
print(f"{len(unlabelled)} sentences, {sum(frequency.values())} words, {len(frequency)} different ones")

# %% [markdown]
# Each row of the table is a vector. Two words are near each other when their vectors point the same way: when their
# cosine is large. By hand, and from the library, which calls the words with the largest cosine the nearest.

# %%
one, other = counts[place["daily"]], counts[place["bid"]]
cosine_by_hand = one @ other / (np.linalg.norm(one) * np.linalg.norm(other))
by_company = WordVectors(tuple(words), counts.astype(np.float32))
from_library = dict(nearest(by_company, "daily", k=len(words)))["bid"]
print(f"daily and bid: {cosine_by_hand:.4f}")
assert np.isclose(cosine_by_hand, from_library)

# %% [markdown]
# Such vectors are long, and ruled by the words that are near everything. (Exercise 2 weighs the counts, so that
# common company counts for less.) The two kinds of vectors in the paper are short, and are learned.
#
# ## RNNLM: by foretelling the next word
#
# A recurrent language model is Elman's network of lesson 3 with another task: it reads a text word by word, and gives
# every word the probability of being the next.
#
#     s(t) = f(U w(t) + W s(t-1))     w(t) is the word read: a column of U
#     y(t) = g(V s(t))                the probability of each word to come next
#
# To foretell well it must treat words alike that are followed by the same words. So a word's vector is its column of U.
# How well it does is the perplexity of a text that it has not read: as if it had to choose, for each word, among so
# many that are all as likely. By hand, then from the library (which has the vectors in the rows of its U):

# %%
SIZE = 20
held_out = unlabelled[-60:]
model = train_language_model(unlabelled[:-60], RnnlmSettings(dim=SIZE, epochs=4, min_count=3))
U, W, V = (np.array(weights, float) for weights in model.weights)
number = {word: i for i, word in enumerate(model.words)}
readable = [sentence for sentence in held_out if all(word in number for word in sentence)]

text = [0] + [i for sentence in readable for i in [*map(number.__getitem__, sentence), 0]]  # 0 between sentences
state, surprise = np.zeros(SIZE), 0.0
for read, following in itertools.pairwise(text):
    state = 1 / (1 + np.exp(-(U[read] + W @ state)))
    likely = np.exp(V @ state)
    surprise -= np.log(likely[following] / likely.sum())
perplexity = np.exp(surprise / (len(text) - 1))
print(f"perplexity {perplexity:.1f} among {len(model.words)} words")
assert np.isclose(perplexity, model.perplexity(readable), rtol=1e-3)
assert perplexity < len(model.words)

# %% [markdown]
# ## CBOW: by filling a gap
#
# The continuous bag of words has no memory and no order: it guesses a word from the mean of the vectors of the words
# around it, and learns these vectors so that the guesses are good.
#
# Here are the nearest words of a few, by all three.

# %%
cbow = train_cbow(unlabelled, CbowSettings(dim=SIZE, epochs=15, min_count=3))
kinds = {"company": by_company, "rnnlm": model.vectors(), "cbow": cbow}
for word in ("daily", "wife", "May", "Hospital"):
    for kind, vectors in kinds.items():
        print(f"{word:10}{kind:9}", ", ".join(near for near, _ in nearest(vectors, word, k=6)))

# %% [markdown]
# A picture of vectors of size 20 needs only two directions of them: those in which the chosen words differ most (their
# first two principal components).

# %%
groups = {
    "months": "January February March April June July August September October November December",
    "kin": "wife husband daughter son mother father sister brother",
    "doses": "mg mcg daily bid tid qd gm",
    "body": "chest abdomen knee hip shoulder wrist ankle",
}
chosen = [(w, group) for group, listed in groups.items() for w in listed.split() if w in cbow.words]
table = np.array([cbow.table[cbow.words.index(word)] for word, _ in chosen])
table = table / np.linalg.norm(table, axis=1, keepdims=True)
centred = table - table.mean(axis=0, keepdims=True)
_, _, directions = np.linalg.svd(centred, full_matrices=False)
x, y = (centred @ directions[:2].T).T

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for colour, group in enumerate(groups):
    for i, (word, of) in enumerate(chosen):
        if of == group:
            axes.plot(x[i], y[i], "o", color=f"C{colour}")
            axes.annotate(word, (x[i], y[i]), xytext=(4, 2), textcoords="offset points", color=f"C{colour}", size=8)
axes.set(title="CBOW's vectors in two directions", xticks=[], yticks=[])
plt.show()

cosines = table @ table.T
pairs = list(itertools.combinations(range(len(chosen)), 2))
within = np.mean([cosines[i, j] for i, j in pairs if chosen[i][1] == chosen[j][1]])
between = np.mean([cosines[i, j] for i, j in pairs if chosen[i][1] != chosen[j][1]])
print(f"mean cosine of two words of one group {within:.2f}, of two groups {between:.2f}")
assert within > between

# %% [markdown]
# ## Do they help?
#
# Vectors can help in two ways. The words of the few annotated notes start in good places. And words that are in no
# annotated note at all have a vector that says something. How many words of new notes is that? All three kinds get the
# words that both kinds of learned vectors have, so that they differ in nothing but the numbers.

# %%
train = [item for note in generate_notes(20, seed=0) for item in encode(note).sentences]
dev = [item for note in generate_notes(25, seed=1) for item in encode(note).sentences]
both = [word for word in cbow.words if word in number]


def only(vectors, words):
    rows = {word: row for row, word in enumerate(vectors.words)}
    return WordVectors(tuple(words), vectors.table[[rows[word] for word in words]])


sources = {"random": random_vectors(both, dim=SIZE), "rnnlm": only(model.vectors(), both), "cbow": only(cbow, both)}
annotated = sorted({zero_digits(word) for item in train for word in item.sentence.words})
new_words = Counter(word for item in dev for word in item.sentence.words)
missing = {
    "annotated notes": out_of_vocabulary(new_words, random_vectors(annotated))["tokens"],
    "notes without marks": out_of_vocabulary(new_words, sources["cbow"])["tokens"],
}
for name, share in missing.items():
    print(f"{share:.1%} of the words of new notes are not among those of the {name}")
assert missing["notes without marks"] < missing["annotated notes"]

# %% [markdown]
# Now Elman's network with random vectors and with both kinds of learned ones, as in Table 4 of the paper: on only 20
# annotated notes, and with three seeds each, since one number alone says little (lesson 5).

# %%
SETTINGS = {"window": 5, "embedding_dim": SIZE, "hidden": 30, "epochs": 12, "lr": 0.1}
scores = {}
for name, vectors in sources.items():
    taggers = [crfdeid.create("elman", seed=seed, overrides=SETTINGS, vectors=vectors) for seed in range(3)]
    type(taggers[0]).fit_many(taggers, train, [])  # the last epoch counts: the new notes choose nothing
    found = [tagger.predict([item.sentence for item in dev]) for tagger in taggers]
    scores[name] = [100 * count_tags([item.tags for item in dev], tags).micro.f1 for tags in found]

print(f"{'vectors':10}{'F, by seed':24}{'mean':>6}   Table 4 (other notes, other sizes)")
for name, values in scores.items():
    size, printed = TABLE_4[name]
    by_seed = " ".join(f"{value:.1f}" for value in values)
    print(f"{name:10}{by_seed:24}{np.mean(values):6.1f}   {printed.f1:.2f} with vectors of size {size}")
means = [np.mean(values) for values in scores.values()]
print(f"The means lie {max(means) - min(means):.1f} apart, the seeds of one kind up to", end=" ")
print(f"{max(max(values) - min(values) for values in scores.values()):.1f}.")

# %%
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for i, values in enumerate(scores.values()):
    axes.plot([i] * len(values), values, "o", color=f"C{i}")
    axes.hlines(np.mean(values), i - 0.2, i + 0.2, color=f"C{i}")
axes.set(title="Elman on 20 notes, three seeds each", ylabel="F, per cent", xlim=(-0.5, 2.5))
axes.set_xticks(range(len(scores)), list(scores))
plt.show()

# %% [markdown]
# Look at the dots before you believe the lines. Where the dots of two kinds overlap, other seeds could have told
# another story. In the paper the order is random, RNNLM, CBOW. It prints one number a kind, of vectors of three
# different sizes, trained on news: what in its Table 4 is due to the kind, and what to the size, the table does not
# tell. If your dots do not show that order, think of what is different here: vectors from little text, notes with
# invented names, and a network that changes the vectors in training anyway.
#
# ## What to remember
#
# - A word's vector is made from its company, so words that are used alike get vectors that are alike.
# - More words of new notes have a vector where it comes from text without marks. Whether that helps has to be measured,
#   with several seeds, on notes like those that you have.
# - Vectors trained on notes hold the words of these notes. They are as confidential as the notes are.
#
# ## Exercises
#
# ### Exercise 1: the cosine
#
# Write the cosine of two vectors. The cosine with a vector of zeros is 0.
#
# <details><summary>Hint 1</summary>The cosine is the dot product over the product of the lengths.</details>
#
# <details><summary>Hint 2</summary>Test for a length of 0 before you divide.</details>


# %%
def cosine(one, other):
    raise NotImplementedError


def check_1(answer):
    for a, b, expected in (
        ([1, 0], [3, 4], 0.6),
        ([1, 2], [-2, -4], -1.0),
        ([2, 0], [0, 5], 0.0),
        ([0, 0], [1, 1], 0.0),
    ):
        with np.errstate(all="ignore"):
            found = answer(np.array(a, float), np.array(b, float))
        assert np.isclose(found, expected), f"of {a} and {b} it is {expected}, not {found}"


exercise(check_1, cosine)

# %% [markdown]
# ### Exercise 2: company that tells something
#
# "of" is near everything, so it says little about a word. The positive pointwise mutual information compares how
# often two words are near each other with how often they would by chance:
#
#     PPMI(i, j) = max(0, log(p(i, j) / (p(i) p(j))))
#
# with p(i, j) the share of count (i, j) in all counts, p(i) the share of row i, p(j) the share of column j; and 0 where
# the count is 0. Write a function that gives it for a whole table of counts. Then look at the nearest words once more:
# `nearest(WordVectors(tuple(words), ppmi(counts).astype(np.float32)), "daily")`.
#
# <details><summary>Hint 1</summary>Sums over rows and columns give p(i) and p(j); <code>keepdims=True</code> keeps
# the shapes for the division.</details>
#
# <details><summary>Hint 2</summary><code>np.where</code> gives 0 where the count is 0, and <code>np.maximum</code>
# the positive part.</details>


# %%
def ppmi(counts):
    raise NotImplementedError


def check_2(answer):
    small = np.array([[0, 4, 1], [4, 0, 2], [1, 2, 6]], float)
    with np.errstate(all="ignore"):
        found = np.asarray(answer(small))
    assert found.shape == small.shape, f"it should be a table of shape {small.shape}, not {found.shape}"
    total = small.sum()
    for i in range(3):
        for j in range(3):
            chance = small[i].sum() * small[:, j].sum() / total
            expected = np.log(max(small[i, j] / chance, 1))
            assert np.isclose(found[i, j], expected), f"at {i}, {j} it is {expected:.4f}, not {found[i, j]}"


exercise(check_2, ppmi)

# %% [markdown]
# ### Exercise 3: words without a vector
#
# Write a function that gives the share of the words of a text that have no vector, every occurrence counted. Mind that
# the vectors' words are folded: "14" is known where "00" is.
#
# <details><summary>Hint 1</summary>Fold each word first, by <code>zero_digits</code>.</details>
#
# <details><summary>Hint 2</summary>Count the words whose folded form is not known, and divide by the number of
# words.</details>


# %%
def share_unknown(text, known_words):
    raise NotImplementedError


def check_3(answer):
    found = answer(["seen", "14", "times", "seen"], {"seen", "00"})
    assert found == 0.25, f"of 'seen 14 times seen', where seen and 00 are known, it is 0.25, not {found}"
    text = [word for item in dev for word in item.sentence.words]
    expected = out_of_vocabulary(new_words, sources["cbow"])["tokens"]
    found = answer(text, set(both))
    assert np.isclose(found, expected), f"of the new notes it is {expected:.4f}, not {found}"


exercise(check_3, share_unknown)
