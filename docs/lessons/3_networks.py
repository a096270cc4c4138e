# %% [markdown]
# # Lesson 3: Elman's and Jordan's networks from their equations
#
# The CRF of lesson 2 needs features that somebody thought of. A recurrent network is given words alone, and finds its
# own. It also remembers: Elman's network remembers what it thought of the word before, Jordan's network what it said.
#
# What do these networks compute, how do they learn, and what is it that they remember?
#
# You need Python, NumPy, matrices times vectors, and what a derivative is. The lesson follows sections 3.2 to 3.6 of
# Yadav et al. (2016), equations 5 to 12.
#
# - **Objectives:** compute the forward pass and the training of Elman's and Jordan's networks; say what each one
#   remembers.
# - **Difficulty:** hard.
# - **Time:** 25 minutes to read and run, 60 for the exercises.

# %%
from itertools import product

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from exercise import exercise
from flax import nnx

import crfdeid
from crfdeid.bio import encode
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.evaluation import count_tags
from crfdeid.explain import explain_weights
from rnn import Elman, Jordan
from rnn.models.elman import context_windows
from rnn.network import Structure

# %% [markdown]
# ## The window
#
# A word is a vector: D numbers. At first they are drawn at random, training changes them. The network looks at a word
# together with its neighbours, whose vectors are put one after the other (equation 5). Beyond the ends of the sentence
# there is a vector for padding.

# %%
WORDS = ["Seen", "by", "Ann", "Quill"]
WINDOW, D, H, K = 3, 2, 3, 3  # words in a window, numbers a word, hidden units, tags
random = np.random.default_rng(0)
vectors = random.normal(size=(len(WORDS) + 2, D))  # [T + 2, D], padding first and last


def windows_of(vectors):
    return np.array([np.concatenate(vectors[t : t + WINDOW]) for t in range(len(vectors) - WINDOW + 1)])


windows = windows_of(vectors)  # [T, WINDOW * D]
print("the window of Ann:", windows[2].round(2))
assert np.allclose(windows, context_windows(jnp.asarray(vectors), WINDOW))

# %% [markdown]
# ## Elman's network, a forward pass by hand
#
# The hidden layer h has H units. Each of them mixes the window (by the matrix W) with all hidden units at the word
# before (by V), and squeezes the sum to a number from 0 to 1. The output layer mixes the hidden units (by U) and turns
# what comes out into probabilities of the tags.
#
#     h(t)    = f(W x(t) + V h(t-1) + b)     equation 7; x(t) is the window, h before the first word is 0
#     f(x)    = 1 / (1 + exp(-x))            equation 9
#     P(y(t)) = g(U h(t) + c)                equation 10
#     g(z)    = exp(z) / sum of exp(z)       equation 11


# %%
def f(x):
    return 1 / (1 + np.exp(-x))


def g(z):
    return np.exp(z) / np.exp(z).sum()


def elman(windows, W, V, b, U, c):
    hidden, posteriors = np.zeros(len(b)), []
    for x in windows:
        hidden = f(W @ x + V @ hidden + b)
        posteriors.append(g(U @ hidden + c))
    return np.array(posteriors)  # [T, K]


# %% [markdown]
# The same from the library. It makes a network with weights drawn at random; we copy them, compute by hand, and
# compare. (The library's network gives the scores before the softmax g. With a random key it would also leave hidden
# units out.)

# %%
network = Elman(window=WINDOW, dim=D, hidden=H, tags=K, rngs=nnx.Rngs(0))
layer = network.layers[0]
W, V, b, U, c = (np.array(weights[...], float) for weights in (layer.W, layer.V, layer.b, network.U, network.c))
by_hand = elman(windows, W, V, b, U, c)
from_library = jax.nn.softmax(network(jnp.asarray(windows)))
print(by_hand.round(3))
assert np.allclose(by_hand, from_library, atol=1e-6)

