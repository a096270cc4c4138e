# %% [markdown]
# # Lesson 7: from two annotators to the cause of an error
#
# A model learns what people marked, and it is measured against what people marked. Two people never mark quite the
# same. And when the model is wrong, the table of scores does not say why.
#
# How far do two people agree, what do they disagree on, and how do we get from an error to its cause?
#
# You need lesson 1; lesson 5 helps. Agreement follows Hripcsak and Rothschild (2005), kappa is that of Cohen (1960).
# The kinds of errors are those of section 4 of Yadav et al. (2016).
#
# - **Objectives:** measure agreement in two ways and say which one to report; sort disagreements and errors into kinds;
#   trace an error to the features behind it.
# - **Difficulty:** medium.
# - **Time:** 20 minutes to read and run, 25 for the exercises.

# %%
import re
from collections import Counter
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from exercise import exercise

import crfdeid
from crfdeid.corpora.splits import Split
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.evaluation import ERROR_KINDS, find_errors, score_entities
from crfdeid.evaluation.agreement import agreement, cohens_kappa
from crfdeid.evaluation.evaluate import predict_spans
from features import tokenize

# %% [markdown]
# ## Two people, one guideline
#
# Anna marks what the guideline says. Ben reads "names" as names with their title, so he marks "Dr. Quill" where Anna
# marks "Quill"; and he thinks that hospitals are not personal. We play both on invented notes.

# %%
notes = list(generate_notes(20, seed=3))


def as_ben(note):
    spans = []
    for span in note.spans:
        if span.label == "HOSPITAL":
            continue
        title = re.search(r"\b(Dr|Mr|Mrs|Ms)\.? $|$", note.text[: span.start])[0]
        spans.append(span._replace(start=span.start - len(title)))
    return spans


anna = {note.id: list(note.spans) for note in notes}
ben = {note.id: as_ben(note) for note in notes}
print("marked by Anna:", sum(map(len, anna.values())), "and by Ben:", sum(map(len, ben.values())))

# %% [markdown]
# ## Agreement by F
#
# Take Anna as the reference, and score Ben as if he were a system. A span is right if type and both ends are the same.

# %%
both = sum(len(set(anna[note.id]) & set(ben[note.id])) for note in notes)
first, second = (sum(map(len, spans.values())) for spans in (anna, ben))
f1 = 2 * both / (first + second)
print(f"in both {both}, F {f1:.3f}")
measured = agreement(notes, ben)
assert np.isclose(measured.strict.micro.f1, f1)

# %% [markdown]
# Who is the reference makes no difference to F: recall and precision change places. By overlap, Ben's titles are
# forgiven, and only the hospitals are left.

# %%
swapped = score_entities([replace(note, spans=tuple(ben[note.id])) for note in notes], anna).micro
assert (swapped.recall, swapped.precision) == (measured.strict.micro.precision, measured.strict.micro.recall)
print(f"F strict {measured.strict.micro.f1:.3f}, by overlap {measured.relaxed.micro.f1:.3f}")
assert measured.relaxed.micro.f1 > measured.strict.micro.f1

# %% [markdown]
# ## Agreement by kappa
#
# Boards ask for Cohen's kappa. It takes away the agreement that chance alone would give: with p_o the share of tokens
# on which both agree, and p_e the share that two people would agree on who mark as often, but blindly,
#
#     kappa = (p_o - p_e) / (1 - p_e)
#
# We need a table of tokens: how many are PHI for both, for one, or for neither.

# %%
table = Counter()
for note in notes:
    for token in tokenize(note.text):
        sides = tuple(
            any(token.start < span.end and span.start < token.end for span in spans[note.id]) for spans in (anna, ben)
        )
        table[sides] += 1
print(dict(table))

total = sum(table.values())
p_o = (table[True, True] + table[False, False]) / total
rates = [sum(n for sides, n in table.items() if sides[who]) / total for who in (0, 1)]
p_e = rates[0] * rates[1] + (1 - rates[0]) * (1 - rates[1])
kappa = (p_o - p_e) / (1 - p_e)
print(f"agreed {p_o:.3f}, by chance {p_e:.3f}, kappa {kappa:.3f}")
assert np.isclose(kappa, measured.kappa_phi)

