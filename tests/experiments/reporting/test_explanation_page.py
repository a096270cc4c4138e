"""The page of crfdeid explain as its reader has it, in a headless Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chromium
import pytest
from chromium import Browser, Page

from crfdeid.crf import CrfTagger
from crfdeid.documents import LabelledSentence
from crfdeid.ensembles.hybrid import HybridTagger
from crfdeid.explain import explain_document, explain_prediction
from crfdeid.explain.page import ModelView, text_page
from crfdeid.pipeline import Deidentifier
from features.sentences import split_sentences

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium.COMMAND is None, reason="there is no Chromium here"),
]

TEXT = "🙂 Seen by Dr. Quill\r\non 3/14/72. Mrs. <b>Vole</b> called Dr. Orla Quill."
VIEWS = {"wide": {}, "phone": {"width": 360, "height": 740}, "zoomed": {"width": 640, "height": 450, "scale": 2}}
CHOSEN = "document.querySelectorAll('.token[aria-pressed=true]')"


@pytest.fixture(scope="module")
def model() -> Deidentifier:
    train = split_sentences("Seen by Dr. Quill. Stable. Dr. Orla Vole called.")
    tags = (("O", "O", "O", "O", "B-DOCTOR", "O"), ("O", "O"), ("O", "O", "B-DOCTOR", "I-DOCTOR", "O", "O"))
    tagger = CrfTagger()
    tagger.fit([LabelledSentence(*pair) for pair in zip(train, tags, strict=True)] * 3, [])
    return Deidentifier(tagger)


@pytest.fixture(scope="module")
def hybrid() -> Deidentifier:
    (sentence,) = split_sentences("Dr. Quill on 3/14/72")
    tagger = HybridTagger()
    tagger.fit([LabelledSentence(sentence, ("O", "O", "B-DOCTOR", "O", "B-DATE", *["I-DATE"] * 4))] * 3, [])
    return Deidentifier(tagger)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, model: Deidentifier, hybrid: Deidentifier) -> Path:
    named = {"first": model, "second <i>": hybrid}
    views = [ModelView(name, found, explain_document(found, TEXT)) for name, found in named.items()]
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(text_page(views, warning="Keep it safe."), encoding="utf-8", newline="")
    return path


@pytest.fixture
def open_page(browser: Browser, file: Path) -> Iterator[Callable[..., Page]]:
    """Opens the page; afterwards, nothing may have gone wrong in it and nothing may have been loaded."""
    opened: list[Page] = []

    def open_one(fragment: str = "", **view: Any) -> Page:
        opened.append(browser.open(file, fragment, **view))
        return opened[-1]

    yield open_one
    for page in opened:
        assert page.complaints() == []
        assert len(page.requests()) == 1
        page.close()


def chosen(page: Page) -> list[str]:
    """The words that are chosen, one in each model's text."""
    return page.evaluate(f"[...{CHOSEN}].map((word) => word.textContent)")


def test_the_text_is_whole_and_what_is_hidden_is_framed_and_named(open_page, model):
    page = open_page()
    text = page.evaluate(
        "(() => { const note = document.querySelector('.note').cloneNode(true); "
        "note.querySelectorAll('.tag').forEach((tag) => tag.remove()); return note.textContent; })()"
    )
    assert text == TEXT
    framed = page.evaluate(
        "[...document.querySelector('.note').querySelectorAll('.hidden-span')].map((span) => span.textContent)"
    )
    spans = model.annotate(TEXT).spans
    assert framed == [TEXT[start:end] + label for start, end, label in spans]
    assert page.evaluate("document.querySelectorAll('.note b, h3 i').length") == 0


def test_the_first_hidden_word_is_explained_at_once_and_a_click_explains_another(open_page, model):
    page = open_page()
    assert chosen(page) == ["Quill", "Quill"]
    (sentence, *_) = split_sentences(TEXT)
    found = explain_prediction(model.tagger, sentence, 5)
    why = page.evaluate("document.querySelector('.why').textContent")
    assert f"exact sum for {found.tag} against {found.contrast_tag}: log-odds {found.log_odds:+.2f}" in why
    assert "Hidden as DOCTOR because" in why
    values = page.evaluate(
        "[...document.querySelector('.why .terms').querySelectorAll('.value')].map((v) => v.textContent)"
    )
    assert sum(float(value.replace("−", "-")) for value in values) == pytest.approx(found.log_odds, abs=0.06)
    page.evaluate("[...document.querySelectorAll('.token')].find((word) => word.textContent === 'Seen').click()")
    assert chosen(page) == ["Seen", "Seen"]
    assert "Not hidden." in page.evaluate("document.querySelector('.why').textContent")


def test_of_a_hybrid_the_rule_and_its_model_s_sum_are_shown(open_page):
    page = open_page()
    page.evaluate("[...document.querySelectorAll('.token')].find((word) => word.textContent === '14').click()")
    why = page.evaluate("document.querySelectorAll('.why')[1].textContent")
    assert "Hidden as DATE because" in why
    assert "the model found it" in why  # the rule's match is only a part of the span
    assert "rules: the rule date in digits matches “3 / 14 / 72” as DATE" in why
    assert "crf: exact sum for" in why


def test_arrow_keys_go_from_word_to_word_and_from_one_hidden_word_to_the_next(open_page, model):
    page = open_page()
    page.evaluate(f"{CHOSEN}[0].focus()")
    for key, expected in (("ArrowRight", "on"), ("ArrowLeft", "Quill"), ("Home", "🙂"), ("ArrowDown", "Quill")):
        page.press(key)
        assert chosen(page) == [expected, expected]
    page.press("End")
    page.press("ArrowUp")
    start = model.annotate(TEXT).spans[-1].start
    last = next(token.text for sentence in split_sentences(TEXT) for token in sentence.tokens if token.start == start)
    assert chosen(page) == [last, last]
    assert page.evaluate("document.activeElement.textContent") == last


def test_the_address_names_the_word_and_brings_it_back(open_page):
    page = open_page()
    page.evaluate("[...document.querySelectorAll('.token')].find((word) => word.textContent === 'Vole').click()")
    again = open_page(page.evaluate("location.hash"))
    assert chosen(again) == ["Vole", "Vole"]
    assert chosen(open_page("#word=999")) == ["Quill", "Quill"]


def test_words_are_shaded_by_the_probability_of_phi(open_page, model):
    shades = open_page().evaluate(
        "[...document.querySelectorAll('.token')].map((w) => w.style.getPropertyValue('--phi'))"
    )
    tables = model.tagger.marginals(split_sentences(TEXT))
    outside = model.tagger.tags.index("O")
    expected = [1 - row[outside] for table in tables for row in table]
    assert [float(shade) for shade in shades[: len(expected)]] == pytest.approx(expected, abs=1e-5)
    assert len(shades) == 2 * len(expected)


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_never_scrolls_sideways(open_page, view, dark):
    page = open_page(**view, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_without_scripts_what_is_hidden_and_why_is_there(open_page):
    text = open_page(scripts=False).shown_text()
    assert "What first hides, and why" in text
    assert "the model found it" in text
    assert "needs JavaScript" in text


def test_the_page_s_policy_refuses_other_scripts(browser, file):
    page = browser.open(file)
    page.evaluate(
        "(() => { const s = document.createElement('script'); s.textContent = 'ran = 1'; document.body.append(s); })()"
    )
    assert page.evaluate("typeof ran") == "undefined"
    page.wait(lambda: len(page.complaints()) >= 1)
    page.close()
