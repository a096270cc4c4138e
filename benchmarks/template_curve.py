"""Learning curve of a built-in model's recipe by the number of training templates.

    python benchmarks/template_curve.py --templates 15 30 60 120 240 300 --draws 3 --fillings 2

For each draw the training templates are shuffled, and a model learns from the first of them: as many notes of each,
and no others. It is scored on the notes of the test templates. Strings left and needless words are those of
first_day.py, by the most probable tags.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from common import make_parser
from first_day import count_note
from tabulate import tabulate

from crfdeid.corpora.splits import Split
from crfdeid.corpora.templates import LANGUAGES, TemplateSet, built_in_templates, fill
from crfdeid.documents import Document
from crfdeid.model_card.pretrained import with_merged_types
from crfdeid.pipeline import Deidentifier
from crfdeid.registry import create
from experiments.builtin import RECIPES


def subsets(templates: TemplateSet, sizes: Sequence[int], draw: int) -> Iterator[TemplateSet]:
    """The first training templates of an order that the draw shuffles, for each size."""
    train = [one for one in templates.templates if one.split == "train"]
    random.Random(draw).shuffle(train)
    for size in sizes:
        yield replace(templates, templates=tuple(train[:size]))


def scores(model: Deidentifier, test: Sequence[Document]) -> tuple[float, float]:
    """Strings left, in per cent, and needless words in 1,000."""
    texts = [Document(one.id, one.text) for one in test]
    found = model.annotate_documents(texts)
    counts = [count_note(note, own.spans) for note, own in zip(test, found, strict=True)]
    left, strings = sum(len(one.left) for one in counts), sum(one.strings for one in counts)
    return 100 * left / strings, 1000 * sum(one.needless for one in counts) / sum(one.words for one in counts)


def main() -> None:
    """Print a row for each number of templates: all draws, and their mean."""
    parser = make_parser(__doc__)
    parser.add_argument("--language", choices=[*RECIPES], default=LANGUAGES[0], help="which recipe (default: english)")
    parser.add_argument("--templates", type=int, nargs="+", default=[15, 30, 60, 120, 240, 300], help="how many")
    parser.add_argument("--draws", type=int, default=3, help="how many orders of templates (default: 3)")
    parser.add_argument("--fillings", type=int, default=2, help="notes of each template (default: 2)")
    args = parser.parse_args()
    templates, recipe = built_in_templates(args.language), RECIPES[args.language]
    dev, test = ([*map(with_merged_types, fill(templates, split=split))] for split in ("dev", "test"))
    table: dict[int, list[tuple[float, float]]] = {size: [] for size in args.templates}
    for draw in range(args.draws):
        for part, size in zip(subsets(templates, args.templates, draw), args.templates, strict=True):
            tagger = create("hybrid", overrides=recipe.settings)
            train = Split.of([*map(with_merged_types, fill(part, fillings=args.fillings))])
            tagger.fit(train.sentences, Split.of(dev).sentences)
            table[size].append(scores(Deidentifier(tagger), test))
            print(f"draw {draw}, {size} templates: {table[size][-1]}", file=sys.stderr, flush=True)
    rows = []
    for size, found in table.items():
        means = [sum(column) / len(found) for column in zip(*found, strict=True)]
        shown = [", ".join(f"{value:.1f}" for value in column) for column in zip(*found, strict=True)]
        rows.append([size, f"{means[0]:.1f}", shown[0], f"{means[1]:.1f}", shown[1]])
    head = ["templates", "strings left, %", "by draw", "needless words in 1,000", "by draw"]
    print(tabulate(rows, head, tablefmt="pipe", disable_numparse=True))


if __name__ == "__main__":
    main()
