"""What each ``{field}`` stands for in a text of all types: a query, a message, a form, a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from faker import Faker

from crfdeid.corpora.synthetic.data import sections, text_pools
from crfdeid.corpora.synthetic.people import draw_person
from crfdeid.corpora.synthetic.pieces import Piece
from crfdeid.corpora.synthetic.surrogates import Person, fill_pattern
from crfdeid.corpora.synthetic.templates import Value, render
from crfdeid.corpora.synthetic.text_forms import NAME_FORMS, draw_date
from crfdeid.corpora.synthetic.text_places import Places
from crfdeid.corpora.synthetic.world import World, without_accents

# People, by the type of their names; those outside a clinic are filed as patients. Each is one person through a text,
# but for "other", which is somebody new each time.
_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("patient", "kin", "person", "person2", "person3", "other"), "PATIENT"),
    **dict.fromkeys(("doctor", "doctor2"), "DOCTOR"),
}
_FORMS: Mapping[str, tuple[str, ...]] = {
    "PATIENT": ("full", "full", "full", "full", "short", "short", "first", "last", "middle", "initial"),
    "DOCTOR": ("last", "last", "last", "full", "full", "initial", "short"),
}
# Field -> its section of patterns in words.txt or names.txt, and its type.
_PATTERNS: Mapping[str, tuple[str, str]] = {
    "mrn": ("record numbers", "MEDICALRECORD"),
    "healthplan": ("plan numbers", "HEALTHPLAN"),
    "account": ("account numbers", "ACCOUNT"),
    "license": ("licence numbers", "LICENSE"),
    "plate": ("plates", "VEHICLE"),
    "vin": ("vehicle numbers", "VEHICLE"),
    "device": ("device numbers", "DEVICE"),
    "bioid": ("biometric numbers", "BIOID"),
    "idnum": ("other numbers", "IDNUM"),
    "phone": ("telephone numbers", "PHONE"),
    "fax": ("telephone numbers", "FAX"),
    "postcode": ("postcodes", "ZIP"),
}
_CAST_SHARE = 0.35


class TextFields:
    """Answers the fields of one text; its people and numbers are its own, and a role is one person throughout.

    Args:
        world: the names to draw from.
        faker: makes cards, bank accounts and addresses of the net.
        rng: the source of all other choices.
    """

    def __init__(self, world: World, faker: Faker, rng: Random) -> None:
        self._world, self._faker, self._rng = world, faker, rng
        self._people: dict[str, Person] = {}
        self._sex = rng.random() < 0.5
        self._years = rng.choice((rng.randint(1, 17), rng.randint(18, 89), rng.randint(18, 89), rng.randint(40, 89)))
        self._answers = self._answer_table()

    def __call__(self, name: str) -> Value | Piece:
        """The value of a field; ``{=pool}`` is any template of that pool.

        Raises:
            KeyError: a template names a field or pool that does not exist.
        """
        if name.startswith("="):
            return render(self._rng.choice(text_pools()[name[1:]]), self, self._rng)
        key, _, form = name.partition(".")
        if key in _ROLES:
            return self._name(key, form)
        if key in _PATTERNS:
            section, label = _PATTERNS[key]
            return Value(fill_pattern(self._rng.choice(sections("words.txt")[section]), self._rng), label)
        return self._answers[key](form)

    def _answer_table(self) -> dict[str, Callable[[str], Value | Piece]]:
        faker, rng, world = self._faker, self._rng, self._world
        places = Places(world, faker, rng)
        women, men = ("woman", "female", "lady"), ("man", "male", "gentleman")
        return {
            "age": lambda form: Value(str(self._years)),
            "age90": lambda form: Value(str(rng.randint(90, 106)), "AGE"),
            "sex": lambda form: Value(rng.choice(women[:2] if self._sex else men[:2])),
            "mf": lambda form: Value("F" if self._sex else "M"),
            "he": lambda form: Value("she" if self._sex else "he"),
            "his": lambda form: Value("her" if self._sex else "his"),
            "him": lambda form: Value("her" if self._sex else "him"),
            "mr": lambda form: Value(rng.choice(("Mrs.", "Ms.", "Ms", "Miss") if self._sex else ("Mr.", "Mr"))),
            "date": lambda form: Value(draw_date(form, rng), "DATE"),
            "year": lambda form: Value(str(rng.randint(1995, 2026))),
            "email": lambda form: Value(self._email(), "EMAIL"),
            "url": lambda form: Value(self._url(form), "URL"),
            "user": lambda form: Value(faker.user_name(), "USERNAME"),
            "ip": lambda form: Value(faker.ipv6() if rng.random() < 0.15 else faker.ipv4(), "IPADDR"),
            "mac": lambda form: Value(faker.mac_address(), "DEVICE"),
            "ssn": lambda form: Value(self._ssn(), "SSN"),
            "card": lambda form: Value(self._card(), "ACCOUNT"),
            "iban": lambda form: Value(faker.iban(), "ACCOUNT"),
            "zip": lambda form: Value(faker.postcode() + (f"-{rng.randint(1000, 9999)}" * (rng.random() < 0.1)), "ZIP"),
            "street": lambda form: Value(places.street(), "STREET"),
            "city": lambda form: Value(places.town(), "CITY"),
            "state": lambda form: Value(faker.state(), "STATE"),
            "code": lambda form: Value(faker.state_abbr(), "STATE"),
            "country": lambda form: Value(places.country(), "COUNTRY"),
            "address": lambda form: places.address(),
            "org": lambda form: Value(rng.choice(world.organisations), "ORGANIZATION"),
            "hospital": lambda form: Value(places.hospital(form), "HOSPITAL"),
        }

    def _name(self, role: str, form: str) -> Value:
        label, rng = _ROLES[role], self._rng
        if role not in self._people or role == "other":
            self._people[role] = self._person(female=self._sex if role == "patient" else rng.random() < 0.5)
        person = self._people[role]
        return Value(NAME_FORMS[form or rng.choice(_FORMS[label])](person), label)

    def _person(self, *, female: bool) -> Person:
        rng, world = self._rng, self._world
        if rng.random() < _CAST_SHARE:
            return draw_person(world.cast, rng, female=female)
        return Person(rng.choice(world.first), rng.choice(world.first), rng.choice(world.last), female)

    def _email(self) -> str:
        rng, faker = self._rng, self._faker
        person = next(iter(self._people.values()), None)
        if person is None or rng.random() < 0.4:
            return str(rng.choice((faker.email, faker.free_email, faker.company_email))())
        first, last = (without_accents(part).lower().replace(" ", "") for part in (person.first, person.last))
        local = rng.choice((f"{first}.{last}", f"{first[0]}{last}", f"{first}_{last}", f"{last}{rng.randint(1, 99)}"))
        return f"{local}@{faker.free_email_domain() if rng.random() < 0.5 else faker.domain_name()}"

    def _url(self, form: str) -> str:
        rng, faker = self._rng, self._faker
        bare = str(faker.domain_name())
        if form == "domain":
            return bare
        return str(rng.choice((faker.url(), f"www.{bare}", bare, f"https://{bare}/{faker.uri_path()}", faker.uri())))

    def _ssn(self) -> str:
        number = str(self._faker.ssn())
        return self._rng.choice((number, number, number, number.replace("-", " "), number.replace("-", "")))

    def _card(self) -> str:
        number = str(self._faker.credit_card_number())
        if len(number) != 16 or self._rng.random() < 0.5:
            return number
        mark = self._rng.choice((" ", "-"))
        return mark.join(number[i : i + 4] for i in range(0, 16, 4))


def make_faker(seed: int) -> Faker:
    """The source of cards, bank accounts and net addresses, repeatable from its seed."""
    faker: Any = Faker(["en_US"])
    faker.seed_instance(seed)
    return faker
