"""Measures of one model on one corpus; `run.py` starts a process for each and reads one JSON object.

    python benchmarks/measure.py '{"types": "seven"}' crf 0

The arguments are the corpus (a table of corpora.toml, as JSON, with absolute paths), the model and the seed.
"""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from baselines import presidio_finder
from faker import Faker

import crfdeid
from crfdeid.corpora.layers import ConceptPaths
from crfdeid.corpora.splits import Corpus, Split, generate_corpus, read_splits
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.documents import Document, Span, merge, overlapping
from crfdeid.evaluation import document_counts, score_entities, score_tab, score_tokens
from crfdeid.evaluation.evaluate import count_leaking_documents, predict_spans
from crfdeid.label_schemes import SURROGATE_KINDS
from crfdeid.model_card.training import concept_scores
from crfdeid.pipeline import Deidentifier
from crfdeid.registry import create

ORIGINS = ("en_US", "es_ES", "de_DE", "pl_PL", "tr_TR", "vi_VN", "yo_NG", "en_IN", "id_ID")
"""Faker's lists of names in the Latin alphabet, by language and country."""

FREQUENCIES = {"0": range(1), "1 to 4": range(1, 5), "5 or more": range(5, sys.maxsize)}
_FRESH_NOTES = 300


def read_corpus(table: Mapping[str, Any]) -> Corpus:
    """The corpus of a table of corpora.toml."""
    types = table.get("types", "all")
    if "train" not in table:
        return generate_corpus("default", types=types, concepts="concepts" in table)
    paths = {part: Path(table[part]) if part in table else None for part in ("dev", "test")}
    layers = {part: Path(path) for part, path in table.get("concepts", {}).items()}
    concepts = ConceptPaths(**layers) if layers else None
    corpus_format = table.get("format", "auto")
    return read_splits(Path(table["train"]), **paths, corpus_format=corpus_format, types=types, concepts=concepts)


