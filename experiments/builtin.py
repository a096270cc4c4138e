"""Train a built-in model that ships with the library, from templates and seeds, byte for byte the same each time.

python -m experiments.builtin english --output crfdeid/models/english
python -m experiments.builtin spanish --meddocan meddocan/ --output crfdeid/models/spanish
python -m experiments.builtin german --output crfdeid/models/german
python -m experiments.builtin french --output crfdeid/models/french
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from crfdeid.cli.progress import training_bar
from crfdeid.cli.run import run_click, run_command
from crfdeid.cli.shell import Argument, file_path, number_between
from crfdeid.corpora import read_corpus
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.corpora.synthetic import generate_all_types
from crfdeid.corpora.templates import built_in_templates, fill
from crfdeid.documents import Document
from crfdeid.errors import UsageError
from crfdeid.label_schemes import TO_SEVEN
from crfdeid.model_card.pretrained import with_merged_types
from crfdeid.model_card.training import train_model
from crfdeid.registry import create
from crfdeid.tagger import OnProgress
from crfdeid.utils.folders import require_new
from experiments.core.options import Command, Option

_DEV_FILLINGS = 3


@dataclass(frozen=True)
class Recipe:
    """How a built-in model is made.

    Attributes:
        corpus: the name of its corpus on the card.
        fillings: notes of each training template.
        settings: settings of the hybrid.
        sensitivity: the default of the model, chosen on notes that trained nothing.
        further: notes besides those of templates: "synthetic", "meddocan" or "".
        notices: what the card says of the notes.
        augment: kinds of rewritten copies, as of `crfdeid.augmentation.parse_copy_kinds`.
    """

    corpus: str
    fillings: int
    settings: Mapping[str, Any]
    sensitivity: float
    further: str = ""
    notices: tuple[str, ...] = ()
    augment: str = "none"


_SMALL = {"max_iterations": 60, "min_freq": 2, "min_weight": 0.05, "keep_untried": True}


def _experimental(corpus: str, language: str) -> Recipe:
    """The recipe of a language that has few templates, and no other notes."""
    return Recipe(
        corpus,
        10,
        {**_SMALL, "max_iterations": 70, "language": language},
        0.98,
        notices=("Experimental: learned from invented notes alone, and measured on no others.",),
        augment="layout",
    )


RECIPES = {
    "english": Recipe(
        "invented English notes", 18, {**_SMALL, "features": "lists", "language": "en"}, 0.987, further="synthetic"
    ),
    "spanish": Recipe(
        "MEDDOCAN, and invented Spanish notes",
        10,
        {**_SMALL, "max_iterations": 70, "language": "es"},
        0.95,
        further="meddocan",
        notices=(
            "MEDDOCAN, training and development part, is by Marimon et al. (Automatic De-identification of Medical "
            "Texts in Spanish: the MEDDOCAN Track, Corpus, Guidelines, Methods and Evaluation of Results, IberLEF "
            "2019), under CC BY 4.0. The model's weights hold words of its notes.",
        ),
        augment="layout",
    ),
    "german": _experimental("invented German notes", "de"),
    "french": _experimental("invented French notes", "fr"),
}


def train_builtin(
    name: str,
    folder: Path,
    *,
    meddocan: Path | None = None,
    share: float = 1.0,
    on_progress: OnProgress | None = None,
) -> dict[str, Any]:
    """Train a built-in model, and write it with its card.

    Args:
        name: a key of `RECIPES`.
        folder: for the model; it must not exist, or be empty.
        meddocan: the corpus' folder, with train/brat and dev/brat; for "spanish".
        share: share of the notes, to try the recipe out; a fraction.
        on_progress: called for each step of training.

    Returns:
        The model's card.
    """
    recipe = RECIPES[name]
    corpus = notes_of(name, recipe, meddocan, share)
    tagger = create("hybrid", overrides=recipe.settings)
    return train_model(
        tagger, corpus, folder, augment=recipe.augment, sensitivity=recipe.sensitivity, on_progress=on_progress
    )


def notes_of(name: str, recipe: Recipe, meddocan: Path | None, share: float) -> Corpus:
    """The training and development notes of a model: of templates, and of another corpus."""
    templates = built_in_templates(name)
    train = [*fill(templates, fillings=recipe.fillings)]
    dev = [*fill(templates, split="dev", fillings=_DEV_FILLINGS)]
    if recipe.further == "synthetic":
        further = generate_all_types("yadav2016")
        train, dev = [*train, *further.train], [*dev, *further.dev]
    elif recipe.further == "meddocan":
        if meddocan is None:
            raise UsageError("--meddocan is needed: name the folder of the corpus, with train/brat and dev/brat")
        train += [one for part in ("train", "dev") for one in read_corpus(meddocan / part / "brat")]
    merged = with_merged_types if name == "english" else _with_few_types
    learned, chosen = (Split.of(_share(map(merged, part), share)) for part in (train, dev))
    return Corpus(recipe.corpus, "synthetic", "all", learned, chosen, None, recipe.notices)


# MEDDOCAN marks each age, sex, relative and profession, and a postal code as a place; templates do not.
_FEW_TYPES = {
    **{label: subtype for label, subtype in TO_SEVEN.items() if subtype is not None},
    **{label: label for label in ("EMAIL", "URL", "ORGANIZATION", "AGE")},
    **dict.fromkeys(("URL_WEB", "DIREC_PROT_INTERNET"), "URL"),
    **dict.fromkeys(("IDENTIF_DISPOSITIVOS_NRSERIE", "IDENTIF_VEHICULOS_NRSERIE_PLACAS", "USERNAME"), "ID"),
    **dict.fromkeys(("NUMERO_BENEF_PLAN_SALUD", "OTRO_NUMERO_IDENTIF"), "ID"),
    "CORREO_ELECTRONICO": "EMAIL",
    "CENTRO_SALUD": "HOSPITAL",
    "INSTITUCION": "ORGANIZATION",
}


def _with_few_types(document: Document) -> Document:
    """The document with the seven subtypes, e-mail and web addresses, organisations, and ages where AGE is marked."""
    spans = (span._replace(label=_FEW_TYPES[span.label]) for span in document.spans if span.label in _FEW_TYPES)
    return replace(document, spans=tuple(spans))


def _share(documents: Iterable[Document], share: float) -> list[Document]:
    """Documents at equal distances."""
    found = [*documents]
    count = max(1, round(share * len(found)))
    return [found[number * len(found) // count] for number in range(count)]


_PARAMS = (
    Argument("name", help=f"Which model: {' or '.join(RECIPES)}."),
    Option("--output", file_path, required=True, metavar="DIR", help="new folder for the model"),
    Option(
        "--meddocan", file_path, metavar="DIR", help="folder of MEDDOCAN, with train/brat and dev/brat; for spanish"
    ),
    Option("--share", number_between(0.001, 1), default=1.0, help="share of the notes (default: 1)"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit codes are those of `run_command`."""
    words = sys.argv[1:] if arguments is None else arguments
    command = Command(_train, _PARAMS, description=str(__doc__).partition("\n")[0])
    return run_command(
        lambda: run_click(command, "python -m experiments.builtin", words),
        interrupted="start it again",
        out_of_memory="give a smaller --share",
    )


def _train(options: SimpleNamespace) -> None:
    if options.name not in RECIPES:
        raise UsageError(f"unknown model '{options.name}': choose from {', '.join(RECIPES)}")
    require_new(options.output)
    with training_bar(options.name) as step:
        card = train_builtin(
            options.name, options.output, meddocan=options.meddocan, share=options.share, on_progress=step
        )
    size = sum(file.stat().st_size for file in options.output.iterdir())
    print(f"{options.output}: {size / 1e6:.1f} MB, of notes with the digest {card['corpus']['sha256'][:12]}")


if __name__ == "__main__":
    sys.exit(main())
