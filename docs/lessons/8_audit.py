# %% [markdown]
# # Lesson 8: find the canary
#
# A hospital gives away a model, not its notes. Somebody who has the model and a list of names asks: which of these
# people were patients here?
#
# What does a trained model give away about its notes, how do we measure it, and what helps?
#
# You need lesson 1; lesson 6 helps. The method is that of Carlini et al. (2019), *The secret sharer*, section 3: put
# invented names into the notes, train, and ask the model for them. Such a name is called a canary.
#
# - **Objectives:** plant canaries and find them again; measure exposure in bits and the area under the ROC curve; judge
#   two defences.
# - **Difficulty:** medium.
# - **Time:** 20 minutes to read and run, 20 for the exercises.

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from exercise import exercise

import crfdeid
from crfdeid.audit import CanaryPlan, canary_scores, exposure, insert_canaries, make_questions, roc_area, stored_words
from crfdeid.corpora.splits import Split
from crfdeid.corpora.synthetic import generate_notes

# %% [markdown]
# ## Plant the canaries
#
# We draw 80 names that no note has. A coin decides for each whether it is put into the training notes. Half of them
# have one copy, half have eight, each in another note. As many decoys are put in as ordinary words, so that a strange
# word alone is no sign of PHI.

# %%
random = np.random.default_rng(0)
train, dev = Split.of(generate_notes(40, seed=0)), Split.of(generate_notes(20, seed=1))
plan = CanaryPlan.draw(80, (1, 8), [train, dev], random=random)
planted = insert_canaries(train, [*plan.canaries, *plan.decoys], random=random)

inside = [canary for canary in plan.canaries if canary.inserted]
print(f"{len(inside)} of {len(plan.canaries)} names are in the notes")
for canary in inside[:3]:
    copies = sum(note.text.count(f"{canary.name} ") for note in planted.documents)
    print(f"{canary.name}: {canary.copies} to be inserted, {copies} found in the text")
    assert copies >= canary.copies

# %% [markdown]
# ## Ask the model
#
# An attacker puts a name into sentences of other notes, and looks how sure the model is that it is PHI: the mean over
# eight sentences of ln P(PHI) - ln P(O). All names are asked in the same sentences, so that only the name differs.

# %%
tagger = crfdeid.create("crf", overrides={"max_iterations": 30})
tagger.fit(planted.sentences, [])
questions = make_questions(dev, 8, random=random)
print(" ".join([*questions[0].before[-5:], "____", *questions[0].after[:5]]))

names = [canary.name for canary in plan.canaries]
scores = canary_scores(tagger, names, questions)
inserted = np.array([canary.inserted for canary in plan.canaries])
copies = np.array([canary.copies for canary in plan.canaries])
for number in (1, 8):
    chosen = copies == number
    means = scores[chosen & inserted].mean(), scores[chosen & ~inserted].mean()
    print(f"{number} copies: mean score {means[0]:+.2f} if inserted, {means[1]:+.2f} if not")

# %%
figure, axes = plt.subplots(1, 2, figsize=(7, 2.6), sharex=True, layout="constrained")
for axis, number in zip(axes, (1, 8), strict=True):
    for was, label in ((True, "in the notes"), (False, "not in the notes")):
        axis.hist(scores[(copies == number) & (inserted == was)], bins=15, alpha=0.6, label=label)
    axis.set(title=f"names with {number} copies", xlabel="ln P(PHI) - ln P(O)")
axes[0].legend()
plt.show()

# %% [markdown]
# ## Two measures
#
# How well do the scores tell the two kinds apart? Draw a name that was inserted and one that was not: the area under
# the ROC curve is the probability that the first has the higher score. A half is chance.

# %%
members, others = scores[(copies == 8) & inserted], scores[(copies == 8) & ~inserted]
wins = [float(a > b) + 0.5 * float(a == b) for a in members for b in others]
print(f"by hand {np.mean(wins):.3f}")
areas = {
    number: roc_area(scores[(copies == number) & inserted], scores[(copies == number) & ~inserted]) for number in (1, 8)
}
assert np.isclose(np.mean(wins), areas[8].value)
for number, area in areas.items():
    print(f"{number} copies: {area.value:.2f}, 95 % interval {area.low:.2f} to {area.high:.2f}")
assert areas[8].value > 0.8

# %% [markdown]
# Exposure asks about one name: at which rank is it among names that are in no note? An attacker who tries the list from
# the top needs that many guesses. In bits, it is log2 of the list's length less log2 of the rank.

# %%
secret = next(canary for canary in inside if canary.copies == 8 and not canary.is_real)
references = canary_scores(tagger, plan.references[False], questions)
(mine,) = canary_scores(tagger, [secret.name], questions)
rank = 1 + int((references >= mine).sum())
bits = np.log2(len(references) + 1) - np.log2(rank)
print(f"{secret.name} has rank {rank} of {len(references) + 1}: {bits:.1f} bits")
assert np.isclose(bits, exposure(np.array([mine]), references)[0])

# %% [markdown]
# ## What lies in the files
#
# There is a simpler attack: open the files. `stored_words` looks for names in a model's folder.


