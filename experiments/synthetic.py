"""Print notes of the synthetic corpus, or of templates, with their PHI marked, and counts; write them to files."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from string import Template
from types import SimpleNamespace

from crfdeid.cli.run import run_click, run_command
from crfdeid.cli.shell import choice, file_path, flag, whole_number
from crfdeid.corpora import write_corpus
from crfdeid.corpora.layers import select_layer
from crfdeid.corpora.synthetic import PROFILES, Splits, generate, generate_all_types, generate_concepts
from crfdeid.corpora.synthetic.people import SPLIT_NAMES
from crfdeid.corpora.templates import LANGUAGES, TemplateSet, built_in_templates, fill, read_templates
from crfdeid.documents import CONCEPT, PHI, Document
from crfdeid.errors import OptionConflictError, UnknownNameError
from crfdeid.registry import profile_name
from crfdeid.utils.folders import require_new
from crfdeid.validation import MOST_SEED
from experiments.core.options import Command, Option
from features.languages import LANGUAGES as LANGUAGE_PACKS


def marked(document: Document) -> str:
    """The text with every span written as [text|TYPE].

    Example:
        >>> from crfdeid.documents import Span
        >>> marked(Document("1", "Seen by Dr. Brown.", (Span(12, 17, "DOCTOR"),)))
        'Seen by Dr. [Brown|DOCTOR].'
    """
    parts, end = [], 0
    for span in sorted(span for name in document.annotated for span in document.layer(name)):
        parts.append(document.text[end : span.start])
        parts.append(f"[{document.text[span.start : span.end]}|{span.label}]")
        end = span.end
    return "".join([*parts, document.text[end:]])


def counts_table(corpus: Splits) -> str:
    """The number of notes and of spans of each type in each split, as a Markdown table."""
    lines = ["| | " + " | ".join(corpus._fields) + " |", "| --- " * (len(corpus) + 1) + "|"]
    lines.append("| notes | " + " | ".join(str(len(part)) for part in corpus) + " |")
    first = next((document for part in corpus for document in part), None)
    for layer in first.annotated if first else ():
        by_split = [Counter(span.label for document in part for span in document.layer(layer)) for part in corpus]
        for label in sorted({label for found in by_split for label in found}):
            lines.append(f"| {label} | " + " | ".join(str(found[label]) for found in by_split) + " |")
        name = "all spans" if layer == PHI else f"all {layer}s"
        lines.append(f"| {name} | " + " | ".join(str(found.total()) for found in by_split) + " |")
    return "\n".join(lines)


def data_card(corpus: Splits, options: SimpleNamespace) -> str:
    """A data card of the notes, with the metadata that Hugging Face reads: content, origin, splits, limits, licence.

    Args:
        corpus: the notes.
        options: of the command that made them.
    """
    command, language, kinds = [], "en", ""
    for param in _PARAMS:
        value = getattr(options, param.name)
        if param.name not in ("notes", "output") and value not in (None, False, param.default):
            command += [param.opts[0], *([] if param.is_flag else [str(value)])]
    splits = "At least 60 % of the names and places of dev and test notes are in no training note."
    if options.templates is not None:
        templates = _templates(options.templates, options.language)
        language = next(code for code, pack in LANGUAGE_PACKS.items() if pack.name.lower() == templates.language)
        found = Counter(template.kind for template in templates.templates)
        kinds = (
            f"Kinds of notes, with their templates: {', '.join(f'{kind} {n}' for kind, n in sorted(found.items()))}."
        )
        splits = "A template belongs to one split. Most names of dev and test notes are in no training note."
    card = Template(Path(__file__).with_name("templates").joinpath("data_card.md").read_text(encoding="utf-8"))
    return card.substitute(
        language=language,
        counts=counts_table(corpus),
        kinds=kinds,
        command=shlex.join(command),
        version=version("crfdeid"),
        splits=splits,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit codes are those of `run_command`."""

    words = sys.argv[1:] if arguments is None else arguments
    return run_command(
        lambda: run_click(Command(_show, _PARAMS, description=str(__doc__)), "python -m experiments.synthetic", words),
        interrupted="start it again",
        out_of_memory="choose --profile default",
    )


