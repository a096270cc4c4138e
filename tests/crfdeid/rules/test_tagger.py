"""The rules: every row of the table by its own examples, what is learned of them, and hostile input."""

import time

import numpy as np
import pytest

from crfdeid.bio import encode
from crfdeid.documents import Document, LabelledSentence, Span
from crfdeid.errors import UsageError
from crfdeid.rules.table import RULES, Rule, find_rules
from crfdeid.rules.tagger import RulesSettings, RulesTagger
from features.tokens import split_sentences


def found(rule: Rule, text: str) -> list[str]:
    return [
        text[sentence.tokens[first].start : sentence.tokens[stop - 1].end]
        for sentence in split_sentences(text)
        for other, first, stop in find_rules(sentence)
        if other is rule
    ]


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule in RULES for text in rule.finds])
@pytest.mark.parametrize("frame", ["{}", "Seen, {}, well", "({})", "x\n{}\ny", "{}. "])
def test_each_rule_finds_its_examples(rule: Rule, text: str, frame: str) -> None:
    (value,) = found(rule, frame.format(text))
    assert text.endswith(value)
    assert len(value) >= 2


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule in RULES for text in rule.leaves])
def test_each_rule_leaves_its_counterexamples(rule: Rule, text: str) -> None:
    assert found(rule, text) == []


@pytest.mark.parametrize("part", ["7", "1-", "a@", "a.b", "www.", "(1", "+1 1"])
def test_hostile_text_takes_linear_time(part: str) -> None:
    text = part * (200_000 // len(part))
    started = time.process_time()
    for sentence in split_sentences(text):
        list(find_rules(sentence))
    assert time.process_time() - started < 30  # quadratic would be hours


def notes(*texts: str) -> list[LabelledSentence]:
    """ "on [3/14/72|DATE]" as labelled sentences."""
    labelled = []
    for text in texts:
        plain, spans = "", []
        for i, part in enumerate(text.replace("]", "[").split("[")):
            value, _, label = part.partition("|")
            if i % 2:
                spans.append(Span(len(plain), len(plain) + len(value), label))
            plain += value
        labelled += encode(Document("1", plain, tuple(spans))).sentences
    return labelled


def fitted(*texts: str, **settings: object) -> RulesTagger:
    tagger = RulesTagger(RulesSettings(**settings))
    tagger.fit(notes(*texts), [])
    return tagger


def tags(tagger: RulesTagger, text: str) -> list[str]:
    return [tag for row in tagger.predict(split_sentences(text)) for tag in row]


def test_a_rule_has_the_type_that_its_finds_have() -> None:
    tagger = fitted(*["on [3/14/72|WHEN] at 9"] * 9)
    assert tags(tagger, "on 1/2/73") == ["O", "B-WHEN", *["I-WHEN"] * 4]
    assert tagger.trusted["date"] == ("WHEN", pytest.approx(10 / 11))


def test_a_rule_with_few_finds_or_wrong_ones_is_not_trusted() -> None:
    assert "date" not in fitted(*["on [3/14/72|DATE]"] * 8).trusted  # 8 of 9
    assert "date" in fitted(*["on [3/14/72|DATE]"] * 9).trusted
    assert "date" not in fitted(*["on [3/14/72|DATE]"] * 17, "on 3/14/72", "[3/14|DATE]/72").trusted
    assert "date" in fitted(*["on [3/14/72|DATE]"] * 4, precision=0.8).trusted


def test_a_rule_that_met_nothing_is_used_where_the_notes_have_one_of_its_types() -> None:
    assert fitted("call [x|EMAIL]").trusted == {"e-mail": ("EMAIL", 0.9)}
    assert "e-mail" not in fitted("call [x|ID]").trusted
    every = fitted("call [x|ID]", keep_untried=True)
    assert every.trusted["e-mail"] == ("EMAIL", 0.9)
    assert "B-EMAIL" in tags(every, "to j.quill@tawn.org")
    assert set(tags(every, "to j.quill@tawn.org")) <= set(every.tags)


def test_marginals_say_how_far_a_rule_is_right_and_what_rules_miss() -> None:
    tagger = fitted(*["on [3/14/72|DATE]"] * 9, "[Quill|PATIENT] came home")
    (table,) = tagger.marginals(split_sentences("on 1/2/73"))
    place = {tag: k for k, tag in enumerate(tagger.tags)}
    assert table[1, place["B-DATE"]] == pytest.approx(10 / 11)
    assert table[2, place["I-DATE"]] == pytest.approx(10 / 11)
    assert table[0, place["O"]] == pytest.approx(1 - 2 / 14)  # one PHI token of twelve that no rule finds
    np.testing.assert_allclose(table.sum(axis=1), 1)


def test_a_setting_that_cannot_work_is_refused() -> None:
    with pytest.raises(UsageError, match=r"precision is 1\.5"):
        RulesSettings(precision=1.5)