# %% [markdown]
# ## How it learns
#
# The loss is small when the right tags are probable: it is the sum of -log P(right tag) over the words. Which way must
# a weight go to make the loss smaller? Nudge it a little, and measure.

# %%
GOLD = [0, 0, 1, 2]  # O, O, B-DOCTOR, I-DOCTOR


def loss(W, V, b, U, c):
    posteriors = elman(windows, W, V, b, U, c)
    return -np.log(posteriors[range(len(GOLD)), GOLD]).sum()


step = 1e-5
nudged = V.copy()
nudged[0, 1] += step
slope = (loss(W, nudged, b, U, c) - loss(W, V, b, U, c)) / step
print(f"the loss is {loss(W, V, b, U, c):.4f}; its derivative by V[0, 1] is {slope:.5f}")

# %% [markdown]
# Two forward passes for one weight: with a million weights that takes too long. JAX finds the derivatives by all
# weights in one go, backward through the words (back-propagation through time), and gets the same number.

# %%
structure, params = Structure.split(network)


def library_loss(params):
    scores = structure.network(params)(jnp.asarray(windows))
    return -jax.nn.log_softmax(scores)[np.arange(len(GOLD)), np.array(GOLD)].sum()


gradient = jax.grad(library_loss)(params)
for name, values in gradient.items():
    print(name, values.shape)
assert np.isclose(slope, gradient["network.layers.0.V"][0, 1], rtol=1e-3)

# %% [markdown]
# Training takes a sentence, finds the gradient, and moves every weight a little against it; then the next sentence. The
# paper does just that (section 3.5), and drops half of the hidden units at random each time, so that none relies on
# another (section 3.6).
#
# ## Training on 50 notes
#
# Small networks, and sentences of up to 16 words, so that it does not take long. The first training of a kind waits for
# JAX to compile its programs.

# %%


def short_sentences(notes):
    return [item for note in notes for item in encode(note).sentences if len(item.tags) <= 16]


train, dev = short_sentences(generate_notes(50, seed=0)), short_sentences(generate_notes(25, seed=1))
settings = {"window": 5, "embedding_dim": 20, "hidden": 30, "epochs": 12, "lr": 0.1}
taggers, progress = {}, {}
for model in ("elman", "jordan"):
    taggers[model] = crfdeid.create(model, overrides=settings)
    progress[model] = []
    taggers[model].fit(train, dev, on_progress=progress[model].append)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
for model, steps in progress.items():
    left.plot([s.step for s in steps], [s.loss for s in steps], label=model)
    right.plot([s.step for s in steps], [100 * s.dev_f1 for s in steps], label=model)
left.set(title="loss on the training notes", xlabel="epoch", ylabel="nats a token")
right.set(title="F on new notes", xlabel="epoch", ylabel="per cent")
right.legend()
plt.show()
assert all(steps[-1].loss < steps[0].loss for steps in progress.values())

# %% [markdown]
# ## What the memory earns
#
# V is the memory. Let us take it away from the trained networks, by setting it to 0, and see what they find without it.


# %%
def f_score(tagger):
    found = tagger.predict([item.sentence for item in dev])
    return count_tags([item.tags for item in dev], found).micro.f1


def without_memory(tagger):
    other = type(tagger)(tagger.settings)
    params = {name: 0 * values if ".V" in name else values for name, values in tagger.learned.params.items()}
    other.learned = tagger.learned._replace(params=params)
    return other


with_V = {model: f_score(tagger) for model, tagger in taggers.items()}
without_V = {model: f_score(without_memory(tagger)) for model, tagger in taggers.items()}
for model in taggers:
    print(f"{model:8} F {with_V[model]:.1%}, without V {without_V[model]:.1%}")
assert without_V["elman"] < with_V["elman"]

