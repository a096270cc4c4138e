"""Every format shows the same data, and nothing that a note holds can become markup or a command of a terminal."""

import json
from functools import cache

import pytest

from crfdeid.documents import LabelledSentence, Span
from crfdeid.ensembles.hybrid import HybridTagger
from crfdeid.explain import explain_document, explain_prediction, explain_weights
from crfdeid.explain.data import Decision
from crfdeid.explain.page import blocks_page
from crfdeid.explain.render import (
    CONFIDENTIAL_WARNING,
    HASHED_NOTICE,
    RenderBlock,
    TableBlock,
    TextBlock,
    TitleBlock,
    blocks_markdown,
    blocks_text,
    decision_blocks,
    explanation_json,
    prediction_blocks,
    reason_text,
    weight_blocks,
)
from crfdeid.pipeline import Deidentifier
from features.sentences import split_sentences

(SENTENCE,) = split_sentences("seen by Dr Quill on 3/14/72")
TAGS = ("O", "O", "O", "B-DOCTOR", "O", "B-DATE", *["I-DATE"] * 4)


@cache
def tagger() -> HybridTagger:
    made = HybridTagger()
    made.fit([LabelledSentence(SENTENCE, TAGS)] * 3, [])
    return made


def test_a_crf_s_table_adds_up_to_its_last_row():
    found = explain_prediction(tagger().members[0], SENTENCE, 3)
    tables = {block.title: block for block in prediction_blocks(found, top=4) if isinstance(block, TableBlock)}
    rows = tables["The exact sum of a CRF"].rows
    assert len(rows) == 4 + 1 + 3
    assert sum(row[-1] for row in rows[:-1]) == pytest.approx(rows[-1][-1])
    assert rows[-1][-1] == pytest.approx(found.log_odds)
    assert rows[4][0] == f"{len(found.crf.features) - 4} further features"


def test_text_and_markdown_name_the_tag_its_rival_and_the_rule():
    found = explain_prediction(tagger(), SENTENCE, 5, methods=["sum", "occlusion"], replacing={4: None})
    for shown in (blocks_text(prediction_blocks(found)), blocks_markdown(prediction_blocks(found))):
        for said in (
            "3: B-DATE, and not B-DOCTOR (hybrid)",
            "date in digits",
            "Occlusion",
            "seen by Dr Quill 3 / 14 / 72",
        ):
            assert said in shown


def test_a_note_cannot_bring_markup_or_commands():
    evil = "<script>alert(1)</script>|`x`\x1b[2J\n# no title"
    blocks: list[RenderBlock] = [TitleBlock(evil), TextBlock((evil,)), TableBlock(evil, ("a", "b"), ((evil, 1.0),))]
    assert "\x1b" not in blocks_text(blocks)
    markdown = blocks_markdown(blocks)
    assert "\\<script\\>" in markdown
    assert "\x1b" not in markdown
    assert "\n#" not in markdown
    assert len(markdown.strip().splitlines()[-1].replace("\\|", "").split("|")) == 4
    page = blocks_page("t", blocks, warning="w")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_json_holds_every_field():
    found = explain_prediction(tagger(), SENTENCE, 5)
    data = json.loads(explanation_json(found))
    assert data["members"][1]["rules"][0]["name"] == "date in digits"
    assert data["members"][0]["crf"]["features"][0]["weight"] == found.members[0].crf.features[0].weight
    assert set(json.loads(explanation_json(explain_weights(tagger())))) == {
        *("model", "tags", "hashed", "crf", "network", "rules", "members")
    }


def test_what_a_model_learned_has_a_warning_and_all_its_tables():
    blocks = list(weight_blocks(explain_weights(tagger(), top=3, sentences=[SENTENCE])))
    titles = [block.title for block in blocks if isinstance(block, TableBlock)]
    assert titles[:2] == ["Weight of a tag after a tag", "What each kind of feature carries"]
    assert {"What speaks most for B-DOCTOR", "Rules that are trusted"} <= set(titles)
    assert CONFIDENTIAL_WARNING in blocks_text(blocks)
    assert HASHED_NOTICE not in blocks_text(blocks)
    page = blocks_page("What it learned", blocks, warning=CONFIDENTIAL_WARNING)
    assert 'class="s5"' in page  # the picture of the transitions
    assert 'class="s-' in page


def test_why_a_span_is_hidden_is_said_in_words():
    found = explain_document(Deidentifier(tagger()), "seen by Dr Quill on 3/15/72")
    text = blocks_text(decision_blocks(found, "hybrid"))
    assert "What hybrid hides, and why" in text
    assert "the rule `date in digits` matched (" in text
    nothing = explain_document(Deidentifier(tagger()), "")
    assert "Nothing." in blocks_text(decision_blocks(nothing, "hybrid"))


@pytest.mark.parametrize("source", ["model", "record", "list", "consistency", "rule:e-mail"])
def test_every_source_has_words_of_its_own(source):
    sources = ("model", "record", "list", "consistency", "rule:e-mail", "rule:fax")
    words = {one: reason_text(Decision(Span(3, 7, "DATE"), "May", one, 0.25, Span(9, 12, "DATE"))) for one in sources}
    assert list(words.values()).count(words[source]) == 1
