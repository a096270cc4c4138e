"""Rules for identifying numbers: after the name of their field, and by their check digits."""

from __future__ import annotations

import re

from crfdeid.rules.rule import (
    ACCOUNT_TYPES,
    CODE,
    DEVICE_TYPES,
    LICENCE_TYPES,
    PERSON_TYPES,
    PLAN_TYPES,
    RECORD_TYPES,
    SECURITY_TYPES,
    VEHICLE_TYPES,
    Rule,
    is_card,
    is_dea,
    is_kvnr,
    is_npi,
    is_nss,
    is_rvnr,
    is_vin,
    one_of,
    stdnum_check,
)

# Medicare beneficiary identifiers have letters but S, L, O, I, B and Z at fixed places.
_LETTER, _MIXED = "[ac-hjkmnp-rt-y]", "[ac-hjkmnp-rt-y0-9]"
_MBI = rf"[1-9]{_LETTER}{_MIXED}\d[ -]?{_LETTER}{_MIXED}\d[ -]?{_LETTER}{{2}}\d\d"
_DASH = "[ .‐‑–-]"
_RVNR = r"\d\d(?:[ -]?\d\d){3}[ -]?[a-z][ -]?\d\d ?\d"
_NIR = r"[1-478](?:[ .-]?\d\d){2}[ .-]?(?:\d\d|2[ab])(?:[ .-]?\d{3}){2}"
_FISCAL_CODE = r"(?:[a-z]{3} ?){2}[\dlmnp-v]{2}[abcdehlmprst][\dlmnp-v]{2} ?[a-z][\dlmnp-v]{3} ?[a-z]"


def _digits(count: int, separators: str = "[ ./-]") -> str:
    """Digits with at most one separator between two of them."""
    return rf"\d(?:{separators}?\d){{{count - 1}}}"


# Five digits or more, perhaps with letters: enough after a word that is no name of a number by itself.
_LONG = r"(?=(?:[a-z./-]{0,8}\d){5})[a-z0-9](?:[a-z0-9]|[./-](?=[a-z0-9])){4,27}+|\d{3,4}(?:[ -]\d{3,4}){1,4}"
_NO_AMOUNT = (
    r"(?=.{5})(?!\d{4}-\d\d?-|\d\d?[./-]\d\d?[./-]|\d{1,3}(?:\.\d{3}){1,3}(?!\w))(?=\S{1,28}+(?! ?(?:mg|mcg|g|ml|u|ui"
    r"|iu|units?|copies|copias"
    r"|euros?|€|cells?|células)(?!\w)))"
)
# Identifiers of which the digits before the last ones are left out or hidden.
_MASK = r"(?:x{2,8}+[ -]?|x{3,8}+|[•#…]{2,8}+[ -]?|\*{3,8}+[ -]?|\*\*-|(?<= )\*(?=(?!19|20)\d{4}(?![\w*])))"
_LAST_WORDS = (
    *(
        "digits",
        "digit",
        "numbers",
        "nos",
        "of",
        "ssn",
        "ss",
        "soc",
        "social",
        "security",
        "sec",
        "card",
        "mrn",
        "account",
    ),
    *("acct", "phone", "tel", "cell", "dob", "id", "policy", "member", "visa", "mastercard", "amex", "credit", "debit"),
    *(
        "his",
        "her",
        "their",
        "the",
        "is",
        "are",
        "was",
        "on",
        "file",
        "listed",
        "as",
        "number",
        "patient",
        "patient's",
        "nhs",
    ),
    *("dígitos", "digitos", "cifras", "números", "numeros", "de", "del", "la", "su", "dni", "nie", "nif", "tarjeta"),
    *("cuenta", "seguridad", "nuss", "móvil", "teléfono", "son", "es", "número", "cip", "nhc", "historia", "tfno"),
    *("ziffern", "stellen", "der", "des", "von", "svnr", "kvnr", "nummer", "versicherungsnummer", "lautet", "lauten"),
    *(
        "sind",
        "ist",
        "kontonummer",
        "versichertennummer",
        "chiffres",
        "du",
        "le",
        "numéro",
        "nir",
        "sécurité",
        "sociale",
    ),
    *("sécu", "carte", "sont", "est", "dossier", "compte", "n°", "nº", "no."),
)
_LAST_DIGITS = rf"(?:[ :#=(),'\"-]{{1,3}}{one_of(_LAST_WORDS)}(?!\w)){{0,8}}[ :#=()'\"-]{{0,3}}"
_COUNT = r"(?:[3-6]|three|four|five|six|tres|cuatro|cinco|seis|drei|vier|fünf|trois|quatre|cinq)"
_LAST = (
    rf"(?:(?:last|final|l)[ -]?{_COUNT}|(?:{_COUNT} )?[úu]ltim[oa]s(?: {_COUNT})?(?= (?:d[íi]gitos|cifras|n[úu]meros))"
    rf"|{_COUNT} [úu]ltim[oa]s|letzten? {_COUNT}(?= (?:ziffern|stellen))|{_COUNT} derniers(?= chiffres)|endziffern)"
)
_ENDING = (
    r"(?:ending(?: in| with| on)?|(?:ends|ended) (?:in|with|on)|(?:terminad[oa]|acabad[oa]|termina|acaba"
    r"|finaliza) en(?: el| los| las)?"
    r"|(?:endet|endend|endend[er]) (?:auf|mit)(?: den ziffern)?|(?:terminant|finissant|finit|termine) par(?: les?)?)"
)
# Words before the last digits of a number, before an extension, and in the footer of a dictation.
FEW_WORDS = (
    *("last", "last4", "l4", "l", "final", "ending", "ends", "ended", "terminado", "terminada", "acabado", "acabada"),
    *("termina", "acaba", "finaliza", "últimos", "últimas", "ultimos", "ultimas", "letzte", "letzten", "endziffern"),
    *(
        "endet",
        "endend",
        "endende",
        "endender",
        "derniers",
        "terminant",
        "finissant",
        "finit",
        "termine",
        "*",
        "•",
        "#",
    ),
    *("…", *("x" * count for count in range(1, 10))),
    *("d", "dd", "dt", "dict", "dictated", "t", "td", "tr", "trans", "transcribed", "typed", "signed", "job", "diktat"),
    *("diktatzeichen", "dikt", "gez"),
)

