"""Rules for numbers whose form and check say what they are: cards, accounts, identities, licences, vehicles."""

from __future__ import annotations

from crfdeid.rules.checks import is_card, is_dea, is_npi, is_nss, is_vin, standard
from crfdeid.rules.rule import ACCOUNT, LICENCE, RECORD, SECURITY, VEHICLE, Rule

CHECKED = (
    Rule(
        "social security number",
        r"\d{3}-\d\d-\d{4}|\d{3} \d\d \d{4}",
        SECURITY,
        ("482-21-3448", "482 21 3448"),
        ("482-21-344", "1482-21-3448", "000-21-3448", "666-21-3448", "982-21-3448", "482-00-3448", "482-21-0000"),
        digits=9,
        check=lambda value: standard("us.ssn")(value.replace(" ", "-")),
    ),
    Rule(
        "bank account",
        r"(?-i:[A-Z]{2})\d\d(?: ?(?-i:[A-Z0-9]{4})){2,7}(?: ?(?-i:[A-Z0-9]{1,3}))?",
        ACCOUNT,
        (
            "ES8621004822134482210033",
            "GB12 QXTW 4822 1344 8221 03",
            "[DE66 4822 1344 8221 0344 82] OK",
            "NL79QXTW0482213448",
        ),
        ("ES8721004822134482210033", "GB12 QXTW", "QX12 4822 1344 8221"),
        digits=10,
        check=standard("iban", check_country=False),
        proven=True,
    ),
    Rule(
        "payment card",
        r"[2-6]\d{3}([ -]?)\d{4}(?:\1\d{4}){2}(?:\1\d{1,3})?|3[47]\d\d([ -]?)\d{6}\2\d{5}|3[068]\d\d([ -]?)\d{6}\3\d{4}"
        r"|[2-6]\d{12,18}",
        ACCOUNT,
        (
            *("4929526018159081", "4929 5260 1815 9081", "5301-3016-6131-8607", "3714 913909 96033", "371491390996033"),
            *("30560824628199", "6011482199351819097", "4929378657973", "[4929 5260 1815 9081] 123"),
        ),
        ("4929526018159082", "4929 5260 1815 9082", "0929 5260 1815 9081", "4929 5260 18159081"),
        digits=13,
        check=is_card,
        proven=True,
    ),
    Rule(
        "wallet of a cryptocurrency",
        r"(?-i:[13][a-km-zA-HJ-NP-Z1-9]{25,34}|bc1[02-9ac-hj-np-z]{11,71})|0x[0-9a-f]{40}",
        ACCOUNT,
        ("1K1fPg9fFQ5qHK8CtgpYZQk4fQCqqFMHnt", "0x48221344a48221344b48221344c48221344d4822"),
        ("1K1fPg9fFQ5qHK8CtgpYZQk4fQCqqFMHnu", "0x48221344"),
        digits=3,
        check=lambda value: value.startswith("0x") or standard("bitcoin")(value),
        proven=True,
    ),
    Rule(
        "vehicle identification number",
        r"[a-hj-npr-z0-9]{17}",
        VEHICLE,
        ("1TTWX4827KA482213", "5txtw221xlb048221"),
        ("1TTWX4820KA482213", "48221344822134482", "1TTWX4827KA48221"),
        digits=6,
        check=is_vin,
    ),
    Rule(
        "DEA number",
        r"(?-i:[ABCDEFGHJKLMPRSTUX][A-Z9])\d{7}",
        LICENCE,
        ("BQ4822133", "F94822133"),
        ("BQ4822134", "BQ482213", "bq4822133"),
        digits=7,
        check=is_dea,
    ),
    Rule(
        "Spanish identity number",
        r"\d{7,8}[ -]?[a-z]|\d{1,2}\.\d{3}\.\d{3}[ -]?[a-z]|[xyz][ -]?\d{7}[ -]?[a-z]",
        RECORD[2:],
        ("48221344G", "48221344-G", "48.221.344-G", "X4822134T", "Y-0748221-E"),
        ("48221344H", "X4822134A", "48221344", "482213G"),
        digits=7,
        check=lambda value: standard("es.nie" if value[0].isalpha() else "es.dni")(value.replace(".", "")),
    ),
    Rule(
        "Spanish social security number",
        r"\d\d([ /-]?)\d{8}\1\d\d",
        ("ID_ASEGURAMIENTO", "SSN", "HEALTHPLAN", "IDNUM", "ID"),
        ("284822134462", "28 48221344 62", "28/48221344/62"),
        ("284822134463", "28 48221344"),
        digits=12,
        check=is_nss,
    ),
    Rule(
        "NHS number",
        r"\d{3}([ -]?)\d{3}\1\d{4}",
        RECORD,
        ("4822134407", "482 213 4407"),
        ("4822134408", "482 213 440"),
        digits=10,
        check=standard("gb.nhs"),
    ),
    Rule(
        "national provider identifier",
        r"1\d{9}",
        LICENCE,
        ("1482213448",),
        ("1482213449", "148221344"),
        digits=10,
        check=is_npi,
    ),
)