# %%
def names_in_files(tagger, **options):
    with TemporaryDirectory() as folder:
        tagger.save(Path(folder), **options)
        return stored_words(Path(folder), [canary.name for canary in inside])


stored = names_in_files(tagger)
print(f"{len(stored)} of {len(inside)} names are in the model's files")

# %% [markdown]
# ## Two defences
#
# `min_documents=3` leaves out words of fewer than three notes: a patient of one note. A private vocabulary stores the
# words that are left as keyed hashes.

# %%
careful = crfdeid.create("crf", overrides={"max_iterations": 30, "min_documents": 3})
careful.fit(planted.sentences, [])
rare = {canary.name for canary in inside if canary.copies == 1}
print("stored, of one copy:", len(rare & set(stored)), "before,", len(rare & set(names_in_files(careful))), "after")
assert not rare & set(names_in_files(careful))

guarded = canary_scores(careful, names, questions)
for number in (1, 8):
    chosen = copies == number
    area = roc_area(guarded[chosen & inserted], guarded[chosen & ~inserted])
    print(f"{number} copies: {areas[number].value:.2f} before, {area.value:.2f} after")
assert area.value > 0.8  # of eight copies

# %% [markdown]
# The rare words are gone from the files. Names of eight notes are still found: eight is more than three. And of the
# rare names the model has still seen the first letters, the last letters and the shape.
# Now with keyed hashes in the files:

# %%
hashed = names_in_files(tagger, key=b"a secret of this lesson")
print(f"{len(hashed)} of {len(inside)} names are in the files with a private vocabulary")
assert not hashed

# %% [markdown]
# Hashing hides the words from people who open the files. It changes no answer of the model: somebody who may ask it, as
# users of a service may, still learns what the scores tell.
#
# `crfdeid audit --train NOTES` does all of this for any model, and adds a lower bound of epsilon, the unit of
# differential privacy. `crfdeid audit model/` asks a finished model which notes it learned from.

# %% [markdown]
# ## To remember
#
# - A model can be asked which names it saw. Repeated names are remembered best.
# - An audit needs names that are known to be inside and others that are known to be outside, and contexts that do not
#   give the answer away.
# - An audit that finds nothing must show that it could have found something.
# - What the files hold and what the answers tell are two questions, with two defences.

# %% [markdown]
# ### Exercise 1: the area under the curve
#
# Write a function that gives the probability that a member's score is higher than another's. Equal scores count a half.
#
# <details><summary>Hint 1</summary>Compare every member with every other one.</details>
#
# <details><summary>Hint 2</summary>With NumPy, <code>members[:, None] &gt; others</code> is the table of all
# comparisons.</details>


# %%
def area_under_curve(members, others):
    raise NotImplementedError


def check_1(answer):
    pairs = (([3.0, 2.0], [1.0]), ([1.0, 1.0], [1.0, 1.0]), ([0.9, 0.5], [0.5, 0.1]), (members, others))
    for one, other in [(np.array(a), np.array(b)) for a, b in pairs]:
        expected, value = roc_area(one, other).value, answer(one, other)
        assert np.isclose(value, expected), f"of {one.tolist()} and {other.tolist()} it is {expected}, not {value}"


exercise(check_1, area_under_curve)

# %% [markdown]
# ### Exercise 2: exposure
#
# Write a function that gives the exposure of one name in bits, from its score and the scores of names that are in no
# note. A reference with an equal score ranks before the name.
#
# <details><summary>Hint 1</summary>The rank is 1 plus the number of references with a score at least as high.</details>
#
# <details><summary>Hint 2</summary>The list has the name and all references.</details>


# %%
def bits_of(score, references):
    raise NotImplementedError


def check_2(answer):
    cases = ((5.0, [0.0, 1.0, 2.0]), (1.5, [0.0, 1.0, 2.0]), (0.0, [0.0, 0.0, 0.0]), (mine, references))
    for score, among in [(score, np.array(among)) for score, among in cases]:
        expected, value = exposure(np.array([score]), among)[0], answer(score, among)
        assert np.isclose(value, expected), (
            f"{score} among {len(among)} references has {expected:.3f} bits, not {value}"
        )


exercise(check_2, bits_of)

# %% [markdown]
# ### Exercise 3: find the canary
#
# One of some hundred names was in eight notes that a model learned from; the others were in none. Write a function that
# takes the model, the names and the questions, and gives that name.
#
# <details><summary>Hint 1</summary><code>canary_scores</code> asks for all names at once.</details>
#
# <details><summary>Hint 2</summary>The name that the model is surest of: <code>np.argmax</code>.</details>


# %%
def find_canary(tagger, names, questions):
    raise NotImplementedError


def check_3(answer):
    most = len(references) + 1
    found = exposure(scores, references)
    sure = [names[i] for i in np.flatnonzero((found >= np.log2(most)) & inserted & (copies == 8))][:3]
    for number, name in enumerate(sure):
        candidates = [*plan.references[False][100 * number : 100 * number + 100], name]
        candidates = [candidates[i] for i in np.random.default_rng(number).permutation(len(candidates))]
        value = answer(tagger, candidates, questions)
        assert value == name, f"{value} was in no note: which name is the model surest of?"


exercise(check_3, find_canary)
