"""Folders of templates: what is read, and errors that name file and line."""

import pytest
import regex

from crfdeid.corpora.templates import built_in_templates, fill, read_templates
from crfdeid.errors import DataError, EmptyInputError, FormatError, NotFoundError, UnknownNameError

NOTE = "== first | kind=phone\n{patient} called.\n"


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_a_template_has_its_keys_and_sections(folder):
    text = (
        "# a comment\n== a note | kind=clinic-letter | age=1-17 | sex=male | country=uk | split=dev | case=upper\n"
        "\nDear {doctor1.last},\n\nthank you\n?? for seeing {patient.first}\n\n--?\nPS\n--~\none\n--~\ntwo\n"
    )
    (template,) = read_templates(folder(mine=text)).templates
    assert (template.name, template.kind, template.ages, template.sex) == ("a note", "clinic-letter", (1, 17), "male")
    assert (template.country, template.split, template.case, template.new_persons) == ("uk", "dev", "upper", False)
    assert [section.mark for section in template.sections] == ["", "?", "~", "~"]
    first = [(line.text, line.optional) for line in template.sections[0].lines]
    assert first == [
        ("Dear {doctor1.last},", False),
        ("", False),
        ("thank you", False),
        ("for seeing {patient.first}", True),
    ]


def test_a_folder_has_its_own_lists_and_those_of_the_language(folder):
    where = folder(
        mine="== a | kind=phone\n{pet} {drug.caps} {pet.Cap}\n", lists="== pet\n[her|her] dog {patient.last}\n"
    )
    (note,) = fill(read_templates(where), fillings=1)
    assert regex.fullmatch(r"(?i)her dog \S.*", note.text)
    assert [span.label for span in note.spans] == ["PATIENT", "PATIENT"]
    assert "DRUG" not in built_in_templates("english").lists


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("no head\n" + NOTE, 1),
        (NOTE + "{patientt}\n", 3),
        (NOTE + "{doctor.last}\n", 3),
        (NOTE + "{doctor1.surname}\n", 3),
        (NOTE + "{id.unknown}\n", 3),
        (NOTE + "{n:3}\n", 3),
        (NOTE + "{day-3q}\n", 3),
        (NOTE + "{unknown list}\n", 3),
        (NOTE + "a [b|c\n", 3),
        (NOTE + "a b|c]\n", 3),
        (NOTE + "a] [b\n", 3),
        (NOTE + "a {day\n", 3),
        (NOTE + "a day}\n", 3),
        (NOTE + NOTE, 3),
        (NOTE + "== second | kind=phone\n--\n\n", 3),
        ("== | kind=phone\n{day}\n", 1),
        ("== a\n{day}\n", 1),
        ("== a | kind=Phone Call\n{day}\n", 1),
        ("== a | kind=phone | colour=red\n{day}\n", 1),
        ("== a | kind=phone | kind=letter\n{day}\n", 1),
        ("== a | kind=phone | age=old\n{day}\n", 1),
        ("== a | kind=phone | age=9-3\n{day}\n", 1),
        ("== a | kind=phone | sex=f\n{day}\n", 1),
        ("== a | kind=phone | country=fr\n{day}\n", 1),
        ("== a | kind=phone | split=all\n{day}\n", 1),
    ],
)
def test_an_invalid_template_is_refused_with_file_and_line(text, line, folder):
    with pytest.raises(FormatError) as error:
        read_templates(folder(mine=text))
    assert (error.value.path, error.value.line) == (folder() / "mine.txt", line)


def test_an_invalid_list_is_refused_with_file_and_line(folder):
    with pytest.raises(FormatError) as error:
        read_templates(folder(mine=NOTE, lists="== pet\ndog\n{cat}\n"))
    assert (error.value.path, error.value.line) == (folder() / "lists.txt", 3)


def test_a_name_of_another_file_is_refused(folder):
    with pytest.raises(FormatError) as error:
        read_templates(folder(a=NOTE, b=NOTE))
    assert (error.value.path, error.value.line) == (folder() / "b.txt", 1)


def test_a_folder_without_templates_is_refused(folder, tmp_path):
    with pytest.raises(EmptyInputError):
        read_templates(folder(lists="== pet\ndog\n"))
    with pytest.raises(NotFoundError):
        read_templates(tmp_path / "none")
    assert issubclass(NotFoundError, DataError)


def test_an_unknown_language_is_refused(folder):
    with pytest.raises(UnknownNameError):
        built_in_templates("latin")
    with pytest.raises(UnknownNameError):
        read_templates(folder(mine=NOTE), language="latin")