# %% [markdown]
# (A network that had been trained without V would do better than one whose V is cut out afterwards: it would have
# learned to do without.)
#
# ## What Jordan's feedback carries
#
# Jordan's hidden layer is fed the probabilities that the network gave the tags of the word before:
#
#     h(t) = f(W x(t) + V P(y(t-1)) + b)     equation 12; P before the first word is 0
#
# So its memory can be read: each column of V belongs to a tag. A tag of the word before changes the hidden units by its
# column of V, and these change the scores of the tags by U. How much of a change gets through a hidden unit is the
# slope of f, which is f (1 - f); we take it at the bias b, where the window says nothing. The product of the three says
# what a tag of the word before adds to the score of each tag of this word. By hand, then from the library:

# %%
learned = {name: np.array(values, float) for name, values in taggers["jordan"].learned.params.items()}
at_rest = f(learned["network.b"])
added = learned["network.U"] @ np.diag(at_rest * (1 - at_rest)) @ learned["network.V"]  # [tag of this word, tag before]
(matrix,) = explain_weights(taggers["jordan"]).network.matrices
assert np.allclose(added.T, matrix.values)

largest = np.abs(added).max()
figure, axes = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
image = axes.imshow(added.T, cmap="RdBu", vmin=-largest, vmax=largest)
axes.set_xticks(range(len(matrix.names)), matrix.names, rotation=90)
axes.set_yticks(range(len(matrix.names)), matrix.names)
axes.set(title="Jordan: what a tag adds to the next word's tags", xlabel="tag of this word", ylabel="tag before")
figure.colorbar(image)
plt.show()

# %% [markdown]
# Compare it with the picture of the CRF's steps in lesson 2. The network got no number for a step from tag to tag,
# and it has learned all the same that the inside of a date or an identifier follows its beginning. And the inside of a
# doctor's name? A window shows the network the word before anyway, so it need not remember everything.

# %%
place = {tag: k for k, tag in enumerate(matrix.names)}
for label in ("DATE", "ID", "DOCTOR"):
    inside = added[place[f"I-{label}"]]
    print(f"I-{label}: after B-{label} {inside[place[f'B-{label}']]:+.2f}, after O {inside[place['O']]:+.2f}")
    assert label == "DOCTOR" or inside[place[f"B-{label}"]] > inside[place["O"]]

# %% [markdown]
# ## What to remember
#
# - Both networks see a window of words, and remember one step back: Elman's its hidden units, Jordan's its
#   probabilities.
# - A gradient says how the loss changes when a weight is nudged. Anybody can check one by nudging.
# - Jordan's memory is made of tags, so it can be read. Elman's cannot, but it may hold more.
#
# ## Exercises
#
# ### Exercise 1: how many weights?
#
# Write a function that gives the number of weights of Elman's network with one hidden layer, biases among them, word
# vectors not, for W words in a window, word vectors of size D, H hidden units and K tags.
#
# <details><summary>Hint 1</summary>Write down the shape of each matrix and vector in the equations, then multiply and
# add.</details>
#
# <details><summary>Hint 2</summary>The window gives W times D inputs. Elman's V is square.</details>


# %%
def count_weights(W, D, H, K):
    raise NotImplementedError


def check_1(answer):
    for W, D, H, K in ((3, 2, 3, 3), (11, 100, 100, 15), (5, 30, 40, 15)):
        shapes = nnx.eval_shape(lambda W=W, D=D, H=H, K=K: Elman(window=W, dim=D, hidden=H, tags=K, rngs=nnx.Rngs(0)))
        expected = sum(leaf.size for leaf in jax.tree.leaves(nnx.state(shapes)))
        found = answer(W, D, H, K)
        assert found == expected, f"with W={W}, D={D}, H={H}, K={K} there are {expected} weights, not {found}"


exercise(check_1, count_weights)

# %% [markdown]
# ### Exercise 2: Jordan's network
#
# Write the forward pass of Jordan's network, from equation 12. It differs from `elman` in what is carried from word to
# word. V is [H, K] here.
#
# <details><summary>Hint 1</summary>Only one line of <code>elman</code> changes: what the next word gets.</details>
#
# <details><summary>Hint 2</summary>Jordan's network carries the softmax of its output, a vector of length K, which is
# zero before the first word.</details>


