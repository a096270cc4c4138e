"""What a model learned, against its arrays themselves."""

from functools import cache

import numpy as np
import pytest
from tiny_notes import tagged

from crfdeid import registry
from crfdeid.crf import CrfSettings, CrfTagger
from crfdeid.ensembles.hybrid import HybridTagger
from crfdeid.errors import NotTrainedError, UnknownNameError
from crfdeid.explain.prediction import FEATURE_KINDS, OTHER_FEATURES, explain_prediction, feature_kind
from crfdeid.explain.weights import WORDS_AFTER, WORDS_BEFORE, explain_weights
from features import STRONG_FEATURES, FeatureSet, PosFeatures, feature_set
from features.sentences import split_sentences
from features.tokens import Sentence

TRAIN = [
    tagged("seen/O by/O Dr/O Quill/B-DOCTOR"),
    tagged("Orla/B-DOCTOR Quill/I-DOCTOR called/O"),
    tagged("Mr/O Vole/B-PATIENT called/O"),
    tagged("a/O vole/O was/O seen/O"),
]
SENTENCES = [item.sentence for item in TRAIN]


@cache
def crf() -> CrfTagger:
    tagger = CrfTagger(CrfSettings(max_iterations=30))
    tagger.fit(TRAIN, [])
    return tagger


def test_the_features_of_a_tag_are_those_with_the_largest_and_the_smallest_weights():
    found = explain_weights(crf(), types=["DOCTOR"], top=5).crf
    assert [features.tag for features in found.features] == ["B-DOCTOR", "I-DOCTOR"]
    column = dict(zip(crf().learned.names, crf().learned.state[:, 0].tolist(), strict=True))
    in_order = sorted(column.items(), key=lambda item: (-item[1], item[0]))
    assert found.features[0].largest == tuple(in_order[:5])
    in_order = sorted(column.items(), key=lambda item: (item[1], item[0]))
    assert found.features[0].smallest == tuple(item for item in in_order[:5] if item[1] < 0)
    assert np.array_equal(found.transitions.values, crf().learned.transitions)


def test_kinds_of_features_share_all_weights_among_them():
    kinds = {kind.kind: kind for kind in explain_weights(crf()).crf.kinds}
    state = crf().learned.state
    assert sum(kind.l1 for kind in kinds.values()) == pytest.approx(np.abs(state).sum())
    assert sum(kind.l2**2 for kind in kinds.values()) == pytest.approx((state**2).sum())
    assert sum(kind.weights for kind in kinds.values()) == np.count_nonzero(state)
    words = [abs(row).sum() for n, row in zip(crf().learned.names, state, strict=True) if n.startswith("lower[")]
    assert kinds["word"].l1 + kinds["n-gram"].l1 == pytest.approx(sum(words))
    assert all(kind.share is None for kind in kinds.values())


def test_shares_are_of_the_log_odds_of_the_tokens_that_are_tagged():
    kinds = {kind.kind: kind.share for kind in explain_weights(crf(), sentences=SENTENCES).crf.kinds}
    assert sum(kinds.values()) == pytest.approx(1)
    tagged = [(s, i) for s in SENTENCES for i, tag in enumerate(crf().predict([s])[0]) if tag != "O"]
    found = [explain_prediction(crf(), s, i) for s, i in tagged]
    total = sum(e.log_odds for e in found)
    assert kinds["shape"] == pytest.approx(sum(e.crf.by_kind["shape"] for e in found) / total)
    assert kinds[WORDS_BEFORE] == pytest.approx(sum(e.crf.before for e in found) / total)
    assert kinds[WORDS_AFTER] == pytest.approx(sum(e.crf.after for e in found) / total)
    nothing = explain_weights(crf(), sentences=[Sentence.from_words(["a", "vole"])]).crf.kinds
    assert all(kind.share is None for kind in nothing)


def test_hashes_are_shown_as_hashes(tmp_path):
    key = bytes(range(32))
    crf().save(tmp_path, key=key)
    loaded = registry.load_tagger(tmp_path, key=key)
    found = explain_weights(loaded, sentences=SENTENCES)
    plain = explain_weights(crf(), sentences=SENTENCES)
    assert found.hashed
    assert not plain.hashed
    shown = {name for features in found.crf.features for name, _ in (*features.largest, *features.smallest)}
    assert shown
    assert not [name for name in shown if "=" in name]
    assert found.crf.kinds[0].kind == "hashed"
    assert {k.kind: k.share for k in plain.crf.kinds if k.share}.items() <= {
        k.kind: pytest.approx(k.share) for k in found.crf.kinds if k.share
    }.items()


def test_a_hybrid_is_its_members_and_the_rules_are_those_that_are_trusted():
    tagger = HybridTagger()
    tagger.fit(TRAIN, [])
    found = explain_weights(tagger, top=3)
    model, rules = found.members
    assert (found.model, model.model, rules.model) == ("hybrid", "crf", "rules")
    assert {name: (label, share) for name, label, share in rules.rules} == dict(tagger.members[1].rule_precision)
    assert len(model.crf.features) == len(tagger.members[0].tags)


def test_what_is_not_there_is_refused():
    with pytest.raises(UnknownNameError):
        explain_weights(crf(), types=["NURSE"])
    with pytest.raises(NotTrainedError):
        explain_weights(CrfTagger())


@pytest.mark.parametrize("name", ["strong", "paper", "form"])
def test_every_feature_of_the_library_has_a_kind(name):
    text = "DISCHARGE SUMMARY\nAttending: Dr. Jane Quill, seen on 03/14/72 at Tawn Hospital. (617) 555-0199"
    for sentence in split_sentences(text):
        for row in feature_set(name, pos="textblob").extract(sentence):
            assert [feature for feature in row if feature_kind(feature) == OTHER_FEATURES] == []


def test_a_kind_is_that_of_the_extractor():
    text = "Attending: Dr. Jane Quill, seen on 03/14/72 at Tawn Hospital."
    expected = {"ContextWords": {"word"}, "NGrams": {"n-gram"}, "FarWords": {"far word"}, "Patterns": {"pattern"},
                "SentencePosition": {"layout"}, "Shapes": {"shape"}, "Affixes": {"affix"}, "CapitalRun": {"capitals"},
                "WordClasses": {"word class"}, "Gazetteers": {"gazetteer"}, "Layout": {"layout"},
                "PrefixWords": {"layout"}, "PosFeatures": {"part of speech"}}  # fmt: skip
    pos = feature_set("strong", pos="textblob").extractors[-1]
    assert isinstance(pos, PosFeatures)
    for extractor in (*STRONG_FEATURES.extractors[:-1], pos):
        rows = FeatureSet("one", (extractor,)).extract(split_sentences(text)[0])
        kinds = {feature_kind(name) for row in rows for name in row}
        assert kinds == expected[type(extractor).__name__], extractor
        assert kinds <= {*FEATURE_KINDS.values(), "n-gram"}
    assert feature_kind("no such feature") == feature_kind("own[0]=x") == OTHER_FEATURES