# %% [markdown]
# Most tokens are no PHI for anybody. They raise the agreement, and they raise the agreement by chance nearly as much.
# For entities, what neither marked cannot be counted; as that number grows, kappa goes to F. So report F.

# %% [markdown]
# ## What do they disagree on?
#
# One number says how much, not what. The kinds of errors of lesson 5 serve for people too.

# %%
for kind in ERROR_KINDS:
    found = [error for error in find_errors(notes, ben, known_words=()) if error.kind == kind]
    types = Counter((error.gold or error.predicted).label for error in found)
    print(f"{kind:9} {len(found):3}  {dict(types)}")

# %% [markdown]
# Two rules were missing from the guideline: "without the title", and "hospitals are PHI". Two lines of text repair
# every disagreement here. Annotating more notes would have repaired none.

# %% [markdown]
# ## The errors of a model
#
# Now a CRF learns from 40 notes, and is tried on 25 others. Each error has a kind, and possible causes: a name of a
# single word, an abbreviation, a word that the training notes do not have.

# %%
train, dev = Split.of(generate_notes(40, seed=0)), Split.of(generate_notes(25, seed=1))
tagger = crfdeid.create("crf", overrides={"max_iterations": 30})
tagger.fit(train.sentences, [])
found = predict_spans(tagger, dev)
errors = find_errors(dev.documents, found, known_words=train.words)

labels = sorted({span.label for note in dev.documents for span in note.spans})
counts = np.array(
    [
        [sum(e.kind == c and (e.gold or e.predicted).label == label for e in errors) for label in labels]
        for c in ERROR_KINDS
    ]
)
figure, axes = plt.subplots(figsize=(7, 2.6), layout="constrained")
picture = axes.imshow(counts, cmap="Blues")
axes.set_xticks(range(len(labels)), labels, rotation=30)
axes.set_yticks(range(len(ERROR_KINDS)), ERROR_KINDS)
for (row, column), count in np.ndenumerate(counts):
    axes.text(column, row, count, ha="center", va="center", color="white" if count > counts.max() / 2 else "black")
axes.set(title="errors by kind and type")
plt.show()
assert counts.sum() == len(errors)

# %% [markdown]
# A missed name leaks. A name of the wrong type is hidden all the same. So read "missed" first.

# %%
documents = {note.id: note for note in dev.documents}
missed = [error for error in errors if error.kind == "missed"]
for error in missed[:6]:
    text, span = documents[error.document_id].text, error.gold
    line = text[text.rfind("\n", 0, span.start) + 1 :].split("\n")[0]
    print(f"{span.label:9} {text[span.start : span.end]!r:24} {', '.join(error.causes):28} {line[:60]}")

# %% [markdown]
# ## From an error to its cause
#
# Take the first missed name that is no abbreviation. Why did the model say `O`? A CRF's log-odds are a sum: of the
# weights of the word's features, and of what the words before and after say (lesson 2). `explain_prediction` writes the
# sum down.

# %%
names = [error for error in missed if error.gold.label in ("PATIENT", "DOCTOR") and "abbreviation" not in error.causes]
target = names[0]
note = documents[target.document_id]
sentence = next(s for s in note.sentences() if s.tokens[0].start <= target.gold.start < s.tokens[-1].end)
place = next(i for i, token in enumerate(sentence.tokens) if token.end > target.gold.start)
tag = f"B-{target.gold.label}"
why = crfdeid.explain_prediction(tagger, sentence, place, tag=tag, contrast_tag="O")
print(" ".join(sentence.words))
print(f"{sentence.words[place]!r}: ln P({tag}) - ln P(O) = {why.log_odds:+.2f}\n")
for term in sorted(why.crf.features, key=lambda term: -abs(term.value))[:6]:
    print(f"{term.name:28} {term.value:+.2f}")
print(f"{'the words before and after':28} {why.crf.before + why.crf.after:+.2f}")
by_features = sum(term.value for term in why.crf.features)
assert np.isclose(by_features + why.crf.before + why.crf.after, why.log_odds)

# %% [markdown]
# What would have helped? We can ask the model: the same sentence, with a title in the place of the word before.

# %%
other = crfdeid.explain_prediction(tagger, sentence, place, tag=tag, contrast_tag="O", replacing={place - 1: "Dr"})
print(" ".join(other.counterfactual.words))
print(f"{sentence.words[place]!r}: ln P({tag}) - ln P(O) = {other.counterfactual.log_odds:+.2f}")

