"""What is learned of the rules, and what becomes of it."""

from pathlib import Path

import numpy as np
import pytest

from crfdeid.bio import encode
from crfdeid.documents import Document, LabelledSentence, Span
from crfdeid.errors import IntegrityError, SettingError
from crfdeid.rules import RulesSettings, RulesTagger
from features.sentences import split_sentences

DATE = "date in digits"


def notes(*texts: str) -> list[LabelledSentence]:
    """ "on [3/14/72|DATE]" as labelled sentences."""
    labelled = []
    for number, text in enumerate(texts):
        plain, spans = "", []
        for i, part in enumerate(text.replace("]", "[").split("[")):
            value, _, label = part.partition("|")
            if i % 2:
                spans.append(Span(len(plain), len(plain) + len(value), label))
            plain += value
        labelled += encode(Document(str(number), plain, tuple(spans))).sentences
    return labelled


def fitted(*texts: str, precision: float = 0.9, keep_untried: bool = True) -> RulesTagger:
    tagger = RulesTagger(RulesSettings(precision, keep_untried))
    tagger.fit(notes(*texts), [])
    return tagger


def tags(tagger: RulesTagger, text: str) -> list[str]:
    return [tag for row in tagger.predict(split_sentences(text)) for tag in row]


def test_a_rule_has_the_type_that_its_finds_have() -> None:
    tagger = fitted(*["on [3/14/72|WHEN] at 9"] * 9)
    assert tags(tagger, "on 1/2/73") == ["O", "B-WHEN", *["I-WHEN"] * 4]
    assert tagger.rule_precision[DATE] == ("WHEN", pytest.approx(10 / 11))


def test_a_rule_is_used_until_the_notes_speak_against_it() -> None:
    assert DATE in fitted("on [3/14/72|DATE]").rule_precision
    assert DATE in fitted(*["on [3/14/72|DATE]"] * 9, "on 3/14/72").rule_precision  # 10 of 11
    assert DATE not in fitted(*["on [3/14/72|DATE]"] * 8, "on 3/14/72", "[3/14|DATE]/72").rule_precision
    assert DATE not in fitted("on 3/14/72", "[Quill|PATIENT]").rule_precision
    assert DATE in fitted("on [3/14/72|DATE]", "on 3/14/72", precision=0.6).rule_precision


def test_a_measured_precision_is_reported_also_where_it_is_the_least_of_the_settings(tmp_path: Path) -> None:
    tagger = fitted("on [3/14/72|DATE]", "on [4/14/72|DATE]", precision=0.75)
    tagger.save(tmp_path)
    for rules in (tagger, RulesTagger.load(tmp_path)):
        (found,) = rules.rule_matches(split_sentences("on 1/2/73, orla@tawn.example"))
        assert {match.name: match.precision for match in found} == {DATE: 3 / 4, "e-mail": None}
        assert rules.rule_precision["e-mail"][1] == 0.75


def test_whatever_type_makes_a_find_right_and_the_most_frequent_one_is_given() -> None:
    assert (
        fitted(*["on [3/14/72|DATE]"] * 2, "on [3/14|DATE][/72|ID]", "on [3/14/72|ID]").rule_precision[DATE][0]
        == "DATE"
    )


def test_a_few_finds_of_another_type_do_not_rename_a_rule_whose_type_the_notes_have() -> None:
    street, patient = "lives at the [Mr Quill|STREET] 4", "[Orla|PATIENT]"
    assert fitted(*[street] * 3, patient).rule_precision["name after a form of address in English"][0] == "PATIENT"
    assert fitted(*[street] * 10, patient).rule_precision["name after a form of address in English"][0] == "STREET"
    assert fitted(*[street] * 3).rule_precision["name after a form of address in English"][0] == "STREET"
    copies = RulesTagger(RulesSettings(0.9))
    copies.fit(notes(street) * 20 + notes(patient), [])  # one note: copies have its id
    assert copies.rule_precision["name after a form of address in English"][0] == "PATIENT"


def test_a_rule_that_has_to_prove_itself_needs_many_right_finds() -> None:
    assert DATE not in fitted(*["on [3/14/72|DATE]"] * 3, keep_untried=False).rule_precision  # 3 of 3.4
    assert DATE in fitted(*["on [3/14/72|DATE]"] * 4, keep_untried=False).rule_precision


