"""Names of places from lists."""

import pytest

from features.lexicons import Gazetteers
from features.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("vive en Santa Cruz de Tenerife.", ["O", "O", "B-region", "I-region", "I-region", "E-region", "O"]),
        ("CADIZ, cádiz", ["B-region", "O", "O"]),
        ("aus Muenchen und Österreich", ["O", "B-town", "O", "B-country"]),
        ("né à Saint-Denis", ["O", "O", "B-town", "I-town", "E-town"]),
        ("New Quill, New York", ["O", "O", "O", "B-region", "E-region"]),
    ],
)
def test_the_longest_name_of_a_place_is_marked(text: str, places: list[str]) -> None:
    (sentence,) = split_sentences(text)
    assert [row[0].removeprefix("gazetteer[0]=") for row in Gazetteers(window=0).extract(sentence)] == places
    assert Gazetteers(window=1).extract(sentence)[0][-1] == f"gazetteer[1]={places[1]}"
