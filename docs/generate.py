"""Pages of the reference that come from the code: command line, settings, types, formats of notes, API."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import jupytext
from sphinx.ext.autodoc.mock import mock

from crfdeid.cli import COMMANDS
from crfdeid.cli.shell import GLOBAL, Argument, Commands, Option
from crfdeid.io.table_layouts import LAYOUTS
from crfdeid.label_schemes import HIPAA, NO_SURROGATE, SURROGATE_KINDS, TO_GROUP, TO_SEVEN, types_in
from crfdeid.markup import BINARY_READERS, BINARY_SUFFIXES, MARKUP_SUFFIXES, MEDIA_TYPES, result_name
from crfdeid.markup.recognise import READERS
from crfdeid.registry import MODELS, tagger_class
from crfdeid.tagger import CombinedSettings
from experiments import EXPERIMENTS
from experiments.core.command import command_of, program
from experiments.core.options import descriptions
from rnn.embeddings import CbowSettings, FasttextSettings, RnnlmSettings
from rnn.privacy.settings import PrivateSettings

REFERENCE = Path(__file__).parent / "reference"
CORPORA = {
    "i2b2 2006": "2006",
    "i2b2 2014 and the synthetic corpus": "2014",
    "MEDDOCAN": "meddocan",
    "ASQ-PHI": "asq-phi",
    "TAB": "tab",
    "Other models and tools": "other",
}
FURTHER_SETTINGS = {
    "Representations (`crfdeid share train`)": PrivateSettings,
    "Word vectors: word2vec": CbowSettings,
    "Word vectors: fastText": FasttextSettings,
    "Word vectors: recurrent language model": RnnlmSettings,
}
OTHER_TOOLS = ["spacy", "srsly", "presidio_analyzer", "sklearn", "pyspark"]
"""Libraries of integrations that the build does without."""
API = {
    "The main names": ("crfdeid",),
    "Documents and tags": ("crfdeid.documents", "crfdeid.bio", "crfdeid.label_schemes", "crfdeid.errors"),
    "Models": ("crfdeid.tagger", "crfdeid.registry", "crfdeid.crf", "crfdeid.rules", "crfdeid.ensembles"),
    "Corpora": ("crfdeid.corpora", "crfdeid.corpora.splits", "crfdeid.corpora.synthetic"),
    "Evaluation": ("crfdeid.evaluation",),
    "Redaction": (
        "crfdeid.redaction",
        "crfdeid.io.replacements",
        "crfdeid.known_phi.identifiers",
        "crfdeid.known_phi.lists",
    ),
    "Training and review": (
        "crfdeid.model_card.training",
        "crfdeid.model_card.card",
        "crfdeid.thresholds",
        "crfdeid.review.bounds",
        "crfdeid.review.certificate",
    ),
    "Explanations": ("crfdeid.explain",),
    "Integrations": (
        "crfdeid.integrations.arrow",
        "crfdeid.integrations.spark",
        "crfdeid.integrations.spacy",
        "crfdeid.integrations.presidio",
        "crfdeid.integrations.sklearn",
    ),
    "Features": ("features",),
    "Networks": ("rnn", "rnn.interfaces", "rnn.tagger", "rnn.network", "rnn.training.loop"),
    "Word vectors": ("rnn.embeddings",),
    "Privacy": ("crfdeid.audit", "rnn.privacy.neighbours", "rnn.privacy.substitution", "rnn.privacy.shared_file"),
    "Experiments": ("experiments.core.experiment", "experiments.core.settings"),
}
"""Title of a page -> the modules whose public names it has."""


def write_pages(*_: object) -> None:
    """Write every page whose content has changed, and remove those of an earlier build."""
    pages = {
        "command-line.md": "\n".join(command_line()),
        "settings.md": "\n".join(settings()),
        "types.md": "\n".join(phi_types()),
        "note-formats.md": "\n".join(note_formats()),
        **api(),
    }
    for name, text in pages.items():
        path = REFERENCE / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for stale in set((REFERENCE / "api").glob("*.md")).difference(REFERENCE / name for name in pages):
        stale.unlink()


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Lines of a Markdown table."""
    lines = [[*header], ["---"] * len([*header]), *([str(cell).replace("|", r"\|") for cell in row] for row in rows)]
    yield from (f"| {' | '.join(line)} |" for line in lines)
    yield ""


