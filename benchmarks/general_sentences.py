"""How much PHI a model finds in English sentences from outside the clinic, token by token.

    python benchmarks/general_sentences.py --model synthetic

The sentences (general_sentences.txt) are none of the synthetic corpus's, and most of what fills them comes from other
locales of Faker. Gold is what sets of this kind mark, nationalities, titles and ages among it, though `--model
synthetic` is not taught to mark those three: a second line leaves them out.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

from faker import Faker

import crfdeid
from crfdeid.augmentation import in_small_letters
from crfdeid.corpora.synthetic.data import read_sections
from crfdeid.corpora.synthetic.templates import FieldValue, TemplatePart, render
from crfdeid.documents import Document, Span
from crfdeid.evaluation.tokens import count_token_pairs, token_scores

_LOCALES = ("en_AU", "en_CA", "en_IE", "en_NZ", "en_US", "de_AT", "fr_CH", "pt_PT", "nl_BE", "es_CL", "sk_SK", "et_EE")
_NATIONALITIES = (
    "Danish",
    "Kenyan",
    "Chilean",
    "Norwegian",
    "Irish",
    "Korean",
    "Peruvian",
    "Turkish",
    "Thai",
    "Greek",
    "Swiss",
)
_TITLES = ("Mr.", "Mrs.", "Ms.", "Dr.", "Miss", "Professor")
_DATES = ("%d/%m/%Y", "%m/%d/%y", "%Y-%m-%d", "%B %d, %Y", "%d %B %Y", "%b %d", "%d.%m.%Y", "%B %Y", "%A, %d %b %Y")
DEBATABLE = frozenset({"NRP", "TITLE", "AGE"})


def make_sentences(rounds: int, *, seed: int = 2026) -> list[Document]:
    """Every template filled so many times, with its PHI marked."""
    rng = Random(seed)
    fakers = [_faker(locale, seed) for locale in _LOCALES]
    found = []
    for templates in read_sections(Path(__file__).with_name("general_sentences.txt")).values():
        for _ in range(rounds):
            for template in templates:
                piece = _fill(template.replace("\\n", "\n").replace("\\t", "\t"), fakers, rng)
                found.append(Document(f"sentence-{len(found) + 1}", piece.text, piece.spans))
    return found


def _faker(locale: str, seed: int) -> Faker:
    faker = Faker(locale)
    faker.seed_instance(seed)
    return faker


def _fill(template: str, fakers: Sequence[Faker], rng: Random) -> TemplatePart:
    american = fakers[_LOCALES.index("en_US")]

    def field(name: str) -> FieldValue:
        if name in _WORDS:
            label, words = _WORDS[name]
            return FieldValue(rng.choice(words), label)
        local = rng.choice(fakers[:5] if rng.random() < 0.6 else fakers)
        label, draw = _DRAWN[name]
        text = draw(local if name in _LOCAL else american)
        return FieldValue(text.replace("\n", ", "), label)

    return render(template, field, rng)


_WORDS: Mapping[str, tuple[str, Sequence[str]]] = {
    "he": ("", ("he", "she")),
    "age": ("AGE", [str(years) for years in range(18, 100)]),
    "title": ("TITLE", _TITLES),
    "nationality": ("NRP", _NATIONALITIES),
}
_LOCAL = ("person", "first", "last", "street", "city", "company", "phone", "date")
_LICENCES = ("?#######", "?###-####-####", "########", "??######", "?##-##-####")
_DRAWN: Mapping[str, tuple[str, Callable[[Faker], str]]] = {
    "person": ("PERSON", lambda faker: f"{faker.first_name()} {faker.last_name()}"),
    "first": ("PERSON", lambda faker: faker.first_name()),
    "last": ("PERSON", lambda faker: faker.last_name()),
    "street": ("STREET_ADDRESS", lambda faker: faker.street_address()),
    "city": ("GPE", lambda faker: faker.city()),
    "country": ("GPE", lambda faker: faker.country()),
    "state": ("GPE", lambda faker: faker.state_abbr()),
    "company": ("ORGANIZATION", lambda faker: faker.company()),
    "date": ("DATE_TIME", lambda faker: faker.date(faker.random_element(_DATES))),
    "phone": ("PHONE_NUMBER", lambda faker: faker.phone_number()),
    "card": ("CREDIT_CARD", lambda faker: faker.credit_card_number()),
    "ssn": ("US_SSN", lambda faker: faker.ssn()),
    "iban": ("IBAN_CODE", lambda faker: faker.iban()),
    "email": ("EMAIL_ADDRESS", lambda faker: faker.email()),
    "url": ("URL", lambda faker: faker.url()),
    "domain": ("DOMAIN_NAME", lambda faker: faker.domain_name()),
    "ip": ("IP_ADDRESS", lambda faker: faker.ipv4()),
    "zip": ("ZIP_CODE", lambda faker: faker.postcode()),
    "license": ("US_DRIVER_LICENSE", lambda faker: faker.bothify(faker.random_element(_LICENCES)).upper()),
}


def main() -> None:
    """Print recall and precision, and recall by type."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="synthetic", help="the folder of a trained model (default: synthetic)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="times each sentence is filled (default: 5)")
    parser.add_argument("--lower", action="store_true", help="the sentences in small letters")
    options = parser.parse_args()
    gold = make_sentences(options.rounds)
    if options.lower:
        gold = [in_small_letters(document) for document in gold]
    model = crfdeid.load(options.model)
    found = {document.id: document.spans for document in model.annotate_documents(gold)}
    print(f"{len(gold)} sentences\n")
    for name, left_out in (("all types", frozenset()), ("without nationalities, titles, ages", DEBATABLE)):
        kept = [_without(document, left_out) for document in gold]
        figures = token_scores(count_token_pairs(kept, found), binary=True).micro
        print(f"{name}: recall {100 * figures.recall:.1f}, precision {100 * figures.precision:.1f}")
    pairs: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for (right, guess), count in count_token_pairs(gold, found).items():
        pairs[right] += count
        missed[right] += count * (not guess)
    del pairs[""]
    print("\n| type | tokens | found % |\n| --- | --- | --- |")
    for label, count in pairs.most_common():
        print(f"| {label} | {count} | {100 * (1 - missed[label] / count):.1f} |")


def _without(document: Document, labels: frozenset[str]) -> Document:
    spans: tuple[Span, ...] = tuple(span for span in document.spans if span.label not in labels)
    return Document(document.id, document.text, spans)


if __name__ == "__main__":
    main()
