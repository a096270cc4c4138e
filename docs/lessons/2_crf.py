# %% [markdown]
# # Lesson 2: a conditional random field by hand
#
# In "Seen by Ann Quill" two words are one name. A model that judges each word by itself may find two names, or the
# second half of a name without the first. A conditional random field (CRF) judges whole sequences of tags.
#
# With three tags, a sentence of four words has 81 sequences of tags, and one of forty words has more than anybody can
# count through. How does a CRF find the best of them, and how sure is it?
#
# You need Python, NumPy, and what a logarithm is. The lesson follows equations 2 to 4 of Yadav et al. (2016), and
# Lafferty et al. (2001), *Conditional Random Fields*, section 3.
#
# - **Objectives:** compute the best sequence of tags, and the probability of every tag, by dynamic programming; check
#   both against all sequences.
# - **Difficulty:** medium.
# - **Time:** 25 minutes to read and run, 30 for the exercises.

# %%
import itertools

import matplotlib.pyplot as plt
import numpy as np
from exercise import exercise

import crfdeid
from crfdeid.bio import encode
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.crf.decoding import best_paths, chain_marginals, log_messages
from features import split_sentences

# %% [markdown]
# ## Scores
#
# A CRF gives each tag at each word a number: the sum of the weights of the word's features for this tag. And it gives
# each step from one tag to the next a number. Here are both, made up: a row of `E` for each word, a row of `A` for the
# tag before, a column for the tag after.

# %%
words = ["Seen", "by", "Ann", "Quill"]
tags = ["O", "B-DOCTOR", "I-DOCTOR"]
E = np.array([[2.0, -1.0, -1.0], [2.0, -1.0, -1.0], [0.5, 1.0, 0.0], [0.2, 0.9, 0.4]])  # [T, K]
A = np.array([[0.5, 0.2, -4.0], [0.0, -1.0, 1.5], [0.3, -1.0, 0.5]])  # [K, K]
T, K = E.shape

# %% [markdown]
# The score of a sequence of tags (a path) is the sum of what it meets on its way. Its potential is `exp` of that: the
# product in equation 2 is a sum here, since we stay with the logarithms.


# %%
def score(path, E, A):
    return sum(E[t, k] for t, k in enumerate(path)) + sum(A[a, b] for a, b in itertools.pairwise(path))


paths = list(itertools.product(range(K), repeat=T))
scores = np.array([score(path, E, A) for path in paths])
Z = np.exp(scores).sum()
probabilities = np.exp(scores) / Z  # equation 2
print(f"{len(paths)} paths, probabilities that sum to {probabilities.sum():.6f}")

# %%
order = np.argsort(-probabilities)[:8]
names = [" ".join(tags[k].replace("-DOCTOR", "") for k in paths[i]) for i in order]
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.barh(names, 100 * probabilities[order], color="tab:blue")
axes.set(title="the eight most probable paths of Seen by Ann Quill", xlabel="per cent")
axes.invert_yaxis()
plt.show()

# %% [markdown]
# Look at the last word. By itself, `E` prefers `B-DOCTOR` for it. But a step from `B` to `I` is worth more than one
# from `B` to `B`, and so the best path makes one name of both words.

# %%
alone = E.argmax(axis=1)
together = paths[order[0]]
print("each word by itself:", [tags[k] for k in alone])
print("the best path:      ", [tags[k] for k in together])
assert tags[alone[3]] == "B-DOCTOR"
assert tags[together[3]] == "I-DOCTOR"

# %% [markdown]
# ## All paths without counting through them
#
# The number of paths is K to the power of T. But paths share their beginnings: what a path gains after word t depends
# on its tag at t, and not on how it came there. So one number for each word and tag is enough, the forward message: the
# logarithm of the summed potentials of all ways from the beginning to this tag, without the word's own score. Each
# message is computed from those of the word before. The backward message is the same from the other end.


# %%
def log_sum_exp(values):
    return np.log(np.exp(values).sum())


def messages(E, A):
    forward, backward = np.zeros_like(E), np.zeros_like(E)  # [T, K]
    for t in range(1, len(E)):
        for k in range(len(A)):
            forward[t, k] = log_sum_exp(forward[t - 1] + E[t - 1] + A[:, k])
    for t in range(len(E) - 2, -1, -1):
        for k in range(len(A)):
            backward[t, k] = log_sum_exp(backward[t + 1] + E[t + 1] + A[k, :])
    return forward, backward


def log_Z(E, A):
    forward, _ = messages(E, A)
    return log_sum_exp(forward[-1] + E[-1])


print(f"by all paths {np.log(Z):.12f}, by messages {log_Z(E, A):.12f}")
assert np.isclose(np.log(Z), log_Z(E, A))
for length in (4, 20, 40):
    print(f"{length} words: {K**length:.2g} paths, {length * K**2} sums for the messages")

