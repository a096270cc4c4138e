"""`crfdeid pseudonymise`: annotated notes with near words in place of PHI, as shuffled sentences."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from crfdeid.cli.corpus_options import ANNOTATED, FORMAT, TYPES, read_annotated
from crfdeid.cli.options import OUTPUT, SEED, require_new_file
from crfdeid.cli.shell import Option, command, file_path, whole_number

VECTORS = Option(
    "--vectors",
    file_path,
    required=True,
    help="Public word vectors, learned from other text than the notes (word2vec, GloVe or fastText).",
)
_MOST_NEIGHBOURS = 100_000
_SUFFIX = ".jsonl"


@command(
    ANNOTATED,
    OUTPUT.but(help="New file to write, NAME.jsonl."),
    VECTORS,
    Option(
        "--neighbours",
        whole_number(2, _MOST_NEIGHBOURS),
        default=100,
        help="Number of nearest words, itself among them, one of which replaces each word of PHI at random.",
    ),
    FORMAT,
    TYPES,
    SEED.but(default=None, help="Random seed, for tests: it allows undoing the replacement; default: none."),
    examples=(
        "crfdeid pseudonymise notes/ --vectors public.vec --output shuffled.jsonl",
        "crfdeid pseudonymise notes/ --vectors public.vec --output shuffled.jsonl --neighbours 500 --types seven",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Write the sentences, and print what they leave of the PHI."""
    from crfdeid.corpora import write_corpus  # noqa: PLC0415
    from crfdeid.corpora.splits import Split  # noqa: PLC0415
    from crfdeid.registry import import_string  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    require_new_file(options.output, {"NOTES": options.notes}, suffix=_SUFFIX)
    one_thread()
    notes = Split.of(read_annotated(options.notes, options))
    vectors = import_string("rnn.embeddings:read_vectors")(options.vectors)
    work, as_document = (
        import_string("rnn.privacy.substitution:pseudonymise"),
        import_string("rnn.privacy.substitution:as_document"),
    )
    made = work(notes, vectors, count=options.neighbours, seed=options.seed)
    write_corpus([as_document(labelled) for labelled in made.sentences], options.output, format="jsonl")
    for line in _summary(options, made, len(notes.documents)):
        print(line)


def _summary(options: SimpleNamespace, made: Any, notes: int) -> Iterator[str]:
    """Lines about the written sentences and the PHI that remains in them."""
    count, remains = options.neighbours, made.remains
    yield f"{options.output}: {len(made.sentences)} sentences of {notes} notes, shuffled, each its own document"
    if made.left_out:
        yield f"left out: {made.left_out} sentences in which spans of PHI cross"
    yield (
        f"{remains.tokens} tokens of PHI, each replaced by one of its {count} nearest words: "
        f"{_share(remains.unchanged, remains.tokens)} are what they were (itself is one of the {count}), "
        f"{_share(remains.containing, remains.tokens)} still hold the old word, alone or as a part"
    )
    yield f"of the {count} neighbours of a word of PHI, {made.containing:.2f} others hold it on average"
    if made.unknown:
        yield (
            f"{made.unknown} of {made.words} words of PHI have no vector: they became frequent words, or other digits"
        )
    yield "PHI that was not annotated is unchanged, as are all words that are no PHI: read a sample before you share"
    if options.seed is not None:
        yield "the seed allows undoing the replacement: do not share it"


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / max(whole, 1):.2f} %)"