# %% [markdown]
# A cause suggests a remedy, and only a test shows whether the remedy works:
#
# | cause | try |
# | --- | --- |
# | the annotators disagree, too | the guideline |
# | words that training lacks | more notes of this kind; features of shape and place; the patient's record |
# | names without a title or a cue | document consistency, if the note has the name elsewhere with one |
# | a form of note that training lacks | notes of this form |
#
# For a whole experiment, the report does this lesson's work: `python -m experiments.compare --output results/` writes
# `results/report.html`, whose browser filters errors by kind, type and cause, and
# `python -m experiments.report results/ --explain crf` links each error to its explanation.

# %% [markdown]
# ## To remember
#
# - Report F for agreement of entities, and kappa only next to it. No system can be held to more.
# - Sort disagreements into kinds: most of them are a missing rule.
# - Sort errors into kinds and types, and read what leaks first.
# - An explanation names what the model used. A remedy is a guess until it is measured on notes that did not suggest it.

# %% [markdown]
# ### Exercise 1: agreement of two annotators
#
# Write a function that takes the spans of two annotators, by note, and gives the strict F over all notes. If neither
# marked anything, F is 0.
#
# <details><summary>Hint 1</summary>Spans can be compared as they are. A set of them tells what is in both.</details>
#
# <details><summary>Hint 2</summary>Add up over all notes before you divide: the mean of the notes' F is another
# number.</details>


# %%
def mutual_f1(one, other):
    raise NotImplementedError


def check_1(answer):
    few = {note.id: ben[note.id][:2] for note in notes}
    nothing = {note.id: [] for note in notes}
    for one, other in ((anna, ben), (ben, anna), (anna, anna), (anna, few), (anna, nothing), (nothing, nothing)):
        expected = score_entities([replace(note, spans=tuple(one[note.id])) for note in notes], other).micro.f1
        value = answer(one, other)
        assert np.isclose(value, expected), f"it should be {expected:.4f}, not {value}"


exercise(check_1, mutual_f1)

# %% [markdown]
# ### Exercise 2: kappa over types
#
# Write a function that gives kappa for a table of pairs of types: how many tokens have type a for the first person and
# type b for the second, as `{(a, b): number}`. "" is no type.
#
# <details><summary>Hint 1</summary>p_o is the share of the pairs with twice the same type.</details>
#
# <details><summary>Hint 2</summary>For p_e, count how often each person gives each type. Multiply the two shares of a
# type, and add up over types.</details>


# %%
def kappa_of(pairs):
    raise NotImplementedError


def check_2(answer):
    for pairs in (
        {("DATE", "DATE"): 20, ("DATE", ""): 5, ("", "DATE"): 10, ("", ""): 15},
        {("ID", "ID"): 3, ("ID", "DATE"): 2, ("DATE", "DATE"): 4, ("", ""): 100},
        {("ID", "DATE"): 1, ("DATE", "ID"): 1},
    ):
        expected, value = cohens_kappa(pairs), answer(pairs)
        assert np.isclose(value, expected), f"of {pairs} it is {expected:.4f}, not {value}"


exercise(check_2, kappa_of)

# %% [markdown]
# ### Exercise 3: is it the words?
#
# Write a function that takes errors and gives, for each type with missed entities, the share of them that have the
# cause "unseen". What do you conclude for names, and what for dates?
#
# <details><summary>Hint 1</summary>Keep the errors of the kind "missed" alone. Their type is
# <code>error.gold.label</code>.</details>
#
# <details><summary>Hint 2</summary>Two counters: of all missed entities by type, and of those with
# <code>"unseen" in error.causes</code>.</details>


# %%
def unseen_share(errors):
    raise NotImplementedError


def check_3(answer):
    value = answer(errors)
    assert set(value) == {error.gold.label for error in missed}, "give each type that has a missed entity, and no other"
    for label, share in value.items():
        causes = ["unseen" in error.causes for error in missed if error.gold.label == label]
        assert np.isclose(share, np.mean(causes)), f"for {label} it is {np.mean(causes):.3f}, not {share}"


exercise(check_3, unseen_share)