def measure(table: Mapping[str, Any], model: str, seed: int) -> dict[str, Any]:
    """Train a model and measure its training, its tags, and redaction with it.

    Args:
        table: a table of corpora.toml with absolute paths.
        model: a key of `crfdeid.MODELS`, or "presidio".
        seed: its seed; names by origin and speed are measured for seed 0 alone.

    Returns:
        Scores and shares as fractions, processor time in seconds, memory in MB.
    """
    corpus = read_corpus(table)
    gold = corpus.scored.documents
    if model == "presidio":
        find = presidio_finder()
        return {"redaction": redaction_scores(gold, {note.id: find(note.text) for note in gold})}
    tagger = create(model, seed=seed)
    processor, wall = time.process_time(), time.perf_counter()
    tagger.fit(corpus.train.sentences, corpus.dev.sentences)
    training = {
        "processor_seconds": time.process_time() - processor,
        "wall_seconds": time.perf_counter() - wall,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    predicted = predict_spans(tagger, corpus.scored)
    scores = score_entities(gold, predicted)
    found = {note.id: note for note in Deidentifier(tagger, evidence=False).annotate_documents(gold)}
    spans = {name: note.spans for name, note in found.items()}
    result = {
        "training": training,
        "scores": scores.to_dict(),
        "document_counts": document_counts(gold, predicted, []).tolist(),
        "redaction": redaction_scores(gold, spans) | {"bytes_changed_outside": sum(map(bytes_changed, found.values()))},
        "names_by_frequency": names_by_frequency(corpus.train, gold, spans),
        **concept_scores(tagger, corpus.scored, predicted),
    }
    if any(note.mentions for note in gold):
        result["tab"] = score_tab([gold], spans).to_dict()
    if seed == 0:
        with TemporaryDirectory() as folder:
            tagger.save(Path(folder, "model"))
            result |= deployment(Path(folder), table, corpus)
        result["names_by_origin"] = names_by_origin(Deidentifier(tagger, evidence=False), gold)
    return result


def redaction_scores(gold: Sequence[Document], found: Mapping[str, Sequence[Span]]) -> dict[str, Any]:
    """Token scores of PHI against not PHI, notes with a leak, and notes without PHI in which a span was found."""
    tokens = score_tokens(gold, found, binary=True).micro
    negatives = [note for note in gold if not note.spans]
    return {
        "token_recall": tokens.recall,
        "token_precision": tokens.precision,
        "notes": len(gold),
        "notes_with_leak": count_leaking_documents(gold, found),
        "notes_without_phi": len(negatives),
        "notes_over_redacted": sum(bool(found[note.id]) for note in negatives),
    }


def bytes_changed(note: Document) -> int:
    """UTF-8 bytes outside the spans of a note that redaction did not copy in their order."""
    rest, kept = crfdeid.redact(note, "mask").text, list(_outside(note))
    changed = 0
    for part, length in kept:
        changed += 0 if rest.startswith(part) else len(part.encode())
        rest = rest[len(part) + length :]
    return changed + len(rest.encode())


def _outside(note: Document) -> Iterator[tuple[str, int]]:
    """Each part of a note outside its spans, and the length of the span that follows."""
    end = 0
    for span in merge(note.spans):
        yield note.text[end : span.start], span.end - span.start
        end = span.end
    yield note.text[end:], 0


def names_by_frequency(
    train: Split, gold: Iterable[Document], found: Mapping[str, Sequence[Span]]
) -> dict[str, list[int]]:
    """Names of people that are found whole, by how often the training notes have their rarest word.

    Returns:
        For each key of `FREQUENCIES`: names found, and names.
    """
    seen = Counter(word for labelled in train.sentences for word in labelled.sentence.words)
    counts = {name: [0, 0] for name in FREQUENCIES}
    for note in gold:
        for span in filter(_is_name, note.spans):
            rarest = min((seen[word] for word in note.text[span.start : span.end].split()), default=0)
            row = next(counts[name] for name, times in FREQUENCIES.items() if rarest in times)
            row[0] += _is_hidden(span, found[note.id])
            row[1] += 1
    return counts


def names_by_origin(model: Deidentifier, gold: Sequence[Document]) -> dict[str, list[int]]:
    """Names of people that are found whole once all names in the notes are replaced by names of one origin.

    Returns:
        For each of `ORIGINS`: names found, and names.
    """
    counts = {}
    for origin in ORIGINS:
        notes = [renamed(note, origin) for note in gold]
        pairs = zip(notes, model.annotate_documents(notes), strict=True)
        hits = [_is_hidden(span, out.spans) for note, out in pairs for span in note.spans if _is_name(span)]
        counts[origin] = [sum(hits), len(hits)]
    return counts


def renamed(note: Document, origin: str) -> Document:
    """The note with another name of this origin for each name; a value has the same name wherever it occurs."""
    fake = Faker(origin)
    fake.seed_instance(note.id)
    names: dict[str, str] = {}
    parts, spans, length, end = [], [], 0, 0
    for span in merge(note.spans):
        value = note.text[span.start : span.end]
        if _is_name(span):
            first = [fake.first_name()] if len(value.split()) > 1 else []
            new = names.setdefault(value, " ".join([*first, fake.last_name()]))
            value = new.upper() if value.isupper() else new
        parts += [note.text[end : span.start], value]
        length += span.start - end
        spans.append(Span(length, length + len(value), span.label))
        length, end = length + len(value), span.end
    return replace(note, text="".join([*parts, note.text[end:]]), spans=tuple(spans), layers={}, pretokenized=None)


def _is_name(span: Span) -> bool:
    return SURROGATE_KINDS[span.label] == "person"


def _is_hidden(span: Span, found: Sequence[Span]) -> bool:
    """True if every character of a span is in a predicted one."""
    hidden = {i for one in overlapping(found, [span]) for i in range(one.start, one.end)}
    return hidden.issuperset(range(span.start, span.end))


def deployment(folder: Path, table: Mapping[str, Any], corpus: Corpus) -> dict[str, Any]:
    """Redact notes that the saved model has not seen, once each: speed, size, and whether the output is deterministic.

    The output must be the same in three runs of `crfdeid redact`, of one process and of two, and note by note.

    Args:
        folder: a temporary folder with the model in "model".
        table: the corpus's table in corpora.toml; for a synthetic one, other notes of the generator are redacted.
        corpus: the corpus.
    """
    fresh = corpus.scored.documents if "train" in table else list(generate_notes(_FRESH_NOTES, seed=1))
    model = crfdeid.load(folder / "model", evidence=False)
    list(model.annotate_documents(corpus.train.documents[:10]))  # compiles a network's functions
    started = time.process_time()
    redacted = [crfdeid.redact(note).text for note in model.annotate_documents(fresh)]
    seconds = time.process_time() - started
    (folder / "notes").mkdir()
    for number, note in enumerate(fresh):
        (folder / "notes" / f"{number:05}.txt").write_text(note.text, encoding="utf-8", newline="")
    digests = {_digest(redacted), _digest(crfdeid.redact(model.annotate(note.text)).text for note in fresh)}
    for run, jobs in enumerate((1, 1, 2)):
        output = folder / f"output{run}"
        command = f"redact {folder / 'model'} {folder / 'notes'} --output {output} --jobs {jobs}"
        start = "import sys; from crfdeid.cli import main; sys.exit(main())"
        subprocess.run([sys.executable, "-c", start, *command.split()], check=True, capture_output=True)
        texts = (path.read_bytes().decode() for path in sorted(output.glob("*.txt")))
        digests.add(_digest(texts))
    return {
        "speed": {"notes": len(fresh), "processor_seconds": seconds},
        "megabytes_on_disk": sum(path.stat().st_size for path in (folder / "model").rglob("*")) / 1e6,
        "different_outputs": len(digests),
    }


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


if __name__ == "__main__":
    print(json.dumps(measure(json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
