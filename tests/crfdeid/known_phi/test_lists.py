"""Custom lists: deny and allow lists, patterns, and errors that name file and line."""

from __future__ import annotations

import json
import pickle
from dataclasses import asdict
from pathlib import Path

import pytest

from crfdeid.errors import DataError, EmptyInputError, FormatError, LimitError
from crfdeid.known_phi import lists as site_module
from crfdeid.known_phi.lists import CustomLists, Pattern, Term, read_lists

LISTS = """
[[deny]]
type = "HOSPITAL"
terms = ["Tawn List Clinic", "TLC"]
file = "more.txt"

[[deny]]
type = "ORGANIZATION"
terms = ["IT"]
match_case = true

[[pattern]]
type = "ID"
regex = 'TL-\\d{6}'

[[pattern]]
type = "DOCTOR"
regex = 'signed (?P<value>[a-z]{2,4}\\d)'

[[allow]]
terms = ["Foley", "Sims"]
"""


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    (tmp_path / "more.txt").write_text("# clinics\n\nMarsh House\n")
    path = tmp_path / "site.toml"
    path.write_text(LISTS)
    return path


def hidden(site: CustomLists, text: str) -> list[tuple[str, str]]:
    return [(text[start:end], label) for start, end, label in sorted(site.find(text))]


def test_lists_and_patterns_are_read_and_found(lists: Path) -> None:
    text = "At TAWN LIST clinic (tlc) and marsh-house it was IT; case tl-204417, signed QX4."
    assert hidden(read_lists(lists), text) == [
        ("TAWN LIST clinic", "HOSPITAL"),
        ("tlc", "HOSPITAL"),
        ("marsh-house", "HOSPITAL"),
        ("IT", "ORGANIZATION"),
        ("tl-204417", "ID"),
        ("QX4", "DOCTOR"),
    ]


def test_an_allow_entry_is_the_whole_find_or_nothing(lists: Path) -> None:
    site = read_lists(lists)
    assert [site.allows(value) for value in ("Foley", "FOLEY", "Foley Quill", "Fol")] == [True, True, False, False]
    assert not CustomLists(allow=(Term("IT", match_case=True),)).allows("it")


def test_lists_go_through_json_and_to_other_processes(lists: Path) -> None:
    site = read_lists(lists)
    site.find("At Tawn List")
    assert CustomLists.of(json.loads(json.dumps(asdict(site)))) == site == pickle.loads(pickle.dumps(site))


def test_lists_are_joined(lists: Path) -> None:
    both = read_lists(lists).joined(CustomLists(deny=(Term("Orla", "DOCTOR"),)))
    assert hidden(both, "TLC, Orla") == [("TLC", "HOSPITAL"), ("Orla", "DOCTOR")]
    assert both
    assert not CustomLists()


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('type = "HOSPITAL"', 'type = "two words"', 3),
        ('type = "HOSPITAL"', "type = 4", 3),
        ('type = "HOSPITAL"\n', "", 2),
        ('terms = ["Tawn List Clinic", "TLC"]', 'terms = "Quill"', 4),
        ('terms = ["Tawn List Clinic", "TLC"]', 'terms = ["Quill", "?!"]', 4),
        ('terms = ["IT"]', "terms = []", 7),
        ("match_case = true", "match_case = 1", 10),
        ("match_case = true", "case = true", 10),
        ("TL-\\d{6}", "TL-[", 14),
        ("TL-\\d{6}", "x*", 14),
        ("TL-\\d{6}", "(a|aa)+b", 14),
        ("[[allow]]", "[[alow]]", 20),
        ("[[allow]]", "[allow]", 20),
        ('type = "ID"', 'type = "ID', 13),
        ('type = "ID"', 'type = "ID"\ntype = "IP"', 14),
    ],
)
def test_what_is_wrong_is_said_by_line_and_without_a_term(
    lists: Path, old: str, new: str, line: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_module, "PROBE_TIMEOUT", 0.05)
    lists.write_text(LISTS.replace(old, new, 1))
    with pytest.raises(DataError) as caught:
        read_lists(lists)
    assert caught.value.line == line
    assert caught.value.path == lists
    assert "Quill" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "line"), [(b"Marsh House\n--\n", 2), (b"\n# nothing\n", 5), (b"Marsh\n\xff\n", 2), (None, None)]
)
def test_a_word_list_that_cannot_be_read_is_named(lists: Path, content: bytes | None, line: int | None) -> None:
    listed = lists.with_name("more.txt")
    listed.unlink()
    lists.write_text(LISTS.replace('terms = ["Tawn List Clinic", "TLC"]', "#"))
    if content is not None:
        listed.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_lists(lists)
    assert (caught.value.line, caught.value.path) == (line, lists if line == 5 else listed)
    assert "Marsh" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_a_file_that_says_nothing_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "site.toml").write_text(text)
    with pytest.raises(EmptyInputError) as caught:
        read_lists(tmp_path / "site.toml")
    assert caught.value.path == tmp_path / "site.toml"


def test_tables_in_one_line_are_refused_without_a_line(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text('deny = [{type = "HOSPITAL", terms = [4]}]\n')
    with pytest.raises(FormatError) as caught:
        read_lists(tmp_path / "site.toml")
    assert (caught.value.path, caught.value.line) == (tmp_path / "site.toml", None)


def test_a_pattern_that_takes_too_long_is_an_error_and_not_nothing_found(monkeypatch: pytest.MonkeyPatch) -> None:
    site = CustomLists(patterns=(Pattern(r"(Q|QQ)+z", "ID", match_case=True, name="the pattern of site.toml, line 4"),))
    monkeypatch.setattr(site_module, "PATTERN_TIMEOUT", 0.05)
    with pytest.raises(LimitError):
        site.find("Q" * 60)


def test_a_group_without_a_part_hides_all_of_the_find() -> None:
    site = CustomLists(patterns=(Pattern(r"a(?P<value>b)?c", "ID"),))
    assert hidden(site, "abc ac") == [("b", "ID"), ("ac", "ID")]


def test_the_lists_of_the_guide_work(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "how-to" / "lists-and-patient-records.md").read_text("utf-8")
    (tmp_path / "site.toml").write_text(guide.partition("```toml\n")[2].partition("```")[0])
    (tmp_path / "doctors.txt").write_text("Orla Marsh\n")
    site = read_lists(tmp_path / "site.toml")
    text = "MARSH-HOUSE, Tawn List clinic; IT, it; case TL-204417, signed by QX4; Orla Marsh and Marshall; Foley"
    assert hidden(site, text) == [
        ("MARSH-HOUSE", "HOSPITAL"),
        ("Tawn List clinic", "HOSPITAL"),
        ("IT", "ORGANIZATION"),
        ("TL-204417", "ID"),
        ("QX4", "DOCTOR"),
        ("Orla Marsh", "DOCTOR"),
    ]
    assert site.allows("Foley")
    assert not site.allows("Dr. Foley")