_FOOTER = re.compile(
    r"(?<!\w)(?:DD?|DT|D/T|TD?|TR):? ?\d{1,4}[/.-]\d{1,2}[/.-]\d|(?i:(?<!\w)(?:job|dictation|doc)(?: id)? ?[#:] ?\d)"
)


def has_dictation_footer(note: str) -> bool:
    """True for a note with the date of its dictation, or the number of its job.

    Example:
        >>> [has_dictation_footer(note) for note in ("D: 03/14/2031", "Job #4822", "vitamin D 50")]
        [True, True, False]
    """
    return _FOOTER.search(note) is not None


_WRITERS = ("DOCTOR", "USERNAME", "NOMBRE_PERSONAL_SANITARIO", *PERSON_TYPES)

LABELLED_NUMBER_RULES = (
    Rule(
        "unique device identifier",
        r"(?=[(\]0+=])(?=(?:[^\d ]{0,20} ?\d){8})(?:\(01\) ?\d{14}(?: ?\(\d{2,4}\) ?[a-z0-9](?:[a-z0-9]"
        r"|[./+-](?=[a-z0-9])){0,19}+){0,6}"
        r"|(?:\]c1|\]d2)?01\d{14}(?:1[17]\d{6}){1,2}(?:(?:10|21)[a-z0-9]{1,20})?"
        r"|\+[a-z][a-z0-9]{5,22}+(?:/\$\$?[+a-z0-9](?:[a-z0-9]|[+.$/-](?=[a-z0-9])){3,40}+)?"
        r"|=/[a-z0-9]{6,20}(?:=[,<>%]?[a-z0-9]{6,16}){1,4})",
        DEVICE_TYPES,
        (
            *("(01)00844588003288(17)141120(10)7654321D", "(01) 00844588003288 (17) 141120 (21) A4822"),
            *(
                "UDI: [(01)00844588003288]",
                "0100844588003288171411201048221Q",
                "+H123QUILL12340/$$420020216LOT4822/S12X",
            ),
        ),
        ("(01) 12 34", "(1) 00844588003288", "+h", "(17)141120"),
        digits=8,
    ),
    Rule(
        "last digits of a number",
        rf"(?:{_LAST}{_LAST_DIGITS}|{_ENDING}[ :]{{1,2}}(?:{_MASK})?(?!(?:19|20)\d\d(?!\w)))(?P<value>(?:\d{{3,6}}"
        rf"|\d(?:-\d){{3}})-?[a-z]?(?!\w))"
        r"|(?P<before>\d{4})(?= ?[(,]? ?(?:the )?(?:last (?:4|four)|[úu]ltim[oa]s (?:4|cuatro)|last4)(?! (?:days"
        r"|weeks|months|years)))"
        rf"|{_MASK}(?:(?:{_MASK}){{0,6}}(?P<masked>\d{{3,6}}[a-z]?(?!\w))|(?<=-)(?P<part>\d\d-\d{{4}}))",
        PERSON_TYPES,
        (
            *("SSN last 4: [4822]", "last four of SSN [4822]", "last four digits of her card are [4822]", "L4: [4822]"),
            *(
                "card ending in [4822]",
                "xxx-xx-[4822]",
                "***-**-[4822]",
                "xxxx xxxx xxxx [4822]",
                "[4822] (last 4 of SSN)",
            ),
            *("últimos cuatro dígitos del DNI: [4822]", "terminado en [4822Q]", "letzte vier Ziffern [4822]"),
            *("endet auf [4822]", "quatre derniers chiffres : [4822]", "se terminant par [4822]", "###-##-[4822]"),
        ),
        (
            "last 4 weeks",
            "ended 2031",
            "ends in 2031",
            "last four visits",
            "x4",
            "**48** h",
            "xx 12",
            "en los últimos 4 años",
        ),
        words=FEW_WORDS,
        digits=3,
    ),
    Rule(
        "social security number after its name",
        rf"\d{{3}}{_DASH}?\d\d{_DASH}?\d{{4}}",
        SECURITY_TYPES,
        ("SSN: [482213448]", "social security no. [982 21 3448]", "SSN is [078-05-1120]", "SS# [482.21.3448]"),
        ("SSN unknown", "SSN 4822"),
        left_context=(
            "ssn",
            "s.s.n",
            "ss#",
            "ss #",
            "soc sec",
            "social security",
            "tax number",
            "taxpayer number",
            "itin",
        ),
        digits=9,
    ),
    Rule(
        "Spanish social security number after its name",
        r"\d\d[ ./-]?\d{7,8}(?:[ ./-]?\d\d)?",
        ("ID_ASEGURAMIENTO", "HEALTHPLAN", "SSN", "IDNUM", "ID"),
        ("NASS: [28 48221344 07]", "nº SS [284822134407]", "NUSS [28/48221344/07]"),
        ("NASS: no", "NASS 28"),
        left_context=(
            *("nass", "n.a.s.s", "nuss", "nss", "number ss", "number s.s", "seguridad social", "afiliación"),
            "afiliación ss",
        ),
        digits=9,
    ),
    Rule(
        "European social insurance number after its name",
        rf"{_RVNR}|{_NIR}(?:[ ./-]? ?(?:clé ?)?\d\d)?|{_digits(13)}|{_digits(11)}|{_digits(10)}"
        r"|[a-z]{2}[ -]?\d\d(?:[ -]?\d\d){2}(?:[ -]?[a-d])?",
        SECURITY_TYPES,
        (
            *("SVNR: [4822 140372]", "SV-Nr. [65 140372 Q 487]", "Sozialversicherungsnummer [756.4822.1344.82]"),
            *(
                "N° de sécurité sociale : [1 72 03 2A 482 213 44]",
                "NIR [1720375482213]",
                "NIR [1 72 03 75 482 213 clé 45]",
                "NISS: [148 221 344 82]",
            ),
            *("NI number: [QT 48 22 13 D]", "National Insurance No. [qt482213d]", "N° AVS : [756.4822.1344.82]"),
        ),
        ("SVNR folgt", "NIR 850 nm", "NI 12 patients", "national insurance lapsed 2019", "SV 48221"),
        left_context=(
            *("svnr", "sv-number", "svn", "rvnr", "rv-number", "vsnr", "vers.-number", "versicherungsnummer"),
            *(
                "versicherungsnr",
                "versicherungsnr. der rente",
                "sozialversicherungsnummer",
                "sozialversicherungs-number",
            ),
            *("rentenversicherungsnummer", "rentenvers.-number", "sozialvers.-number"),
            *("ahv", "ahvn13", "avs", "navs", "navs13"),
            *("nir", "nir du patient", "sécurité sociale", "number ss", "number sécu", "number de sécu", "nss"),
            *("immatriculation", "assuré social", "assurée sociale"),
            *("niss", "n.i.s.s", "segurança social", "seg. social", "beneficiário", "beneficiária"),
            *("nino", "ni number", "n.i. number", "national insurance", "insurance ni number"),
        ),
        digits=6,
    ),
    Rule(
        "Spanish or Portuguese identity number after its name",
        r"(?:[xyz][ -]?)?(?:\d{7,8}|\d{1,2}\.\d{3}\.\d{3})(?:-?[a-z]|(?-i: [A-Z]))?|(?:pt ?)?\d{3}(?:[ .]?\d{3}){2}",
        RECORD_TYPES[2:],
        (
            *("DNI: [48221344Q]", "DNI [48221344 Q]", "NIE [X4822134Q]", "DNI [48221344] y acude"),
            *("D.N.I. [48.221.344-Q]", "NIF [248 221 344]", "contribuinte n.º [PT248221344]"),
        ),
        ("DNI 48", "DNI: no consta", "contribuinte desde 2019"),
        left_context=(
            *("dni", "d.n.i", "nif", "n.i.f", "nie", "n.i.e", "documento nacional de identidad", "nif do utente"),
            *("contribuinte", "identificação fiscal", "número fiscal"),
        ),
        digits=7,
    ),
    Rule(
        "tax or citizen number after its name",
        rf"{_FISCAL_CODE}|{_digits(11)}|{_digits(9, '[ .]')}",
        RECORD_TYPES[2:],
        (
            *("Steuer-ID: [48 221 344 822]", "IdNr. [48221344822]", "BSN: [482213448]", "BSN [4822.13.448]"),
            *("codice fiscale [QLL TWN 72C14 Q482 T]", "C.F. [qlltwn72c14q482t]"),
        ),
        ("Steuer-ID folgt", "BSN 2 keer", "CF 110 mm"),
        left_context=(
            *("steuer-id", "steuer id", "stid", "steueridentifikationsnummer", "steuer-idnr", "idnr", "tin"),
            *("identifikationsnummer", "codice fiscale", "codice fiscale del paziente", "c.f", "cf", "cod. fisc"),
            *("cod.fisc", "cod. fiscale", "bsn", "bsn-number", "bsn/sofinr", "sofinummer", "burgerservicenummer"),
            "burger service nummer",
        ),
    ),
    Rule(
        "record number",
        rf"{CODE}|\d{{3}}\.\d{{3}}\.\d{{4}}",
        RECORD_TYPES,
        (
            *("MRN: [48-2213-7]", "NHC [2213744]", "Medical record number: [A991204]"),
            *("MRN #[QX-48221]", "MRN[48221344]"),
            *("patient ID [P48221]", "nº de historia clínica: [482213]", "chart no. [482213]", "MRN ([482 213 448])"),
        ),
        ("MRN pending", "MRN 48 hours", "chart no 2", "patient 48-22", "unit 4822"),
        left_context=(
            *("mrn", "m.r.n", "medical record", "record number", "unit number", "chart number", "patient number"),
            *("hospital number", "nhs number", "nhsno", "n.h.s", "nhc", "n.h.c", "historia clínica"),
            *("historia clinica", "historia number"),
            *("number historia", "number de historia", "number de historia clínica", "number de historia clinica"),
        ),
        digits=2,
    ),
    Rule(
        "health plan number",
        rf"{_MBI}|[a-z][ -]?\d{{3}}(?: ?\d{{3}}){{2}}|{CODE}",
        PLAN_TYPES,
        (
            *("insurance ID: [QX-482213]", "policy no. [48221344]", "KVNR [Q 482 213 442]", "MBI [1qx4 tw8 qx22]"),
            *("Member # [Q48221344]", "Medicare number [1QX4-TW8-QX22]"),
            *("health plan beneficiary number [HPB-48221]", "nº de póliza: [48221344]"),
        ),
        ("plan 2", "insurance lapsed", "new plan 2015", "insurance 201"),
        left_context=(
            *("insurance policy", "insurance plan number", "insurance member number", "policy number"),
            *("plan number", "subscriber number", "member number", "group number"),
            *("beneficiary number", "tarjeta number"),
            *("medicare number", "medicaid number", "medicare beneficiary number", "póliza", "poliza", "insurance"),
            *("tarjeta sanitaria", "beneficiary", "mbi", "medicare", "medicare card", "kvnr", "kv-number"),
            *("krankenversichertennummer", "krankenversicherten-number", "krankenversicherungsnummer"),
            *(
                "krankenkassennummer",
                "versichertennummer",
                "versichertennr",
                "versicherten-number",
                "vers.-number",
                "egk-number",
            ),
        ),
        digits=2,
    ),
    Rule(
        "account number",
        CODE,
        ACCOUNT_TYPES,
        ("acct [48221-QX]", "account no. [48221344]", "Account #[48221344]", "nº de cuenta: [4822134482]"),
        ("account 12", "on account of 2015", "account"),
        left_context=(
            *("acct", "account", "account number", "bank account", "billing number", "invoice number", "cuenta number"),
            *("number de cuenta", "cuenta corriente", "cuenta bancaria", "routing number", "card number"),
            *("credit card", "debit card"),
        ),
        digits=2,
    ),
    Rule(
        "licence or certificate number",
        rf"{CODE}|{_digits(10, '[ -]')}|[a-z][a-z9] \d{{7}}",
        LICENCE_TYPES,
        (
            *("driver's license number [Q482-2134-4822]", "license no. [MD48221]", "DL #[Q4822134]", "DEA [QX4822134]"),
            *(
                "NPI [1 482 213 449]",
                "DEA [BQ 4822133]",
                "certificate number [48221-Q]",
                "carnet de conducir: [48221344G]",
            ),
        ),
        ("license to practise", "licensed 2015", "DL 4"),
        left_context=(
            *("driver's license", "driver's licence", "drivers license", "drivers licence"),
            *("driver license", "dl number"),
            *("driver licence", "driving licence", "driving license", "license number"),
            *("licence number", "licencia number"),
            *("certificate number", "certification number", "registration number", "npi", "dea", "gmc", "license"),
            *("national provider identifier", "dea registration", "dea lic"),
            *(
                "carnet de conducir",
                "permiso de conducir",
                "licencia de conducir",
                "lanr",
                "bsnr",
                "arztnummer",
                "rpps",
            ),
            *("lebenslange arztnummer", "arzt-number", "betriebsstättennummer", "betriebsstätten-number", "adeli"),
            *("finess", "number rpps", "number adeli", "number finess", "führerschein", "führerscheinnummer"),
            *("führerschein-number", "permis de conduire", "permis number", "cias"),
        ),
        digits=2,
    ),
    Rule(
        "Spanish college number",
        r"(?:\d\d[ /-]?){0,2}\d{4,6}",
        ("ID_TITULACION_PERSONAL_SANITARIO", *LICENCE_TYPES),
        ("NºCol: [28 28 48221]", "nº colegiado [282848221]", "Nº de colegiada: [4822]"),
        ("nº col 3", "NºCol:"),
        left_context=(
            "number col",
            "number colegiado",
            "number colegiada",
            "number de colegiado",
            "number de colegiada",
            "colegiado number",
            "nºcol",
            "colegiado",
        ),
        digits=4,
    ),
    Rule(
        "number of an episode",
        CODE,
        ("ID_CONTACTO_ASISTENCIAL", *PERSON_TYPES),
        ("Episodio: [48221344]", "episode number [48221-Q]", "encounter #[482213448]", "accession no. [Q4822134]"),
        ("episodio 2", "episode 2015", "visit number 2"),
        left_context=(
            *("episodio", "episode number", "encounter number", "visit number", "accession number", "specimen number"),
            *("case number", "claim number", "order number", "reference number"),
        ),
        digits=2,
    ),
    Rule(
        "passport or identity number",
        CODE,
        PERSON_TYPES,
        ("passport no. [Q48221344]", "Passport: [482213448]", "pasaporte [QXT482213]", "ID number: [48-22134]"),
        ("passport lost", "pasaporte 4", "id 4"),
        left_context=(
            *("passport", "pasaporte", "passport number", "pasaporte number", "passeport", "passeport number"),
            *("number de passeport", "reisepass", "reisepassnummer", "reisepass-number", "passnummer", "pass-number"),
            *("personalausweis", "personalausweisnummer", "ausweisnummer", "ausweis-number", "personalausweis-number"),
            *("personalausweisnr", "reisepassnr", "passnr", "ausweisnr"),
            *("cni", "carte d'identité", "carte nationale d'identité", "carte d'identité number"),
            "id number",
            "national id",
            "identity number",
            "identity card",
            "employee number",
        ),
        digits=2,
    ),
    Rule(
        "vehicle or licence plate",
        r"[a-hj-npr-z0-9]{17}|[a-zäöü]{1,3}-[a-z]{1,2} ?\d{1,4}"
        r"|(?=(?:[a-z -]{0,4}\d){2})[a-z0-9]{1,4}(?:[ -]?[a-z0-9]{2,4}){1,2}",
        VEHICLE_TYPES,
        ("VIN: [WTXTW48221344T822]", "license plate [QXT 4822]", "plate number [4822-QXT]", "matrícula: [4822 QXT]"),
        ("plate 2", "growth plate", "plate was 20 mm"),
        left_context=(
            *("vin", "license plate", "licence plate", "number plate", "plate number", "vehicle number", "matrícula"),
            *("matricula", "vehicle tag", "license tag", "kennzeichen", "kfz-kennzeichen", "amtliches kennzeichen"),
            *(
                "plaque",
                "plaque d'immatriculation",
                "immatriculation",
                "immatriculé",
                "number de plaque",
                "fahrgestellnummer",
                "fahrgestell-number",
            ),
        ),
    ),
    Rule(
        "number of a device",
        CODE,
        DEVICE_TYPES,
        ("serial number [QX-48221344]", "S/N: [48221344Q]", "device ID [QXT-482-2134]", "nº de serie: [QX48221]"),
        ("serial troponins", "serial 2", "device 2015", "s/n 48221"),
        left_context=(
            *("serial number", "s/n:", "device number", "device serial", "device serial number", "implant number"),
            *("udi", "imei"),
            *("pacemaker serial", "number de serie"),
            *("biometric number", "mac address"),
        ),
        digits=2,
    ),
    Rule(
        "serial number",
        rf"(?!\d{{5}}(?![\w-])){_NO_AMOUNT}(?:{_LONG})",
        DEVICE_TYPES,
        (
            *(
                "S/N [48221344Q]",
                "serial [QX-48221344]",
                "SN: [48221344]",
                "Seriennummer: [QX482213]",
                "Ser No. [482213]",
            ),
            *("n° de série [48221344]", "Serien-Nr. [482213Q]", "nº serie: [QX48221]", "numéro de série : [QX482213]"),
        ),
        ("s/n 48221", "serial 2", "sn 4822", "serial troponins", "serial 14/03/2031"),
        left_context=(
            *("s/n", "n/s", "sn", "serial", "serial number", "ser number", "ser. number", "serial/lot", "lot/serial"),
            *(
                "seriennummer",
                "seriennr",
                "serien-number",
                "seriennr.",
                "number de série",
                "number série",
                "numéro de série",
            ),
            *(
                "number serie",
                "number de serie",
                "serie number",
                "número de serie",
                "gerätenummer",
                "geräte-number",
                "imei",
            ),
            *("udi-di", "udi di", "nºserie", "geräte-nr", "n°série"),
        ),
        digits=5,
    ),
    Rule(
        "card or record of a patient",
        rf"{_NO_AMOUNT}(?:b{{8}}(?=(?:[a-z]{{0,7}}\d){{5}})[a-z0-9]{{8}}"
        rf"|[a-z]{{2,10}}[ -]?(?:\d ?)?\d{{6,12}}(?: ?\d{{2,3}})?[a-z]?|{_LONG})",
        PERSON_TYPES,
        (
            *(
                "HAR [48221344822]",
                "encounter [482213448]",
                "FIN: [4822134482]",
                "CSN [482213448]",
                "CIP-SNS [BBBBBBBB48221344]",
            ),
            *(
                "CITE [QUTA720314021]",
                "TIS [48221344]",
                "NUHSA [AN0482213448]",
                "SIP: [48221344]",
                "CIP [QUTA 1 720314 021]",
            ),
            *(
                "Fallnummer: [4822134]",
                "Fall-Nr. [4822134]",
                "IPP : [48221344]",
                "NDA [48221344]",
                "N° de dossier [482213]",
            ),
            *(
                "accession [S31-48221]",
                "claim [QX-482213]",
                "Rx# [4822134]",
                "Medical ID: [QX-4822-134]",
                "PID [4822134]",
            ),
            *("expediente [482213/31]", "Patientennummer [48221344]", "order [482213448]", "referral #[4822134]"),
        ),
        (
            "fin 2031",
            "tis 2019",
            "encounter 4",
            "visit 03/14/2031",
            "order 2031-03-14",
            "case 48",
            "claim 250000 euros",
        ),
        left_context=(
            *(
                "har",
                "fin",
                "csn",
                "job",
                "badge",
                "badge number",
                "employee",
                "staff number",
                "encounter",
                "enc",
                "visit",
                "accession",
                "accession:",
                "acc",
                "specimen",
                "order",
            ),
            *("claim", "case", "referral", "authorization", "prior authorization", "auth", "prior auth", "requisition"),
            *("rx", "prescription", "ticket", "incident", "tracking", "confirmation", "episode", "admission number"),
            *(
                "stay number",
                "patient id",
                "patient",
                "pt id",
                "medical id",
                "health id",
                "subject",
                "subject id",
                "pid",
            ),
            *("empi", "epi number", "ehr number", "emr number", "case id", "visit id", "encounter id", "study number"),
            *(
                "reference",
                "ref",
                "cip",
                "cip-sns",
                "cip sns",
                "cipsns",
                "cipa",
                "cip autonómico",
                "cite",
                "tis",
                "sip",
            ),
            *("nuhsa", "naf", "number tarjeta", "expediente", "number de expediente", "expediente number", "volante"),
            *(
                "petición",
                "number de petición",
                "muestra",
                "caso",
                "caso number",
                "solicitud",
                "tsi",
                "icu",
                "cita",
                "informe number",
            ),
            *("number de informe", "número de paciente", "number de paciente", "id paciente", "ingreso number"),
            *("number ingreso", "number de ingreso", "number caso", "number de caso", "number petición", "auftrag"),
            *("aufnahmenr", "befundnr", "aktennr", "fall-id", "patid"),
            *(
                "fallnummer",
                "fall-number",
                "fall number",
                "fallnr",
                "aufnahmenummer",
                "aufnahme-number",
                "patientennummer",
            ),
            *("patienten-number", "patientennr", "pat.-number", "pat-number", "pat number", "auftragsnummer"),
            *("auftrags-number", "auftragsnr", "befundnummer", "befund-number", "aktenzeichen", "az", "vorgangsnummer"),
            *("akte", "archivnummer", "probennummer", "eingangsnummer", "e-number", "journalnummer", "journal-number"),
            *("ipp", "nip", "nda", "iep", "ndp", "number de dossier", "numéro de dossier", "dossier", "number dossier"),
            *(
                "number patient",
                "number de patient",
                "numéro de séjour",
                "number de séjour",
                "number d'hospitalisation",
            ),
            *("number de venue", "number d'examen", "number de prélèvement", "number d'admission"),
        ),
        digits=5,
    ),
    Rule(
        "job of a dictation",
        rf"\d{{4,12}}(?!\w)|{_LONG}",
        PERSON_TYPES,
        ("Job #[4822]", "Job ID: [4822]", "Document ID [48221344]", "Conf # [482213]", "Dictation #[4822]"),
        ("job 4", "job of 2031", "document 3", "job: nurse"),
        left_context=(
            *(
                "job number",
                "document number",
                "doc number",
                "dictation number",
                "transcription number",
                "voice number",
            ),
            *("confirmation number", "conf number", "job id", "transaction number", "dictation id", "report number"),
            *("voice job number", "diktatnummer", "diktat-number"),
        ),
        digits=4,
    ),
    Rule(
        "initials in the footer of a dictation",
        r"(?-i:[A-Z]{2,4} ?[/:] ?(?:[a-z]{2,4}|[A-Z]{2,4})(?:/\d{3,9})?|[a-z]{2,4}/[a-z]{2,4})"
        r"(?=(?:[ ,;.|]{1,3}(?:job|doc|conf)[^\d]{0,12}\d{3,12})?[ ,;.|]{1,3}(?:d|dd|dt|d/t|dict|dictated|t|td|tr|trans"
        r"|transcribed)(?: on)?[:.]? ?\d{1,4}[/.-]\d{1,2}[/.-]\d|[ ,;.|]{1,3}(?:job|doc|conf)[^\d]{0,12}\d{4})"
        r"|(?:(?:dictated|transcribed|typed|signed)(?: but not read)? by|(?-i:TR?:|D/T:|DD?:)|diktat(?:zeichen)?:?"
        r"|dikt\.:?|gez\.) ?:? ?(?P<value>(?-i:[A-Z]{2,4}(?:[/:][A-Za-z]{2,4})?))(?![\w’'-])"
        r"(?! (?!(?:Transcribed|Typed|Dictated|Signed|Date|Job|On)(?!\w))(?-i:[A-Z][a-z]))",
        _WRITERS,
        (
            *(
                "[JQ/mt] D: 03/14/2031 T: 03/15/2031",
                "[JQ:mt] DD: 03/14/2031",
                "[jq/mt] D: 3/14/31",
                "Dictated by: [JQ]",
            ),
            *("[JQ/MT/4822] T: 03/14/2031", "[JQ/mt] Job #48221", "transcribed by [MT]"),
        ),
        ("CT/MR 03/14/2031", "mg/dl", "AP/lat D 3", "BP: 120", "signed by Abe"),
        words=FEW_WORDS,
    ),
    Rule(
        "initials in a note that was dictated",
        r"(?-i:[A-Z]{2,3}[/:](?!kg|ml|dl|min|hr|h)[a-z]{2,3}|(?!mg|ml|kg)[a-z]{2,3}/(?!kg|ml|dl|min|hr|h"
        r"|or)[a-z]{2,3}(?=$))",
        _WRITERS,
        ("[JQ/mt], well, D: 03/14/2031",),
        ("JQ/mt", "NS/kg, D: 03/14/2031"),
        words=("/",),
        in_note=has_dictation_footer,
    ),
)