def _profile(text: str) -> str:
    name = profile_name(text)
    if name not in PROFILES:
        raise UnknownNameError(f"unknown profile '{text}': choose from {', '.join(PROFILES)}")
    return name


_PARAMS = (
    Option(
        "--profile",
        _profile,
        default="default",
        metavar=f"[{'|'.join(PROFILES)}]",
        help="which corpus (default: default; paper: yadav2016)",
    ),
    choice(
        "--types",
        ("seven", "all"),
        default="seven",
        help="seven: clinical notes with the seven subtypes (default); all: notes, queries, messages, forms, tables "
        "and general sentences with all types that HIPAA names",
    ),
    flag(
        "--concepts",
        help="notes with concepts marked too: problems, treatments and tests; with --types all, the types are i2b2 "
        "2014's",
    ),
    Option(
        "--templates",
        file_path,
        metavar=f"[{'|'.join(LANGUAGES)}|DIR]",
        help="whole notes from the templates of a language, or of a folder, with the types of i2b2 2014; a template "
        "names its split",
    ),
    Option(
        "--fillings",
        whole_number(1),
        default=1,
        metavar="N",
        help="with --templates: how many notes of each template (default: 1)",
    ),
    choice(
        "--language",
        LANGUAGES,
        default=LANGUAGES[0],
        help=f"with --templates DIR: the language of its names, dates and places (default: {LANGUAGES[0]})",
    ),
    Option(
        "--seed", whole_number(0, MOST_SEED), default=0, metavar="N", help="seed of every choice in it (default: 0)"
    ),
    Option(
        "--notes",
        whole_number(0),
        default=0,
        metavar="N",
        help="how many training notes to print, with --types all spread over all styles (default: 0)",
    ),
    Option(
        "--output",
        file_path,
        metavar="DIR",
        help="new folder for a data card, and the notes in brat's format, as train/, dev/ and test/; with --concepts "
        "these are in phi/, and again in concepts/ with the concepts marked",
    ),
)


def _show(options: SimpleNamespace) -> None:
    if options.output is not None:
        require_new(options.output)
    corpus = _corpus(options)
    mixed = options.types == "all" and not options.concepts
    for document in _some(corpus.train, options.notes, spread=mixed):
        print(f"===== {document.id} =====\n{marked(document)}")
    print(counts_table(corpus))
    if options.output is not None:
        _write(corpus, options.output)
        (options.output / "README.md").write_text(data_card(corpus, options), encoding="utf-8")


def _corpus(options: SimpleNamespace) -> Splits:
    if options.templates is not None:
        if options.concepts:
            raise OptionConflictError("templates have no concepts: leave --concepts out")
        templates = _templates(options.templates, options.language)
        fillings, seed = options.fillings, options.seed
        train, dev, test = (list(fill(templates, split=split, fillings=fillings, seed=seed)) for split in SPLIT_NAMES)
        return Splits(train, dev, test)
    if options.concepts:
        return generate_concepts(options.profile, seed=options.seed, fine=options.types == "all")
    make = generate_all_types if options.types == "all" else generate
    return make(options.profile, seed=options.seed)


def _templates(source: Path, language: str) -> TemplateSet:
    """The templates of a language, or of a folder."""
    return built_in_templates(str(source)) if str(source) in LANGUAGES else read_templates(source, language=language)


def _write(corpus: Splits, folder: Path) -> None:
    """Write the notes; with concepts, a folder for each layer."""
    for name, documents in corpus._asdict().items():
        if not documents:  # a split that no template of a folder names
            continue
        layered = CONCEPT in documents[0].annotated
        for layer, part in ((PHI, "phi"), (CONCEPT, "concepts")) if layered else ((PHI, ""),):
            write_corpus([select_layer(document, layer) for document in documents], folder / part / name, format="brat")


def _some(documents: Sequence[Document], count: int, *, spread: bool) -> Sequence[Document]:
    """The first items, or some at equal distances."""
    if not spread:
        return documents[:count]
    return [documents[(2 * i + 1) * len(documents) // (2 * count)] for i in range(count)]


if __name__ == "__main__":
    sys.exit(main())