# %% [markdown]
# ## How sure is it?
#
# The probability that word t has tag k is the share of all paths through that place: forward message, the word's own
# score and backward message together.


# %%
def tag_probabilities(E, A):
    forward, backward = messages(E, A)
    return np.exp(forward + E + backward - log_Z(E, A))


P = tag_probabilities(E, A)
brute = np.zeros((T, K))
for path, p in zip(paths, probabilities, strict=True):
    brute[range(T), path] += p
print(P.round(3))
assert np.allclose(P, brute)

# %% [markdown]
# The same numbers from the library, which takes the scores of many sentences one below the other, and the length of
# each:

# %%
(from_library,) = chain_marginals(E, [T], A)
assert np.allclose(P, from_library)
assert np.allclose(messages(E, A), log_messages(E, A))

# %% [markdown]
# ## The best path
#
# Viterbi's algorithm is the forward pass with a maximum in the place of the sum. At each word it remembers, for each
# tag, from which tag the best way came; then it goes back from the best tag at the end.


# %%
def viterbi(E, A):
    best, came_from = E[0], []
    for t in range(1, len(E)):
        through = best[:, None] + A + E[t][None, :]  # [from, to]
        came_from.append(through.argmax(axis=0))
        best = through.max(axis=0)
    path = [int(best.argmax())]
    for row in reversed(came_from):
        path.append(int(row[path[-1]]))
    return path[::-1]


print([tags[k] for k in viterbi(E, A)])
assert tuple(viterbi(E, A)) == paths[scores.argmax()]
assert viterbi(E, A) == best_paths(E, [T], A)[0].tolist()

# %% [markdown]
# ## A CRF that has learned its scores
#
# Now the numbers are learned from 30 invented notes. Training looks for the weights that make the right paths most
# probable (and not too large: the penalties `c1` and `c2`). What it learned of the steps between tags can be looked at.

# %%
train = [item for note in generate_notes(30, seed=0) for item in encode(note).sentences]
tagger = crfdeid.create("crf", overrides={"max_iterations": 30})
tagger.fit(train, [])
learned = tagger.learned
largest = np.abs(learned.transitions).max()
figure, axes = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
image = axes.imshow(learned.transitions, cmap="RdBu", vmin=-largest, vmax=largest)
axes.set_xticks(range(len(learned.tags)), learned.tags, rotation=90)
axes.set_yticks(range(len(learned.tags)), learned.tags)
axes.set(title="weight of each step", xlabel="tag after", ylabel="tag before")
figure.colorbar(image)
plt.show()

# %% [markdown]
# Blue steps are welcome, red ones are not. Each `B` is followed gladly by its own `I`, and `O` is followed by no `I` at
# all. Nobody told the CRF so: it is what the notes are like.

# %%
place = {tag: k for k, tag in enumerate(learned.tags)}
for label in sorted({tag[2:] for tag in learned.tags if tag != "O"}):
    into = learned.transitions[:, place[f"I-{label}"]]
    assert into[place[f"B-{label}"]] > 0 > into[place["O"]]

# %% [markdown]
# The score of a tag at a word is a sum of weights, one for each feature that the word has and training knew (equation
# 3). By hand, for a new sentence; then the probabilities with our own functions, and from the library.

# %%
(sentence,) = split_sentences("Seen by Dr. Huntington on 03/14/72.")
weights = dict(zip(learned.names, learned.state, strict=True))  # feature -> its weight for each tag
scores_of_tags = np.zeros((len(sentence.tokens), len(learned.tags)))
for t, features in enumerate(tagger.features.extract(sentence)):
    for feature in features:
        if feature in weights:
            scores_of_tags[t] += weights[feature]

ours = tag_probabilities(scores_of_tags, learned.transitions)
(theirs,) = tagger.marginals([sentence])
assert np.allclose(ours, theirs)
for word, k, p in zip(sentence.words, viterbi(scores_of_tags, learned.transitions), ours, strict=True):
    print(f"{word:12}{learned.tags[k]:10}{p[k]:.3f}")

# %% [markdown]
# ## Why this word?
#
# The log-odds of two tags at a word fall apart without a rest: a part for each feature of the word, one for what the
# words before it say (forward messages), one for what the words after it say (backward messages). That is what makes a
# CRF so easy to question.

# %%
HUNTINGTON = sentence.words.index("Huntington")
why = crfdeid.explain_prediction(tagger, sentence, HUNTINGTON)
forward, backward = messages(scores_of_tags, learned.transitions)
a, b = place[why.tag], place[why.contrast_tag]
parts = [table[HUNTINGTON, a] - table[HUNTINGTON, b] for table in (scores_of_tags, forward, backward)]
print(f"{why.tag} against {why.contrast_tag}: features {parts[0]:.3f}, before {parts[1]:.3f}, after {parts[2]:.3f}")
assert np.isclose(sum(parts), why.log_odds)
assert np.allclose(parts[1:], [why.crf.before, why.crf.after])