CHECKSUM_RULES = (
    Rule(
        "social security number",
        r"\d{3}([ ‐‑–-])\d\d\1\d{4}",
        SECURITY_TYPES,
        ("482-21-3448", "482 21 3448", "482–21–3448"),
        ("482-21-344", "1482-21-3448", "000-21-3448", "666-21-3448", "982-21-3448", "482-00-3448", "482-21-0000"),
        check=lambda value: stdnum_check("us.ssn")(re.sub(r"\D", "-", value)),
        digits=9,
    ),
    Rule(
        "bank account",
        r"[a-z]{2}\d\d(?:[ -]?[a-z0-9]{4}){2,7}(?:[ -]?[a-z0-9]{1,3})?",
        ACCOUNT_TYPES,
        (
            "ES8621004822134482210033",
            "GB12 QXTW 4822 1344 8221 03",
            "[DE66 4822 1344 8221 0344 82] OK",
            "NL79QXTW0482213448",
            "es86 2100 4822 1344 8221 0033",
            "ES86-2100-4822-1344-8221-0033",
        ),
        ("ES8721004822134482210033", "GB12 QXTW", "QX12 4822 1344 8221"),
        check=stdnum_check("iban", check_country=False),
        has_checksum=True,
        digits=2,
    ),
    Rule(
        "payment card",
        r"[2-6]\d{3}([ -]?)\d{4}(?:\1\d{4}){2}(?:\1\d{1,3})?|3[47]\d\d([ -]?)\d{6}\2\d{5}|3[068]\d\d([ -]?)\d{6}\3\d{4}"
        r"|[2-6]\d{12,18}",
        ACCOUNT_TYPES,
        (
            *("4929526018159081", "4929 5260 1815 9081", "5301-3016-6131-8607", "3714 913909 96033", "371491390996033"),
            *("30560824628199", "6011482199351819097", "4929378657973", "[4929 5260 1815 9081] 123"),
        ),
        ("4929526018159082", "4929 5260 1815 9082", "0929 5260 1815 9081", "4929 5260 18159081"),
        check=is_card,
        has_checksum=True,
        digits=13,
    ),
    Rule(
        "wallet of a cryptocurrency",
        r"(?-i:[13][a-km-zA-HJ-NP-Z1-9]{25,34}|bc1[02-9ac-hj-np-z]{11,71})|0x[0-9a-f]{40}",
        ACCOUNT_TYPES,
        ("1K1fPg9fFQ5qHK8CtgpYZQk4fQCqqFMHnt", "0x48221344a48221344b48221344c48221344d4822"),
        ("1K1fPg9fFQ5qHK8CtgpYZQk4fQCqqFMHnu", "0x48221344"),
        check=lambda value: value.startswith("0x") or stdnum_check("bitcoin")(value),
        has_checksum=True,
        digits=1,
    ),
    Rule(
        "vehicle identification number",
        r"[a-hj-npr-z0-9]{17}",
        VEHICLE_TYPES,
        ("1TTWX4827KA482213", "5txtw221xlb048221"),
        ("1TTWX4820KA482213", "48221344822134482", "1TTWX4827KA48221"),
        check=is_vin,
    ),
    Rule(
        "DEA number",
        r"(?-i:[ABCDEFGHJKLMPRSTUX][A-Z9])[ -]?\d{7}",
        LICENCE_TYPES,
        ("BQ4822133", "F94822133", "BQ-4822133"),
        ("BQ4822134", "BQ482213", "bq4822133"),
        check=is_dea,
        digits=7,
    ),
    Rule(
        "Spanish identity number",
        r"\d{7,8}[ -]?[a-z]|\d{1,2}\.\d{3}\.\d{3}[ -]?[a-z]|[xyz][ -]?\d{7}[ -]?[a-z]",
        RECORD_TYPES[2:],
        ("48221344G", "48221344-G", "48.221.344-G", "X4822134T", "Y-0748221-E"),
        ("48221344H", "X4822134A", "48221344", "482213G"),
        check=lambda value: stdnum_check("es.nie" if value[0].isalpha() else "es.dni")(value.replace(".", "")),
        digits=7,
    ),
    Rule(
        "Spanish social security number",
        r"\d\d([ ./-]?)\d{8}\1\d\d",
        ("ID_ASEGURAMIENTO", "SSN", "HEALTHPLAN", "IDNUM", "ID"),
        ("284822134462", "28 48221344 62", "28/48221344/62"),
        ("284822134463", "28 48221344"),
        check=is_nss,
        digits=12,
    ),
    Rule(
        "NHS number",
        r"(?<![\d)+] )(?<!\))\d{3}([ -]?)\d{3}\1\d{4}(?! ?(?:x|ext))",
        RECORD_TYPES,
        ("4822134407", "482 213 4407"),
        ("4822134408", "482 213 440", "482 213 4407 x4"),
        check=stdnum_check("gb.nhs"),
        digits=10,
    ),
    Rule(
        "national provider identifier",
        r"[12]\d{9}",
        LICENCE_TYPES,
        ("1482213448", "2482213446"),
        ("1482213449", "148221344"),
        check=is_npi,
        digits=10,
    ),
    Rule(
        "Medicare beneficiary identifier",
        _MBI,
        PLAN_TYPES,
        ("1QX4-TW8-QX22", "4Q82TW1QX44"),
        ("1QX4-TW8-QX2", "0QX4-TW8-QX22", "1SX4-TW8-QX22", "EEG4TE5MK72"),
        digits=5,
    ),
    Rule(
        "German health insurance number",
        r"(?-i:[A-Z])\d{9}",
        PLAN_TYPES,
        ("Q482213442",),
        ("Q482213443", "q482213442", "QT482213442"),
        check=is_kvnr,
        digits=9,
    ),
    Rule(
        "German tax number",
        r"\d\d([ /-]?)\d{3}\1\d{3}\1\d{3}",
        RECORD_TYPES[2:],
        ("48 221 375 609", "48221375609"),
        ("48 221 375 608", "11111111111"),
        check=stdnum_check("de.idnr"),
        digits=11,
    ),
    Rule(
        "German pension insurance number",
        r"\d\d([ -]?)\d{6}\1[a-z]\1\d\d ?\d",
        SECURITY_TYPES,
        ("65 140372 Q 487", "65140372Q487"),
        ("65 140372 Q 488", "65 321372 Q 487"),
        check=is_rvnr,
        has_checksum=True,
        digits=11,
    ),
    Rule(
        "French social security number",
        rf"{_NIR}[ .-]?\d\d",
        SECURITY_TYPES,
        ("1 72 03 75 482 213 45", "172032A48221305"),
        ("1 72 03 75 482 213 44", "1 72 03 75 482 213"),
        check=lambda value: stdnum_check("fr.nir")(re.sub("[ .-]", "", value)),
        has_checksum=True,
        digits=14,
    ),
    Rule(
        "Austrian social insurance number",
        r"[1-9]\d{3}[ /-]?(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d\d",
        SECURITY_TYPES,
        ("4825 140372", "4825140372"),
        ("4823 140372", "4825 321372"),
        check=lambda value: stdnum_check("at.vnr")(re.sub("[ /-]", "", value)),
        digits=10,
    ),
    Rule(
        "Swiss social insurance number",
        r"756([ .-]?)\d{4}\1\d{4}\1\d\d",
        SECURITY_TYPES,
        ("756.4822.1344.88", "7564822134488"),
        ("756.4822.1344.83", "757.4822.1344.88"),
        check=lambda value: stdnum_check("ch.ssn")(re.sub("[ .-]", "", value)),
        has_checksum=True,
        digits=13,
    ),
    Rule(
        "Italian fiscal code",
        _FISCAL_CODE,
        RECORD_TYPES[2:],
        ("QLLTWN72C14Q482R", "qll twn 72c14 q482 r"),
        ("QLLTWN72C14Q482U", "QLLTWN72Y14Q482T"),
        check=stdnum_check("it.codicefiscale"),
        has_checksum=True,
    ),
    Rule(
        "Dutch citizen number",
        r"\d{4}\.\d\d\.\d{3}",
        RECORD_TYPES[2:],
        ("4822.13.449",),
        ("4822.13.448", "4822.13.44"),
        check=stdnum_check("nl.bsn"),
        digits=9,
    ),
    Rule(
        "British national insurance number",
        r"(?-i:(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] \d\d \d\d \d\d [A-D])",
        SECURITY_TYPES,
        ("RT 48 22 13 D",),
        ("QQ 48 22 13 D", "GB 48 22 13 A", "RT 48 22 13 E", "rt 48 22 13 d", "RT482213D"),
        digits=6,
    ),
)
