"""What is trained, from what is asked for; and how the training documents are shared out among those who pool."""

from collections import Counter

import pytest

from crfdeid.corpora.splits import Split
from crfdeid.documents import Document
from crfdeid.errors import EmptyInputError, UnknownNameError
from experiments.core.embeddings import VectorSettings
from experiments.private.learning import shared_out
from experiments.private.options import (
    HOSPITALS,
    PARTS,
    SIZES,
    PrivateArguments,
    cells_of,
    neighbours_of,
    of_table_2,
    pooling_systems,
    systems_of,
)


def experiment(**more):
    vectors = VectorSettings(sources={"cbow": "cbow", "glove": "glove.txt"})
    return PrivateArguments(vectors=vectors, neighbours=50, pseudonyms=(1, 50), **more)


def test_each_embedding_has_table_2_and_the_numbers_of_neighbours_of_the_figures() -> None:
    asked = experiment(representations=(500,))
    assert [system.name for system in systems_of(asked) if system.embedding == "glove"] == [
        "non-private-glove",
        "pseudonyms-glove-50",
        "pseudonyms-glove-1",
        "representation-glove-50",
        "dann-glove-50",
        "representation-glove-500",
        "dann-glove-500",
    ]
    assert [neighbours_of(system) for system in of_table_2(asked)] == [None, 50, 50, 50] * 2
    assert len({system.name for system in systems_of(asked)}) == 14


def test_every_system_is_trained_with_every_seed() -> None:
    cells = cells_of(systems_of(experiment())[:2], (3, 4))
    assert [(cell.system.model, cell.seed) for cell in cells] == [
        ("non-private", 3),
        ("pseudonyms", 3),
        ("non-private", 4),
        ("pseudonyms", 4),
    ]
    assert all(cell.is_plain for cell in cells)


def test_those_who_pool_are_trained_where_they_are_asked_for() -> None:
    assert pooling_systems(experiment()) == []
    found = pooling_systems(experiment(pooling=True))
    assert [system.name for system in found] == [
        *(f"alone-{part}" for part in PARTS),
        "pooled-raw",
        "pooled-pseudonyms",
        "pooled-representations",
    ]
    assert [neighbours_of(system) for system in found] == [None] * 4 + [50] * 2
    assert {system.embedding for system in found} == {"provider"}


def test_those_who_pool_do_so_by_further_representations_where_they_are_asked_to() -> None:
    less_noise = (("deviation", 0.1), ("weight", 1))
    *_, default, further = pooling_systems(experiment(pooling=True, pooled=(less_noise,)))
    assert (default.name, further.name) == (
        "pooled-representations",
        "pooled-representations-deviation=0.1-weight=1",
    )
    assert further.model == default.model
    assert further.settings == (*default.settings, *less_noise)


def test_documents_are_shared_out_each_to_one_and_in_the_same_way_every_time() -> None:
    train = Split.of(Document(str(number), f"Note {number}") for number in range(11))
    parts = shared_out(train)
    assert parts == shared_out(train)
    assert tuple(parts) == PARTS
    ids = [document.id for part in parts.values() for document in part.documents]
    assert sorted(ids, key=int) == [document.id for document in train.documents]
    assert ids != sorted(ids, key=int)
    assert Counter(len(part.documents) for part in parts.values()) == {4: 2, 3: 1}
    for part in HOSPITALS:
        assert [one.sentences[0].document for one in parts[part].encoded] == [d.id for d in parts[part].documents]


def test_documents_of_a_patient_and_equal_texts_are_shared_out_together() -> None:
    notes = [Document(f"{n}", "Well." if n % 10 == 0 else f"Note {n}", patient=f"p{n // 3}") for n in range(60)]
    parts = shared_out(Split.of(notes)).values()
    for values in (
        [{one.patient for one in part.documents} for part in parts],
        [set(part.documents) for part in parts],
    ):
        assert sum(map(len, values)) == len(set.union(*values))
    assert [sum(one.text == "Well." for one in part.documents) for part in parts].count(0) == 2
    assert max(len(part.documents) for part in parts) - min(len(part.documents) for part in parts) <= 18


def test_too_few_documents_cannot_be_shared_out() -> None:
    with pytest.raises(EmptyInputError):
        shared_out(Split.of([Document("1", "a"), Document("2", "b")]))


def test_profiles_are_those_with_sizes() -> None:
    assert PrivateArguments(profile="friedrich2019").sizes is SIZES["friedrich2019"]
    with pytest.raises(UnknownNameError):
        PrivateArguments(profile="yadav2016")
