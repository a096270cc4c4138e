"""Names from lists, and clusters of words."""

import pytest

from features import Sentence
from features.lexicons import Gazetteers, NameLists, WordClusters, make_clusters
from features.sentences import split_sentences


def test_a_capitalised_word_has_the_lists_it_is_in() -> None:
    sentence = Sentence.from_words(["Mary", "Johnson", "mary", "Zxqv", "MUELLER", "Müller"])
    rows = NameLists(window=0).extract(sentence)
    assert "first" in rows[0][0]
    assert rows[1] == rows[4] == rows[5] == ["list[0]=last"]
    assert rows[2:4] == [[], []]
    assert NameLists(window=0, languages=("en",)).extract(sentence)[5] == []
    assert "list[-1]=last" in NameLists(window=1).extract(sentence)[2]


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


def test_frequent_words_have_one_of_so_many_clusters() -> None:
    sentences = [Sentence.from_words(["Seen", "on", day, "at", "noon"]) for day in ("monday", "friday")] * 5
    sentences += [Sentence.from_words(["rare", "words"])] * 4
    clusters = make_clusters(sentences, count=3)
    assert clusters.keys() == {"seen", "on", "monday", "friday", "at", "noon"}
    assert set(clusters.values()) == {"0", "1", "2"}
    assert make_clusters(sentences, count=3) == clusters
    assert make_clusters([]) == {}


def test_clusters_are_those_of_the_words_around() -> None:
    rows = WordClusters({"dr": "7", "doe": "9"}, window=1).extract(Sentence.from_words(["Dr", "Doe", "x"]))
    assert rows == [["cluster[0]=7", "cluster[1]=9"], ["cluster[-1]=7", "cluster[0]=9"], ["cluster[-1]=9"]]
