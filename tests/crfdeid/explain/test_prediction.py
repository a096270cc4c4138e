"""Explanations against brute force: every tag sequence is enumerated, every word taken away by hand."""

import itertools
import time
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_notes import tagged

import crfdeid
from crfdeid import registry
from crfdeid.crf import CrfSettings, CrfTagger
from crfdeid.ensembles.hybrid import HybridTagger
from crfdeid.errors import OptionConflictError, SettingError, UnknownNameError, UsageError
from crfdeid.explain.occlusion import unknown_word, with_words
from crfdeid.explain.prediction import explain_prediction, model_of
from features import feature_set
from features.sentences import split_sentences
from features.tokens import Sentence
from rnn.vocab import unknown_class

TRAIN = [
    tagged("seen/O by/O Dr/O Quill/B-DOCTOR"),
    tagged("Orla/B-DOCTOR Quill/I-DOCTOR called/O"),
    tagged("Mr/O Vole/B-PATIENT called/O"),
    tagged("by/O Dr/O Orla/B-DOCTOR Vole/I-DOCTOR"),
    tagged("a/O vole/O was/O seen/O"),
]
WORDS = ["seen", "by", "Dr", "Quill", "Orla", "called", "Mr", "Vole", "vole", "Zxqv", "the", "the", "\0", "\ud800"]
SENTENCE = Sentence.from_words(["the", "nurse", "by", "Dr", "Vole", "called"])


@cache
def crf(name: str = "strong") -> CrfTagger:
    tagger = CrfTagger(CrfSettings(features=name, max_iterations=40))
    tagger.fit(TRAIN, [])
    return tagger


@cache
def hybrid() -> HybridTagger:
    tagger = HybridTagger()
    tagger.fit([*TRAIN, tagged("on/O 3/B-DATE ///I-DATE 14/I-DATE ///I-DATE 72/I-DATE")] * 3, [])
    return tagger


def log_odds_of_all_sequences(tagger: CrfTagger, sentence: Sentence, token: int, tag: str, contrast_tag: str) -> float:
    """The log-odds by the definition: over the scores of every tag sequence there is."""
    learned, tags = tagger.learned, range(len(tagger.tags))
    rows = dict(zip(learned.names, learned.state, strict=True))
    nothing = np.zeros(len(tagger.tags))
    extracted = feature_set(tagger.settings.features, pos="none").extract(sentence)
    names = [[n.replace("\0", "\\x00").replace("\ud800", "\\ud800") for n in row] for row in extracted]
    emissions = [sum((rows.get(name, nothing) for name in row), nothing) for row in names]
    scores: dict[int, list[float]] = {k: [] for k in tags}
    for path in itertools.product(tags, repeat=len(names)):
        own = sum(emissions[t][k] for t, k in enumerate(path))
        scores[path[token]].append(own + sum(learned.transitions[a, b] for a, b in itertools.pairwise(path)))
    first, second = (np.logaddexp.reduce(scores[tagger.tags.index(name)]) for name in (tag, contrast_tag))
    return float(first - second)


@given(st.data())
def test_the_parts_of_a_crf_s_sum_are_its_log_odds(data):
    tagger = crf(data.draw(st.sampled_from(["strong", "paper"])))
    words = data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
    sentence = Sentence.from_words(words)
    token = data.draw(st.integers(0, len(words) - 1))
    tag, contrast_tag = data.draw(st.permutations(tagger.tags))[:2]
    found = explain_prediction(tagger, sentence, token, tag=tag, contrast_tag=contrast_tag)
    expected = log_odds_of_all_sequences(tagger, sentence, token, tag, contrast_tag)
    assert found.crf.total == pytest.approx(expected, abs=1e-9)
    assert found.log_odds == pytest.approx(expected, abs=1e-9)
    assert sum(found.crf.by_kind.values()) + found.crf.before + found.crf.after == pytest.approx(expected, abs=1e-9)


def test_it_explains_the_tag_that_is_given_against_the_most_probable_one_of_another_type():
    for token, tag in enumerate(crf().predict([SENTENCE])[0]):
        found = explain_prediction(crf(), SENTENCE, token)
        table = crf().marginals([SENTENCE])[0][token]
        by_tag = dict(zip(crf().tags, table, strict=True))
        assert (found.tag, found.probability) == (tag, by_tag.pop(tag))
        others = {other: p for other, p in by_tag.items() if other[2:] != tag[2:]}
        assert (found.contrast_tag, found.contrast_probability) == max(others.items(), key=lambda item: item[1])
        assert found.phi == pytest.approx(1 - table[crf().tags.index("O")])


def test_each_feature_has_its_weights_and_what_has_none_is_named():
    found = explain_prediction(crf(), SENTENCE, 4, tag="B-DOCTOR", contrast_tag="O").crf
    weights = dict(zip(crf().learned.names, crf().learned.state, strict=True))
    first, second = crf().tags.index("B-DOCTOR"), crf().tags.index("O")
    extracted = crf().features.extract(SENTENCE)[4]
    assert {term.name for term in found.features} | set(found.unknown) == set(extracted)
    assert set(found.unknown) == {name for name in extracted if name not in weights} != set()
    for term in found.features:
        assert (term.weight, term.contrast_weight) == (weights[term.name][first], weights[term.name][second])
        assert term.count == extracted.count(term.name)
    values = [abs(term.value) for term in found.features]
    assert values == sorted(values, reverse=True)


def test_a_sentence_of_one_token_has_no_neighbours():
    found = explain_prediction(crf(), Sentence.from_words(["Vole"]), 0).crf
    assert (found.before, found.after) == (0, 0)