def test_a_rule_that_met_nothing_has_a_type_of_the_notes_or_its_own() -> None:
    every = fitted("call [x|CORREO_ELECTRONICO]")
    assert every.rule_precision["e-mail"] == ("CORREO_ELECTRONICO", 0.9)
    assert every.rule_precision[DATE] == ("DATE", 0.9)
    assert tags(every, "to j.quill@tawn.org")[:2] == ["O", "B-CORREO_ELECTRONICO"]
    assert set(tags(every, "to j.quill@tawn.org on 3/14/72")) <= set(every.tags)


def test_a_rule_that_met_nothing_can_be_left_out_where_the_notes_have_no_type_for_it() -> None:
    assert fitted("call [x|EMAIL]", keep_untried=False).rule_precision == dict.fromkeys(
        ("e-mail", "e-mail in words"), ("EMAIL", 0.9)
    )


def test_where_all_types_are_one_a_rule_that_met_nothing_has_that_one() -> None:
    assert fitted("call [x|PHI]").rule_precision["e-mail"] == ("PHI", 0.9)


def test_a_rule_for_what_is_phi_in_some_corpora_alone_needs_examples() -> None:
    assert "relative" not in fitted("her mother, [Quill|RELATIVE]").rule_precision
    assert fitted("su [madre|KIN], su [tía materna|KIN]").rule_precision["relative"] == ("KIN", 3 / 4)
    assert "relative" not in fitted("su [madre|KIN]", "su madre, su tía").rule_precision
    assert fitted("el [3/14/72|DATE] la paciente fue vista").rule_precision["institution"][0] == "INSTITUCION"


def test_notes_without_its_values_do_not_rule_out_such_a_rule() -> None:
    year, date = "year after a word for it", ["on [3/14/72|DATE]"] * 9
    assert fitted(*date, keep_untried=False).rule_precision[year][0] == "DATE"
    assert year not in fitted(*date, "since 1998", keep_untried=False).rule_precision
    assert year not in fitted("[Quill|PATIENT]", keep_untried=False).rule_precision
    assert year not in RulesTagger.untrained().rule_precision


def test_a_find_that_a_checksum_proves_is_phi_whatever_annotators_left() -> None:
    ignored = ["paid by 4929 5260 1815 9081"] * 9
    assert fitted(*ignored, "[Quill|PATIENT]").rule_precision["payment card"] == ("ACCOUNT", 0.9)
    assert "payment card" not in fitted(*ignored, "[Quill|PATIENT]", keep_untried=False).rule_precision


@pytest.mark.parametrize("change", ["tags", "rule"])
def test_a_saved_model_that_does_not_fit_the_table_is_refused(tmp_path: Path, change: str) -> None:
    tagger = fitted(*["on [3/14/72|DATE]"] * 9)
    learned = tagger._learned
    if change == "tags":
        tagger._learned = learned._replace(tags=tuple(tag for tag in learned.tags if tag != "I-DATE"))
    else:
        tagger._learned = learned._replace(rule_precision={"a rule of another version": ("DATE", 0.9)})
    tagger.save(tmp_path)
    with pytest.raises(IntegrityError):
        RulesTagger.load(tmp_path)


def test_marginals_say_how_far_a_rule_is_right_and_what_rules_miss() -> None:
    tagger = fitted(*["on [3/14/72|DATE]"] * 9, "[Quill|PATIENT] came home", keep_untried=False)
    (table,) = tagger.marginals(split_sentences("on 1/2/73"))
    place = {tag: k for k, tag in enumerate(tagger.tags)}
    assert table[1, place["B-DATE"]] == pytest.approx(10 / 11)
    assert table[2, place["I-DATE"]] == pytest.approx(10 / 11)
    assert table[0, place["O"]] == pytest.approx(1 - 2 / 14)  # one PHI token of twelve that no rule finds
    np.testing.assert_allclose(table.sum(axis=1), 1)


def test_a_setting_that_cannot_work_is_refused() -> None:
    with pytest.raises(SettingError):
        RulesSettings(precision=1.5)


def test_a_rule_that_is_not_in_use_keeps_no_other_from_its_tokens() -> None:
    sentences = split_sentences("Tel\n914555013")
    rules = RulesTagger.untrained()
    assert "telephone without a sign of one" not in rules.rule_precision
    assert [span.label for found in rules.find(sentences) for span, *_ in found] == ["PHONE"]
