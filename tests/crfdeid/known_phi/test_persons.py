"""Whose name it is: the first person it can be of, told from an index as from all people one by one."""

from hypothesis import given
from hypothesis import strategies as st

from crfdeid.known_phi.names import PersonClusterer, PersonName, parse_name

NAMES = st.lists(st.sampled_from(["Jane", "John", "J.", "Q", "Quill", "quinn", "Dr.", "D.", "Doe"]), max_size=4)


def one_by_one(names: list[PersonName]) -> list[int]:
    """The numbers of names, each held against all people there are."""
    people: list[PersonName] = []
    numbers = []
    for name in names:
        joined = [person.joined(name) for person in people]
        place = next((i for i, one in enumerate(joined) if one is not None), len(people))
        people[place : place + 1] = [joined[place] or name] if place < len(people) else [name]
        numbers.append(place + 1)
    return numbers


@given(st.lists(NAMES.map(" ".join), max_size=12))
def test_numbers_are_those_that_holding_a_name_against_everybody_gives(texts: list[str]) -> None:
    names = [name for name in map(parse_name, texts) if name is not None]
    people = PersonClusterer()
    assert [people.number(name) for name in names] == one_by_one(names)


def test_many_people_with_the_same_letters_take_no_minutes() -> None:
    letters = "abcdefghijklmnopqrst"
    names = [f"J{a}{b} Q{c}{d}" for a in letters for b in letters for c in letters for d in letters[:3]]
    people = PersonClusterer()
    numbers = [people.number(name) for name in map(parse_name, names * 2) if name is not None]
    assert numbers == [*range(1, len(names) + 1)] * 2