def test_a_model_whose_vocabulary_is_hashed_explains_the_same(tmp_path):
    key = bytes(range(32))
    crf().save(tmp_path, key=key)
    loaded = registry.load_tagger(tmp_path, key=key)
    ours, theirs = explain_prediction(loaded, SENTENCE, 4), explain_prediction(crf(), SENTENCE, 4)
    assert {(t.name, t.weight) for t in ours.crf.features} == {(t.name, t.weight) for t in theirs.crf.features}


@pytest.mark.parametrize("make", [crf, hybrid])
def test_occlusion_is_what_the_log_odds_lose_without_a_word(make):
    tagger = make()
    found = explain_prediction(tagger, SENTENCE, 4, methods=["occlusion"], window=2)
    assert [(term.word, term.place) for term in found.occlusion] == [("by", -2), ("Dr", -1), ("Vole", 0), ("called", 1)]
    words = list(SENTENCE.words)
    words[3] = unknown_word("Dr")
    table = tagger.marginals([Sentence.from_words(words)])[0][4]
    left = np.log(table[tagger.tags.index(found.tag)]) - np.log(table[tagger.tags.index(found.contrast_tag)])
    assert found.occlusion[1].value == pytest.approx(found.log_odds - left, abs=1e-9)


@pytest.mark.parametrize("word", ["seen", "Quill", "MRN", "Q", "McCoy", "72", "ß", "Élan"])
def test_an_unknown_word_is_of_the_same_casing_for_a_network(word):
    assert unknown_word(word) not in WORDS
    if word.isalpha():
        assert unknown_class(unknown_word(word)) == unknown_class(word)


def test_the_field_of_a_line_and_the_heading_are_occluded_too():
    sentence = split_sentences("DISCHARGE SUMMARY\nAttending: Dr. Vole")[1]
    found = explain_prediction(crf(), sentence, 4, methods=["occlusion"])
    assert [term.word for term in found.occlusion][-2:] == ["(field: Attending)", "(heading: DISCHARGE SUMMARY)"]


def test_other_words_give_what_the_model_says_of_the_changed_sentence():
    found = explain_prediction(
        crf(), SENTENCE, 4, tag="B-DOCTOR", contrast_tag="O", replacing={3: None, 4: "vole", 0: None}
    )
    counterfactual = Sentence.from_words(["nurse", "by", "vole", "called"])
    assert found.counterfactual.words == counterfactual.words
    assert found.counterfactual.tag == crf().predict([counterfactual])[0][2]
    by_hand = explain_prediction(crf(), counterfactual, 2, tag="B-DOCTOR", contrast_tag="O")
    assert found.counterfactual.log_odds == pytest.approx(by_hand.log_odds, abs=1e-9)


def test_a_changed_sentence_keeps_its_layout_and_its_note():
    first, second = split_sentences("Seen by Dr. Vole,\nMRN: 482213. Stable.")[:2]
    changed = with_words(first, {2: None, 4: "Quillfeather"})
    assert changed.words == ("Seen", "by", ".", "Quillfeather", ",")
    before = [b.start - a.end for a, b in itertools.pairwise(first.tokens)]
    assert [b.start - a.end for a, b in itertools.pairwise(changed.tokens)] == [*before[:1], *before[2:]]
    assert [token.text for token in changed.note] == [*changed.words, *(token.text for token in first.note[6:])]
    assert changed.around(2)[1] == first.around(2)[1] == second.words[:2]
    assert changed.note[changed.note_start : changed.note_start + 5] == changed.tokens
    assert with_words(second, {}).tokens == second.tokens


def test_a_hybrid_names_the_rule_and_has_its_crf_s_sum():
    (sentence,) = split_sentences("on 3/15/72 by Dr Vole")
    found = explain_prediction(hybrid(), sentence, 1)
    model, rules = found.members
    assert (found.model, model.model, rules.model) == ("hybrid", "crf", "rules")
    assert [(rule.name, rule.label, rule.words) for rule in rules.rules] == [
        ("date in digits", "DATE", ("3", "/", "15", "/", "72"))
    ]
    assert model.crf.total == pytest.approx(model.log_odds, abs=1e-9)
    assert explain_prediction(hybrid(), sentence, 6).members[1].rules == ()


def test_explaining_a_token_with_a_crf_is_quick():
    explain_prediction(crf(), SENTENCE, 4)
    long = Sentence.from_words(["Mr", "Vole", "called", "Dr", "Quill"] * 40)
    started = time.process_time()
    explain_prediction(crf(), long, 100)
    assert time.process_time() - started < 0.2


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        ({"token": 6}, SettingError),
        ({"token": -1}, SettingError),
        ({"replacing": {9: "x"}}, SettingError),
        ({"replacing": {4: None}}, OptionConflictError),
        ({"tag": "B-NURSE"}, UnknownNameError),
        ({"tag": "O", "contrast_tag": "O"}, OptionConflictError),
        ({"methods": ["guess"]}, UnknownNameError),
    ],
)
def test_what_cannot_be_explained_is_refused(wanted, error):
    with pytest.raises(error):
        explain_prediction(crf(), SENTENCE, wanted.pop("token", 4), **wanted)


def test_a_model_of_one_tag_has_nothing_to_explain():
    tagger = CrfTagger(CrfSettings(max_iterations=5))
    tagger.fit([tagged("no/O names/O")], [])
    with pytest.raises(UsageError):
        explain_prediction(tagger, SENTENCE, 0)


def test_every_model_has_a_name_by_its_class():
    assert model_of(crf()) == "crf"
    assert len({place.rpartition(":")[2] for place in registry.MODELS.values()}) == len(registry.MODELS)


def test_the_package_exports_it():
    assert crfdeid.explain_prediction is explain_prediction