def command_line() -> Iterator[str]:
    """The page of all commands and their options, from the parsers."""
    yield "# Command line\n"
    yield "Options marked with * are shown by `--help-all` alone. Every command has `--config FILE`, `--verbose`,"
    yield "`--help` and `--help-all`. [Exit codes](exit-codes.md) are the same for all commands.\n"
    yield from _group(Commands("crfdeid", "crfdeid.cli", COMMANDS, GLOBAL), "crfdeid")
    yield "## Experiments\n"
    for name in EXPERIMENTS:
        command = command_of(name, lambda _: None)
        with command.make_context(program(name), [], resilient_parsing=True) as context:
            yield f"### experiments.{name}\n\n```text\n{command.get_help(context)}\n```\n"


def _group(group: Commands, path: str) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, Commands):
            yield from _group(command, f"{path} {name}")
        elif command is not None:
            yield from _command(command, f"{path} {name}")


def _command(command: Any, path: str) -> Iterator[str]:
    context = click.Context(command, info_name=path)
    arguments = [one for one in command.params if isinstance(one, Argument)]
    options = [one for one in command.params if isinstance(one, Option) and not one.is_eager]
    yield f"## {path}\n\n{_code(command.help)}\n"
    yield f"```text\n{path} [OPTIONS] {' '.join(str(one.metavar) for one in arguments)}\n```\n"
    yield from (f"`{one.metavar}`\n: {_code(one.text)}\n" for one in arguments)
    for option in options:
        if record := option.get_help_record(context):
            yield f"`{record[0]}`{' *' * option.rare}\n: {_code(record[1])}\n"
    yield "```console\n" + "".join(f"$ {example}\n" for example in command.examples) + "```\n"


def _code(text: str) -> str:
    """A help text in Markdown."""
    text = re.sub(r"(?<![\w`])(--[a-z][a-z-]*)", r"`\1`", " ".join(text.split()))
    parts = text.split("`")  # every second one is code
    parts[::2] = (re.sub(r"([<*_\[])", r"\\\1", part) for part in parts[::2])
    return "`".join(parts)


def settings() -> Iterator[str]:
    """The page of the settings of all models, from their dataclasses."""
    yield "# Settings\n"
    yield "`crfdeid train --set NAME=VALUE`, `experiments.compare --set NAME=VALUE` and `crfdeid.create(overrides=...)`"
    yield "take these. A model made of models passes on the settings of its members.\n"
    for name in MODELS:
        cls: Any = tagger_class(name)
        combined = issubclass(cls.settings_class, CombinedSettings)
        profiles = {} if combined else {key: one for key, one in cls.profiles().items() if key != "default"}
        yield from _settings_of(f"{name}", cls.settings_class, profiles)
    for title, settings_class in FURTHER_SETTINGS.items():
        yield from _settings_of(title, settings_class, {})


def _settings_of(title: str, settings_class: Any, profiles: dict[str, Any]) -> Iterator[str]:
    texts = {}
    for one in reversed(settings_class.__mro__[:-1]):
        texts |= descriptions(one.__doc__ or "")
    yield f"## {title}\n"
    for one in dataclasses.fields(settings_class):
        if one.name not in ("profile", "options"):
            default = one.default_factory() if callable(one.default_factory) else one.default
            values = [f"default `{default}`"] if default is not dataclasses.MISSING else []
            values += (f"{name} `{getattr(profile, one.name)}`" for name, profile in profiles.items())
            yield f"`{one.name}`: {', '.join(values)}\n: {_code(texts[one.name])}\n"


def phi_types() -> Iterator[str]:
    """The page of the types of PHI, from the table of `crfdeid.label_schemes`."""
    yield """# Types of PHI

`--types all` keeps a corpus's own types. `--types seven` maps them to the seven subtypes of yadav2016. `--types binary`
makes each of them `PHI` and joins spans that overlap. A type without a subtype is dropped by `seven`: the model neither
learns nor hides it. A corpus with a type for which the table has no answer (?) is refused by `seven`.

- **subtype**: one of the seven; i2b2 2006's types without AGE.
- **group**: one of the seven categories of johnson2020, which `experiments.transfer` compares.
- **HIPAA**: the letter of the Safe Harbor list, 45 CFR 164.514(b)(2)(i), if the type covers an identifier of the
  patient. It is the challenge's own list for i2b2 2014, and approximate for other corpora.
- **surrogate**: the kind of invented value that `--operator surrogate` writes.
"""
    for title, corpus in CORPORA.items():
        yield f"## {title}\n"
        yield from table(
            ("type", "subtype", "group", "HIPAA", "surrogate"),
            (
                (
                    f"`{label}`",
                    *(scheme.get(label, "?") or "–" for scheme in (TO_SEVEN, TO_GROUP, HIPAA)),
                    NO_SURROGATE.get(label, SURROGATE_KINDS[label]),
                )
                for label in types_in(corpus)
            ),
        )