# %%
def jordan(windows, W, V, b, U, c):
    raise NotImplementedError


def check_2(answer):
    network = Jordan(window=WINDOW, dim=D, hidden=H, tags=K, init_range=1.0, rngs=nnx.Rngs(1))
    weights = [np.array(part[...], float) for part in (network.W, network.V, network.b, network.U, network.c)]
    expected = np.array(jax.nn.softmax(network(jnp.asarray(windows))))
    found = np.asarray(answer(windows, *weights))
    assert found.shape == expected.shape, f"it should be an array of shape {expected.shape}, not {found.shape}"
    for t, word in enumerate(WORDS):
        assert np.allclose(found[t], expected[t], atol=1e-5), (
            f"at the word {word} the library has {expected[t].round(4)}, not {found[t].round(4)}"
        )


exercise(check_2, jordan)

# %% [markdown]
# ### Exercise 3: how far does it see?
#
# Which words of a sentence can change what Elman's network says of word t? Write a function that gives the set of their
# places. There are T words, numbered from 0, and an odd number of words in a window. The check changes each word's
# vector in turn, and looks.
#
# <details><summary>Hint 1</summary>The hidden layer at t has seen everything that it saw at t - 1, and so
# on.</details>
#
# <details><summary>Hint 2</summary>To the left it sees all words; to the right half a window.</details>


# %%
def words_seen(t, window, T):
    raise NotImplementedError


def check_3(answer):
    T, window = 6, 3
    network = Elman(window=window, dim=D, hidden=H, tags=K, init_range=1.0, rngs=nnx.Rngs(2))
    plain = np.random.default_rng(3).normal(size=(T + window - 1, D))
    changed = np.repeat(plain[None], T, axis=0)
    for word in range(T):
        changed[word, word + window // 2] += 1

    def scores(vectors):
        return np.array(network(context_windows(jnp.asarray(vectors), window)))

    differs = np.array([(scores(vectors) != scores(plain)).any(axis=1) for vectors in changed])  # [word, t]
    for t in range(T):
        expected = set(np.flatnonzero(differs[:, t]).tolist())
        found = set(answer(t, window, T))
        assert found == expected, f"of {T} words, at word {t}, a window of {window} sees {expected}, not {found}"


exercise(check_3, words_seen)

# %% [markdown]
# ### Exercise 4: tags that continue nothing
#
# A softmax looks at one token at a time. It may give I-DOCTOR after O: the name then begins nowhere, and a scorer
# counts a wrong entity. Write a function that gives the most probable sequence in which every I-X continues an X, from
# the log-probabilities of the tags, [T, K]. The check tries all sequences.
#
# Then put it into `predict` of `elman_minimal.py`, which takes the best tag of each token. How much precision did the
# network lose without it? The library's networks have it, as `decoding="valid"`.
#
# <details><summary>Hint 1</summary>Lesson 2 has the algorithm: for each tag, the best score of all sequences that end
# there. Leave out the steps that are not allowed.</details>
#
# <details><summary>Hint 2</summary>I-X may follow B-X and I-X alone. It may not be first either.</details>


# %%
def best_valid(logs, tags):
    raise NotImplementedError


def check_4(answer):
    tags = ["O", "B-DATE", "I-DATE", "B-ID", "I-ID"]

    def continues(before, tag):
        return not tag.startswith("I-") or before[2:] == tag[2:]

    drawn = np.random.default_rng(4)
    for _ in range(20):
        logs = np.log(drawn.dirichlet(np.ones(len(tags)), size=4))
        every = (
            (sum(logs[t, tags.index(tag)] for t, tag in enumerate(sequence)), sequence)
            for sequence in product(tags, repeat=len(logs))
            if all(map(continues, ("O", *sequence), sequence))
        )
        expected = list(max(every)[1])
        found = list(answer(logs, tags))
        assert found == expected, f"the most probable valid sequence is {expected}, not {found}"


exercise(check_4, best_valid)