# %%
terms = sorted(why.crf.features, key=lambda term: -abs(term.value))[:10][::-1]
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
colours = ["tab:blue" if term.value > 0 else "tab:red" for term in terms]
axes.barh([term.name for term in terms], [term.value for term in terms], color=colours)
axes.set(title=f"Huntington: what speaks for {why.tag}, and not {why.contrast_tag}", xlabel="log-odds")
plt.show()

# %% [markdown]
# ## What to remember
#
# - A CRF scores whole sequences of tags. Its probabilities are exact.
# - Forward and backward messages sum over all paths in a time that grows with the length of the sentence, and not with
#   the number of paths. Viterbi does the same with a maximum.
# - Every decision of a CRF is a sum that one can read.
#
# ## Exercises
#
# ### Exercise 1: large numbers
#
# `exp(1000)` is more than a computer's number can hold, so our `log_sum_exp` fails on the scores of a long sentence.
# Write one that does not: the result does not change if you take the largest value out first and add it at the end.
#
# <details><summary>Hint 1</summary>Call the largest value m. What is exp(v) / exp(m), and can it be too
# large?</details>
#
# <details><summary>Hint 2</summary>log(sum of exp(v)) = m + log(sum of exp(v - m)).</details>


# %%
def safe_log_sum_exp(values):
    raise NotImplementedError


def check_1(answer):
    with np.errstate(all="ignore"):
        for values, expected in (
            ([1000.0, 1000.0], 1000 + np.log(2)),
            ([-1000.0, -1001.0], -1000 + np.log1p(np.exp(-1))),
        ):
            found = answer(np.array(values))
            assert np.isclose(found, expected), f"of {values} it should be {expected:.4f}, not {found}"
        for row in E:
            assert np.isclose(answer(row), log_sum_exp(row)), f"of {row} it should be what log_sum_exp gives"


exercise(check_1, safe_log_sum_exp)

# %% [markdown]
# ### Exercise 2: two words at once
#
# Write a function that gives the probability that word t has tag a and word t + 1 has tag b. Use `messages` and
# `log_Z`. (The most probable tags of two words are not always the most probable pair.)
#
# <details><summary>Hint 1</summary>A path through a at t and b at t + 1 has three parts: what comes before, the step,
# and what comes after.</details>
#
# <details><summary>Hint 2</summary>Add in logarithms: the message before a, the
# scores of a and of b, the step between them, and the message after b. Then subtract <code>log_Z</code>.</details>


# %%
def pair_probability(E, A, t, a, b):
    raise NotImplementedError


def check_2(answer):
    for t in range(T - 1):
        for a, b in itertools.product(range(K), repeat=2):
            expected = sum(p for path, p in zip(paths, probabilities, strict=True) if path[t : t + 2] == (a, b))
            found = answer(E, A, t, a, b)
            assert np.isclose(found, expected), (
                f"{words[t]} {tags[a]}, {words[t + 1]} {tags[b]}: its paths have {expected:.4f}, not {found:.4f}"
            )


exercise(check_2, pair_probability)

# %% [markdown]
# ### Exercise 3: the gradient
#
# Training makes the right path more probable by small steps. Write a function that gives the derivative of the
# logarithm of a path's probability, `score(path, E, A) - log_Z(E, A)`, by each number of `E`, as an array [T, K]. It
# takes no more than `tag_probabilities` and a line or two. The check nudges each number of `E` and measures.
#
# <details><summary>Hint 1</summary>The score of a path grows by 1 with each of its own numbers in <code>E</code>, and
# by 0 with all others.</details>
#
# <details><summary>Hint 2</summary>The derivative of <code>log_Z</code> is the probability of each tag.</details>


# %%
def gradient(E, A, path):
    raise NotImplementedError


def check_3(answer):
    path, step = paths[order[1]], 1e-5
    found = np.asarray(answer(E, A, path))
    assert found.shape == E.shape, f"it should be an array of shape {E.shape}, not {found.shape}"
    for t, k in itertools.product(range(T), range(K)):
        nudged = [E.copy(), E.copy()]
        nudged[0][t, k] += step
        nudged[1][t, k] -= step
        up, down = (score(path, scores, A) - log_Z(scores, A) for scores in nudged)
        slope = (up - down) / (2 * step)
        assert np.isclose(found[t, k], slope, atol=1e-6), (
            f"{words[t]}, {tags[k]}: nudging this number gives {slope:.4f}, not {found[t, k]:.4f}"
        )


exercise(check_3, gradient)