def note_formats() -> Iterator[str]:
    """The page of formats of notes and layouts of tables, from their tables."""
    yield "# Formats of notes\n"
    yield "Notes that are [no plain text](../how-to/markup.md). `--markup` and `markup=` take these names, but for"
    yield "those of binary files, which are read by their suffix.\n"
    suffixes = {**MARKUP_SUFFIXES, **BINARY_SUFFIXES}
    rows = []
    for name in (*READERS, *BINARY_READERS):
        own = [suffix for suffix, form in suffixes.items() if form == name]
        types = [f"`{media}`" for media, form in MEDIA_TYPES.items() if form == name]
        results = ", ".join(f"`{result_name(f'note{suffix}').removeprefix('note')}`" for suffix in own)
        rows.append((f"`{name}`", ", ".join(f"`{one}`" for one in own), results, ", ".join(types)))
    yield from table(("format", "files", "results", "media types"), rows)
    yield "## Layouts of tables\n"
    yield "`--table NAME` takes these columns, in capitals or not:\n"
    columns = (
        (f"`{name}`", *(" or ".join(f"`{one}`" for one in some) for some in own)) for name, own in LAYOUTS.items()
    )
    yield from table(("layout", "text", "id", "patient"), columns)


def api() -> dict[str, str]:
    """The pages of the API, by file name: each public name once, on the first page whose module has it."""
    pages, seen = {}, set[int]()
    for title, modules in API.items():
        lines = [f"# {title}\n"]
        for name in modules:
            with mock(OTHER_TOOLS):
                module = importlib.import_module(name)
            lines.append(f"## `{name}`\n\n```{{eval-rst}}\n.. currentmodule:: {name}\n\n{_summary(module)}\n```\n")
            for public, found in sorted(_public(module), key=_kind):
                if id(found) not in seen and (callable(found) or isinstance(found, Mapping | tuple)):
                    seen.add(id(found))
                    lines += [f"```{{eval-rst}}\n{_directive(name, public, found)}\n```\n"]
        pages[f"api/{re.sub(r'[^a-z]+', '-', title.lower())}.md"] = "\n".join(lines)
    links = "".join(f"{Path(page).stem}\n" for page in pages)
    pages["api/index.md"] = f"# Python API\n\n```{{toctree}}\n:maxdepth: 2\n\n{links}```\n"
    return pages


def _summary(module: Any) -> str:
    return inspect.getdoc(module).split("\n\n")[0]


def _public(module: Any) -> Iterator[tuple[str, Any]]:
    """Public classes, functions and constants of a module: those of ``__all__``, or those that it defines."""
    names = getattr(module, "__all__", None) or [
        name
        for name, found in vars(module).items()
        if not name.startswith("_") and getattr(found, "__module__", "") == module.__name__
    ]
    yield from ((name, getattr(module, name)) for name in names)


def _kind(public: tuple[str, Any]) -> int:
    """Order of functions, classes and constants."""
    return 0 if inspect.isroutine(public[1]) else 1 if inspect.isclass(public[1]) else 2


def _directive(module: str, name: str, found: Any) -> str:
    if inspect.isclass(found):
        options = ":members:\n   :inherited-members: tuple, ValueError, BaseException, Protocol"
        return f".. autoclass:: {module}.{name}\n   {options}"
    if callable(found):
        return f".. autofunction:: {module}.{name}"
    values = ", ".join(f"``{one}``" for one in found)
    return f".. py:data:: {module}.{name}\n\n   {'Keys' if isinstance(found, Mapping) else 'Values'}: {values}."


def read_lesson(text: str) -> Any:
    """Notebook of a lesson, a file in jupytext's percent format."""
    notebook = jupytext.reads(text, fmt="py:percent")
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook
