"""The pipeline: what its second half gets to see, in training and later, in each of Table 5's ways."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.crf import CrfTagger
from crfdeid.documents import CONCEPT, PHI, LabelledSentence
from crfdeid.ensembles import cascade as training
from crfdeid.ensembles.cascade import CascadeSettings, CascadeTagger, mask_phi_tokens
from crfdeid.errors import MismatchError, OptionConflictError, UsageError
from crfdeid.registry import create, load_tagger, member_settings
from features.tokenizer import Token
from features.tokens import Sentence


def labelled(words: str, phi: str, concept: str | None, *, document: str, annotated: bool = True) -> LabelledSentence:
    layers = {} if concept is None else {CONCEPT: tuple(concept.split())}
    return LabelledSentence(
        Sentence.from_words(words.split()), tuple(phi.split()), document, layers, phi_annotated=annotated
    )


TRAIN = [
    labelled("Dr Jane Quill gave zinc", "O B-DOCTOR I-DOCTOR O O", "O O O O B-DRUG", document="1"),
    labelled("Mr Vole took iron", "O B-PATIENT O O", "O O O B-DRUG", document="1"),
    labelled("Dr Poe gave iron", "O B-DOCTOR O O", "O O O B-DRUG", document="2"),
    labelled("Ms Oda took zinc", "O B-PATIENT O O", "O O O B-DRUG", document="3"),
]
WORDS = [item.sentence.words for item in TRAIN]


class Watched:
    """A half that remembers what it was shown; what it finds as PHI it takes from what it learned by heart."""

    def __init__(self) -> None:
        self.learned: list[LabelledSentence] = []
        self.dev: list[LabelledSentence] = []
        self.asked: list[Sentence] = []
        self.tags = ("B-DOCTOR", "O")

    def fit(self, train: Sequence[LabelledSentence], dev: Sequence[LabelledSentence], **_: Any) -> None:
        self.learned, self.dev = list(train), list(dev)

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        self.asked += sentences
        names = {w for item in self.learned for w, t in zip(item.sentence.words, item.tags, strict=True) if t != "O"}
        return [["B-DOCTOR" if word in names else "O" for word in sentence.words] for sentence in sentences]


class Made:
    """The halves that were made and trained, in order."""

    def __init__(self) -> None:
        self.pairs: list[list[Watched]] = []

    def make(self, *_: object, **__: object) -> list[Watched]:
        self.pairs.append([Watched(), Watched()])
        return self.pairs[-1]

    @property
    def deid(self) -> list[Watched]:
        return [half for half, _ in self.pairs if half.learned]

    @property
    def concepts(self) -> list[Watched]:
        return [half for _, half in self.pairs if half.learned]


@pytest.fixture
def halves(monkeypatch: pytest.MonkeyPatch) -> Made:
    made = Made()
    monkeypatch.setattr(training, "create_members", made.make)
    return made


def trained(train: Sequence[LabelledSentence] = TRAIN, **settings: Any) -> CascadeTagger:
    tagger = CascadeTagger(CascadeSettings(deid="crf", concepts="crf", **settings))
    tagger.fit(train, TRAIN[:1])
    return tagger


def texts(sentences: Sequence[LabelledSentence]) -> list[str]:
    return [" ".join(item.sentence.words) for item in sentences]


def test_it_learns_from_predictions_of_models_that_have_not_seen_the_text(halves: Made) -> None:
    """Each name stands in one document, so that none of them is found where it was not seen."""
    trained(folds=3)
    (deid, *others), [concepts] = halves.deid, halves.concepts
    assert texts(deid.learned) == texts(TRAIN) == texts(concepts.learned)
    assert [item.tags for item in concepts.learned] == [item.layer(CONCEPT) for item in TRAIN]
    seen = [{item.document for item in half.learned} for half in others]
    asked = [[sentence.words for sentence in half.asked] for half in others]
    assert seen == [{"2", "3"}, {"1", "3"}, {"1", "2"}]
    assert asked == [WORDS[:2], WORDS[2:3], WORDS[3:]]
    assert texts(concepts.dev) == ["Dr [DOCTOR] [DOCTOR] gave zinc"]  # the final model knows these names


@pytest.mark.parametrize(
    ("learns_from", "reads", "learned", "read"),
    [
        ("original", "original", "Dr Jane Quill gave zinc", "Dr Jane Quill gave zinc"),
        ("original", "predicted", "Dr Jane Quill gave zinc", "Dr [DOCTOR] [DOCTOR] gave zinc"),
        ("predicted", "original", "Dr Jane Quill gave zinc", "Dr Jane Quill gave zinc"),
        ("predicted", "predicted", "Dr Jane Quill gave zinc", "Dr [DOCTOR] [DOCTOR] gave zinc"),
        ("gold", "predicted", "Dr [DOCTOR] [DOCTOR] gave zinc", "Dr [DOCTOR] [DOCTOR] gave zinc"),
        ("gold", "gold", "Dr [DOCTOR] [DOCTOR] gave zinc", "Dr [DOCTOR] Quill gave zinc"),
    ],
)
def test_each_row_of_table_5_is_a_setting(halves: Made, learns_from: str, reads: str, learned: str, read: str) -> None:
    tagger = trained(learns_from=learns_from, reads=reads)
    [concepts] = halves.concepts
    given = [["O", "B-DOCTOR", "O", "O", "O"]] if reads == "gold" else None
    concepts.asked = []
    found = tagger.predict_layers([TRAIN[0].sentence], phi=given)
    assert texts(concepts.learned)[0] == learned
    assert (texts(concepts.dev)[0] == "Dr Jane Quill gave zinc") == (learns_from == "original")
    assert " ".join(concepts.asked[0].words) == read
    assert found[PHI] == (given or [["O", "B-DOCTOR", "B-DOCTOR", "O", "O"]])
    assert tagger.traits(tagger.settings).hides_phi == (reads != "original")


def test_where_gold_phi_is_to_be_hidden_it_must_be_given(halves: Made) -> None:
    with pytest.raises(OptionConflictError):
        trained(reads="gold").predict_layers([TRAIN[0].sentence])


def test_of_corpora_that_share_no_text_each_half_gets_its_own(halves: Made) -> None:
    phi = [labelled("Dr Jane gave it", "O B-DOCTOR O O", None, document="1")]
    concepts = [labelled("Jane took zinc", "O O O", "O O B-DRUG", document="2", annotated=False)]
    trained([*phi, *concepts])
    [deid], [learned] = halves.deid, halves.concepts  # nothing that is hidden was learned from
    assert texts(deid.learned) == ["Dr Jane gave it"]
    assert texts(learned.learned) == ["[DOCTOR] took zinc"]
    with pytest.raises(MismatchError):
        trained([*phi, *concepts], learns_from="gold")


def test_one_document_is_cut_by_sentences_and_one_sentence_not_at_all(halves: Made) -> None:
    trained(TRAIN[:2], folds=5)
    assert [texts(half.learned) for half in halves.deid[1:]] == [texts(TRAIN[1:2]), texts(TRAIN[:1])]
    halves.pairs.clear()
    trained(TRAIN[:1])
    assert len(halves.deid) == 1


def test_pipelines_that_read_other_texts_share_what_is_the_same_in_them(halves: Made) -> None:
    """All rows of Table 5: one model of PHI, one for each fold, and one of concepts for each text learned from."""
    ways = [("predicted", "predicted"), ("original", "original"), ("original", "predicted"), ("gold", "gold")]
    settings = [CascadeSettings(deid="crf", concepts="crf", learns_from=a, reads=b) for a, b in ways]
    taggers = [CascadeTagger(one) for one in settings]
    told: list[tuple[int, int, int]] = []
    CascadeTagger.fit_many(taggers, TRAIN, TRAIN, on_progress=lambda place, p: told.append((place, p.step, p.total)))
    assert (len(halves.deid), len(halves.concepts)) == (1 + 3, 3)
    assert told == [(place, n, most) for place, most in enumerate((5, 2, 2, 2)) for n in range(1, most + 1)]
    found = [tagger.predict_layers([TRAIN[0].sentence], phi=[["O"] * 5])[CONCEPT] for tagger in taggers]
    alone = []
    for one in settings:
        tagger = CascadeTagger(one)
        tagger.fit(TRAIN, TRAIN)
        alone.append(tagger.predict_layers([TRAIN[0].sentence], phi=[["O"] * 5])[CONCEPT])
    assert found == alone
    fewer = CascadeSettings(deid="crf", concepts="crf", folds=2)
    others = [CascadeTagger(settings[0], seed=1), CascadeTagger(fewer)]
    halves.pairs.clear()
    CascadeTagger.fit_many([taggers[0], *others], TRAIN, [])
    assert (len(halves.deid), len(halves.concepts)) == (4 + 4 + 3, 3)


def test_an_interrupted_training_goes_on_with_the_models_that_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is trained once, whenever it ends; those of another seed, or of other settings, are others."""
    fitted: list[tuple[str, ...]] = []
    fit = CrfTagger.fit

    def watched(tagger: CrfTagger, train: Sequence[LabelledSentence], *rest: Any, **named: Any) -> None:
        if len(fitted) == most:
            raise KeyboardInterrupt
        fitted.append(tuple(texts(train)))
        fit(tagger, train, *rest, **named)

    def taggers(seed: int = 0, **settings: Any) -> list[CascadeTagger]:
        ways = [{"learns_from": way, "reads": "original"} for way in ("predicted", "gold")]
        both = {"deid": "crf", "concepts": "crf", "options": {"max_iterations": 9}, **settings}
        return [CascadeTagger(CascadeSettings(**both, **way), seed=seed) for way in ways]

    def found(some: Sequence[CascadeTagger]) -> list[Any]:
        return [tagger.predict_layers([item.sentence for item in TRAIN]) for tagger in some]

    monkeypatch.setattr(CrfTagger, "fit", watched)
    most, whole = -1, taggers()
    CascadeTagger.fit_many(whole, TRAIN, TRAIN)
    at_once, resumed = list(fitted), taggers()
    fitted.clear()
    for done in range(len(at_once)):
        most = done
        with pytest.raises(KeyboardInterrupt):
            CascadeTagger.fit_many(resumed, TRAIN, TRAIN, checkpoint_dir=tmp_path)
    most = -1
    CascadeTagger.fit_many(resumed, TRAIN, TRAIN, checkpoint_dir=tmp_path)
    assert fitted == at_once and len(at_once) == 1 + 3 + 2
    assert found(resumed) == found(whole)
    CascadeTagger.fit_many([*taggers(), *taggers(1), *taggers(folds=2)], TRAIN, TRAIN, checkpoint_dir=tmp_path)
    assert len(fitted) == len(at_once) + (1 + 3 + 2) + (1 + 2 + 2)


TAGS = st.sampled_from(["O", "B-ID", "I-ID"])


@given(st.lists(st.tuples(st.text(min_size=1), st.text(min_size=1), TAGS), min_size=1))
def test_nothing_of_a_hidden_word_is_left(drawn: list[tuple[str, str, str]]) -> None:
    """Neither in the tokens nor in their offsets, nor in what a sentence knows of its note."""
    tags = [tag for _, _, tag in drawn]
    found = []
    for words in ([a for a, _, _ in drawn], [a if tag == "O" else b for a, b, tag in drawn]):
        note = Sentence.from_words([*words, "after"]).tokens
        sentence = Sentence(note[:-1], words[0], words[-1], 2, 5, note, 0)
        found.append(mask_phi_tokens(sentence, tags))
    assert found[0] == found[1] and found[0].note == () and (found[0].heading, found[0].line_prefix) == ("", "")
    assert [token.text == "[ID]" for token in found[0].tokens if isinstance(token, Token)] == [
        tag != "O" or word == "[ID]" for word, _, tag in drawn
    ]


def test_what_the_model_of_concepts_has_stored_can_be_asked() -> None:
    found = {}
    for learns_from in ("original", "gold"):
        tagger = create("pipeline", overrides={"deid": "crf", "concepts": "crf", "learns_from": learns_from, "c1": 0.0})
        tagger.fit(TRAIN, [])
        found[learns_from] = tagger.stores(["Quill", "Vole", "zinc", "never"])  # type: ignore[attr-defined]
    assert found == {"original": [True, True, True, False], "gold": [False, False, True, False]}


def test_options_reach_both_halves_and_it_can_be_loaded(tmp_path: Any) -> None:
    tagger = create("pipeline", overrides={"deid": "crf", "concepts": "crf", "max_iterations": 7, "folds": 2})
    tagger.fit(TRAIN, [])
    tagger.save(tmp_path)
    loaded = load_tagger(tmp_path)
    assert loaded.settings == tagger.settings
    assert [part.max_iterations for _, part in member_settings(tagger.settings)] == [7, 7]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learns_from": "text"}, "unknown learns_from 'text'"),
        ({"folds": 1}, "folds"),
        ({"deid": "pipeline"}, "half of a pipeline"),
        ({"concepts": "stacked"}, "half of a pipeline"),
        ({"options": {"nonsense": 1}}, "nonsense"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        CascadeSettings(**{"deid": "crf", "concepts": "crf", **settings})
