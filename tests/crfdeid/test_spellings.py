"""What is found in a note does not depend on how its accents, spaces and invisible marks are written."""

import unicodedata
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crfdeid.bio import encode
from crfdeid.documents import Document, Span
from crfdeid.pipeline import Deidentifier
from crfdeid.redaction import OPERATORS
from crfdeid.redaction.redact import redact
from crfdeid.registry import create
from features.tokenizer import normal_form

NAMES = ("Íñigo Múgica", "Zoë Quill-Ångström", "Ana Marš")
LINES = (
    "Paciente: {name}. Teléfono: 914 555 013\n",
    "{name} acudió el 14/03/1972 a revisión.\n",
    "Seen by Dr. {name}, MRN: 48-2213-7.\n",
    "La señora {last} está mejor; no precisó más.\n",
    "Contact: m.{last}@tawn.org; {last}.\n",
)
NOTES = st.lists(
    st.builds(str.format, st.sampled_from(LINES), name=st.sampled_from(NAMES), last=st.just("Múgica"))
).map("".join)
# Without the soft hyphen, which is visible at the end of a line.
MARKS = st.text(st.sampled_from("\u200b\u200c\u200e\u202a\u2066\ufeff"), max_size=2)
SPACES = st.sampled_from(" \u00a0\u2009\u202f\u3000")
SMALL = {
    "crf": {"max_iterations": 20},
    "elman": {"hidden": 8, "embedding_dim": 8, "epochs": 1, "min_count": 1},
}


@cache
def model(name: str, threshold: float | None) -> Deidentifier:
    return Deidentifier(trained(name), threshold=threshold)


@cache
def trained(name: str):
    text = "".join(line.format(name=n, last=n.split()[-1]) for n in NAMES for line in LINES)
    spans = tuple(Span(i, i + len(n), "PATIENT") for n in NAMES for i in range(len(text)) if text.startswith(n, i))
    tagger, sentences = create(name, overrides=SMALL.get(name)), encode(Document("1", text, spans)).sentences
    tagger.fit(sentences, sentences)
    return tagger


@st.composite
def spellings(draw):
    """A note, another spelling of it, and where each character of the one begins in the other."""
    plain = draw(NOTES)
    decomposed, marked, spaced = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    raw, places = (draw(MARKS) if marked else ""), []
    for character in plain:
        places.append(len(raw))
        spelled = unicodedata.normalize("NFD", character) if decomposed else character
        if spaced and character == " ":
            spelled = draw(SPACES)
        raw += "".join(c + (draw(MARKS) if marked and draw(st.integers(0, 7)) == 0 else "") for c in spelled)
    return plain, raw, [*places, len(raw)]


def moved(spans, places):
    """Spans of the plain text in its other spelling."""
    return tuple(Span(places[start], places[end], label) for start, end, label in spans)


@pytest.mark.parametrize(("name", "threshold"), [("rules", None), ("crf", None), ("crf", 0.2)])
@settings(max_examples=15)
@given(case=spellings())
def test_the_findings_are_exactly_those_of_the_plain_text(name, threshold, case):
    plain, raw, places = case
    assert model(name, threshold).annotate(raw).spans == moved(model(name, threshold).annotate(plain).spans, places)


def test_there_is_something_to_find():
    assert model("crf", None).annotate(LINES[1].format(name=NAMES[0])).spans[0] == Span(0, 12, "PATIENT")


@pytest.mark.slow
def test_networks_compute_the_same_too(quickly_compiled):
    plain = LINES[0].format(name=NAMES[0])
    raw = "".join(f"{unicodedata.normalize('NFD', c)}\u200b" for c in plain).replace(" ", "\u00a0")
    (expected,), (found,) = (trained("elman").marginals(Document("1", text).sentences()) for text in (plain, raw))
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("how", sorted({*OPERATORS} - {"mask", "encrypt", "keep"}))
@settings(max_examples=10)
@given(case=spellings())
def test_redaction_hides_the_same_and_leaves_no_mark_of_a_hidden_word(how, case):
    plain, raw, _ = case
    expected, found = model("crf", None).annotate(plain), model("crf", None).annotate(raw)
    surrogates = {"secret": b"an invented secret", "patient": "1", "locale": "es_ES"}
    options = surrogates if how in ("surrogate", "hash") else {}
    redacted = redact(found, how, **options).text
    assert normal_form(redacted).text == redact(expected, how, **options).text
    outside = [
        raw[a:b]
        for a, b in zip([0, *(s.end for s in found.spans)], [*(s.start for s in found.spans), len(raw)], strict=True)
    ]
    if how == "remove":
        assert redacted == "".join(outside)
    assert all(part in redacted for part in outside)
    assert not any(normal_form(f"|{part}").text == "|" for part in outside[1:] if part), "a mark is left behind"
