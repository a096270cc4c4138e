"""Names from lists, and clusters of words."""

from features import Sentence
from features.lexicons import Gazetteers, WordClusters, gazetteers, make_clusters


def test_a_capitalised_word_has_the_lists_it_is_in() -> None:
    sentence = Sentence.from_words(["Mary", "Johnson", "mary", "Zxqv"])
    rows = Gazetteers(("en_US",), window=0).extract(sentence)
    assert "first" in rows[0][0]
    assert "last" in rows[1][0]
    assert rows[2:] == [[], []]
    assert Gazetteers(("en_US",), window=1).extract(sentence)[3] == []
    assert Gazetteers(("en_US",), window=1).extract(sentence)[2] == [f"list[-1]={gazetteers(('en_US',))['johnson']}"]


def test_every_locale_adds_to_the_lists() -> None:
    assert gazetteers(("en_US",)).keys() < gazetteers(("en_US", "es_ES")).keys()


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
