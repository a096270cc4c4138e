"""Rules for institutions, manufacturers, places, relatives, ages, sexes and professions, in Spanish and English.

Most of these are PHI in some corpora only: such a rule is used only if the training notes have right matches.
"""

from __future__ import annotations

from collections.abc import Iterator

from crfdeid.rules.name_words import NameWords
from crfdeid.rules.rule import CAPITAL, NAME_PART, NAME_REST, Rule, forms, one_of
from features.languages import LANGUAGES, Language
from features.tokenizer import tokenize

_INSTITUTIONS = ("INSTITUCION", "ORGANIZATION", "EMPLOYER", "HOSPITAL")
_CENTRES = ("CENTRO_SALUD", "HOSPITAL", "ORGANIZATION")

_ENGLISH, _SPANISH = LANGUAGES["en"], LANGUAGES["es"]
# Centres and clinics that are units of any hospital, or a way of care: "Nutrición Clínica".
_COMMON = (
    r"(?:centro de (?:salud|referencia|especialidades|atención|día)|cl[íi]nica (?:del?|y)"
    r"|(?<=[^\W\d_]{4} )cl[íi]nica)(?!\w)"
)
_KINDS = one_of(_SPANISH.cues["institution"])
_LINKS = r"(?:(?:de|del|da|do|dos|para|en|la|las|los|el) |d['’]){0,3}"


def institution_rules(words: NameWords) -> tuple[Rule, ...]:
    """The rules for institutions; ``words`` tells names from other words."""
    return (
        Rule(
            "hospital",
            rf"(?={CAPITAL})(?:(?:complejo|complexo) hospital(?:ario|ari)|hospital"
            rf"(?! (?:n(?:umber|úm|o|º)|de día)(?!\w))) {_LINKS}{NAME_PART}{NAME_REST}",
            ("HOSPITAL", "INSTITUCION", "ORGANIZATION"),
            (
                *(
                    "Hospital Universitario Quill",
                    "[Hospital General de Tawn]. C/ Quill",
                    "Complejo Hospitalario de Tawn",
                ),
                *("[Hospital Quill y Tawn] Servicio de Urología", "[Hospital Quill] Avda. Tawn 4"),
                "[Hospital de Tawn] C/Quill 4",
            ),
            ("nuestro hospital", "Hospital de Día", "Hospital Clínico", "Hospital, C/ Quill"),
            words=("hospital", "complejo", "complexo"),
            check=words.ends_with_name,
            exact="start",
            language="es",
        ),
        Rule(
            "institution",
            rf"(?={CAPITAL})(?!{_COMMON})(?:{_KINDS} {_LINKS}{NAME_PART}{NAME_REST}(?: \({CAPITAL}{{3,8}}\))?"
            r"|ciudad (?:universitaria|de la justicia|sanitaria)|palacio de justicia|servicio [\w-]{4,30} de salud)",
            _INSTITUTIONS,
            (
                *("Universidad de Tawn", "Facultad de Odontología de Quillón", "la [Fundación Quill]", "Clínica Quill"),
                *(
                    "[Instituto Tawnés de Medicina Legal]. Calle Quill 4",
                    "[Centro Médico Tawn (CMT)]",
                    "Colegio Quillas",
                ),
                *("[Universidad de Tawn] E-mail: j.quill@tawn.org", 'Centro de Rehabilitación "Tawn de Quill"'),
                *("Escuela Universitaria de Ciencias de la Salud", "Palacio de Justicia", "Servicio Tawnés de Salud"),
            ),
            (
                *("universidad de tawn", "Nutrición Clínica y Dietética", "Clínica de Heridas", "Centro de Salud"),
                *("en otros Centros", "Instituto", "Colegio", "Residencia habitual", "Universidad, Avda. Quill"),
            ),
            words=(*_SPANISH.cues["institution"], "ciudad", "palacio", "servicio"),
            exact="both",
            language="es",
        ),
        Rule(
            "health centre",
            rf"(?={CAPITAL})(?:centro de salud|consultorio|ambulatorio) {_LINKS}{NAME_PART}{NAME_REST}",
            _CENTRES,
            ("Centro de Salud Las Quillas", "su [Centro de Salud de Tawn]. C/ Quill", "Consultorio Tawn"),
            ("su centro de salud", "Centro de Salud por fiebre", "Ambulatorio, C/ Quill"),
            words=("centro", "consultorio", "ambulatorio"),
            language="es",
        ),
        Rule(
            "institution in English",
            # "American College of ..." and "National Institute of ..." make classifications and guidelines.
            rf"(?:(?<!national )(?<!american )(?:university|college|institute) of (?:the )?{NAME_PART}{NAME_REST}"
            rf"|(?!american|national)(?:{NAME_PART} ){{1,3}}(?:university|college|institute|foundation|academy"
            r"|(?:high|middle|primary|elementary) school))(?<!the university)",
            _INSTITUTIONS,
            (
                *(
                    "the [Tawn Institute]",
                    "Quill State University",
                    "Tawn Quill Foundation",
                    "at [Quillton High School].",
                ),
                *("University of Tawn", "the [University of South Tawn] Department of Surgery"),
            ),
            (
                *("a university", "college degree", "National Institute of Health Stroke Scale", "high school"),
                *("the University", "American College of Rheumatology"),
            ),
            words=_ENGLISH.cues["institution"],
            language="en",
        ),
    )


_KIN = ("FAMILIARES_SUJETO_ASISTENCIA", "RELATIVE", "FAMILY")
_AGES = ("EDAD_SUJETO_ASISTENCIA", "AGE")
_PROFESSIONS = ("PROFESION", "PROFESSION", "OCCUPATION")


_SMALL = one_of(["dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez"])
_SPANISH_KIN = (
    *(_SPANISH.words["kin"] - {"mujer"}),
    *forms("bisniet", "o", "a", "os", "as"),
    *forms("bisabuel espos hijastr", "os", "as"),
    *forms("madres familia progenitor progenitora progenitores"),
)
# "Sons" are relatives after "his" alone: "son" is Spanish too.
_ENGLISH_KIN = (
    *(_ENGLISH.words["kin"] - {"son", "sons", "partner"}),
    *forms("grandparent", "", "s"),
    *forms("grandchild grandchildren"),
)
_SOME_KIN = rf"(?:(?:{_SMALL}|\d\d?) )?{one_of(_SPANISH_KIN)}"
# Words before a word for kin that is no relative: stock solutions, stem cells, meninges, doctors.
_NO_KIN = "".join(
    f"(?<!{word} )"
    for word in (
        "médico de",
        "médica de",
        "medicina de",
        *forms("solución célula células vesículas dura pia pía materia"),
    )
)
# The name of a street or saint, with a capitalised next word: "Hermanos Quill".
_NO_NAME = rf"(?!{CAPITAL}[^\W\d_]+ {CAPITAL})"
_WHICH = r"(?:(?:matern|patern)[oa]s?|mayor(?:es)?|menor(?:es)?|(?:gemel|melliz)[oa]s?|var(?:ón|ones))"

_NUMBER = (
    r"(?=[\dudtcsonqv])"  # the letters that the words below begin with: most words are done with by that
    rf"(?:\d{{1,3}}|una?|{_SMALL}|once|doce|trece|catorce|quince|(?:dieci|veint)[^\W\d_]{{1,8}}"
    r"|(?:treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa)(?: y [^\W\d_]{3,6})?)"
)
_AGE = rf"{_NUMBER} (?:años?|mes(?:es)?|semanas?|días?|horas?)(?: y (?:medio|{_NUMBER} (?:mes(?:es)?|días)))?"
_SOMEBODY = (
    *forms("niñ chic femenin masculin", "o", "a"),
    *forms("varón mujer hombre paciente lactante neonato preescolar adolescente joven nacido nacida"),
)

# A word that can be a profession, with a complement: "auxiliar de enfermería".
_WORK = (
    r"(?!(?:trabaj|que|no|su|se|con|en|del?|al?|sin|muy|más|desde|durante|por|para|una?|los?|las?|siempre|miembro|cambi)"
    r"[^\W\d_]{0,6}(?!\w))[^\W\d_]{4,30}+"
)
_OF = rf"(?: (?:de|en|del) (?:la )?{_WORK})?"
_TRADES = (
    *forms(
        "camarer camioner ganader peluquer panader carpinter fontaner jardiner miner abogad ingenier cociner", "o", "a"
    ),
    *forms("maestr funcionari administrativ obrer operari mecánic secretari emplead enfermer arquitect", "o", "a"),
    *forms("agricultor pescador soldador conductor profesor trabajador monitor jugador pintor limpiador", "", "a"),
    *forms(
        """
        albañil azafata bombero taxista electricista militar policía deportista futbolista profesional dependiente
        dependienta auxiliar vigilante periodista comerciante modista marinero
        """
    ),
)

_ORIGINS = (
    *forms("bolivian colombian ecuatorian peruan venezolan argentin chilen mexican cuban dominican brasileñ", "o", "a"),
    *forms("rumán ruman búlgar ucranian rus polac italian británic african subsaharian asiátic nigerian", "o", "a"),
    *forms("latinoamerican sudamerican norteafrican magreb caucásic caucasian blanc negr gitan filipin", "o", "a"),
    *forms("aleman ingles frances portugues español senegales", "a"),
    *forms("marroquí pakistaní alemán inglés francés portugués español senegalés"),
)

PERSONAL_DETAIL_RULES = (
    Rule(
        "trait of a patient",
        rf"lactante|(?:homo|hetero)sexual|raza {one_of(_ORIGINS)}"
        rf"|(?:mujer|varón|hombre|paciente|niñ[oa]|nacionalidad|procedencia),? (?P<origin>{one_of(_ORIGINS)})",
        ("ID_SUJETO_ASISTENCIA",),
        ("un [lactante] sano", "de [raza negra]", "mujer [boliviana] de 82 años", "de nacionalidad [alemana]"),
        ("raza desconocida", "mujer sana", "vino blanco", "lactancia"),
        words=forms(
            "lactante homosexual heterosexual raza mujer varón hombre paciente niño niña nacionalidad procedencia"
        ),
        requires_support=True,
        language="es",
    ),
    Rule(
        "relative",
        rf"(?={_SOME_KIN}){_NO_KIN}{_NO_NAME}{_SOME_KIN}(?: {_WHICH})?"
        r"(?! de (?:riesgo|genes|fármacos|proteínas))|(?<=su )mujer"
        r"|(?:(?<=los )|(?<=sus )|(?<=otros )|(?<=dos )|(?<=varios )|(?<=por )|(?<=con )|(?<=a ))familiares",
        _KIN,
        (
            *("su [madre]", "[Padre] sano", "la [tía materna]", "tiene [dos hermanos]", "vive con su [mujer]"),
            *("[Hermana menor] sana", "los [abuelos paternos]", "su [marido]", "se informa a sus [familiares]"),
        ),
        (
            *("solución madre", "células madre", "médico de familia", "Calle Hermanos Quill", "una mujer", "fraternal"),
            *("antecedentes familiares", "pareja de riesgo"),
        ),
        words=(*_SPANISH_KIN, "mujer", "familiares"),
        requires_support=True,
        language="es",
    ),
    Rule(
        "relative in English",
        r"(?:(?:maternal|paternal|older|younger|elder|twin|half|step|great)[ -]){0,2}"
        rf"(?:{one_of(_ENGLISH_KIN)}|(?:(?<=his )|(?<=her )|(?<=their )|(?<=the ))sons?)(?:-in-law)?"
        r"(?! (?:cells?|cysts?|nucle[iu]s?|chromatids?|compounds?|mary)(?!\w))",
        _KIN,
        (
            "her [mother]",
            "a [maternal aunt]",
            "his [mother-in-law]",
            "[Wife]: well",
            "two [younger brothers]",
            "her [son]",
        ),
        ("mother cyst", "daughter cells", "Sister Mary Joseph nodule", "maternal health", "las pruebas son normales"),
        words=(*_ENGLISH_KIN, "son", "sons"),
        requires_support=True,
        language="en",
    ),
    Rule(
        "sex",
        r"(?:mujer|varón|hembra|hombre|niñ[oa])|(?:sexo:?|paciente) (?P<value>femenin[oa]|masculin[oa])",
        ("SEXO_SUJETO_ASISTENCIA", "SEX"),
        (
            "[Mujer] de 82 años",
            "se trata de un [varón]",
            "de sexo [femenino]",
            "Sexo: [masculino]",
            "Paciente [femenina]",
        ),
        ("mujeres", "sexo", "género masculino"),
        words=("mujer", "varón", "hombre", "niño", "niña", "sexo", "paciente"),
        requires_support=True,
        language="es",
    ),
    Rule(
        "age",
        rf"(?P<before>{_AGE}) de (?:edad|vida)|edad(?: de)?:? (?:los )?(?P<after>{_AGE})"
        rf"|{one_of(_SOMEBODY)}s? de (?P<whose>{_AGE})|(?:desde|hasta) los (?P<since>{_NUMBER} años)"
        rf"|a los (?P<at>{_NUMBER} años)(?! (?:del?|tras|después|antes|post[^\W\d_]{{0,20}})(?!\w))",
        _AGES,
        (
            *("[3 meses] de edad", "a los [dos días] de vida", "a la edad de [14 años]", "Edad: [8 meses]"),
            *("mujer de [82 años]", "un niño de [ocho meses]", "asma desde los [6 años]", "operado a los [doce años]"),
        ),
        (
            *("mayor de edad", "edad avanzada", "embarazada de 20 semanas", "mujer de riesgo", "vómitos de 3 días"),
            *("a los 2 años de la cirugía", "a los 3 meses", "desde los años"),
        ),
        words=("edad", "vida", "años", *_SOMEBODY, *(f"{word}s" for word in _SOMEBODY)),
        requires_support=True,
        language="es",
    ),
    Rule(
        "age without a unit",
        r"edad ?[:;|=] ?(?P<value>1?\d?\d)(?![\d.,/-]*\d| ?(?:a[ñn]|mes|sem|d[ií]|h))",
        _AGES,
        ("Edad: [70] Sexo: H", "EDAD | [7]"),
        ("edad 70", "Edad: 3 meses", "Edad: 12/3", "Edad: 42 años"),
        words=("edad",),
        requires_support=True,
        digits=1,
        language="es",
    ),
    Rule(
        "age in English",
        r"(?P<before>\d{1,2})(?: ?-? ?(?:years?|yrs?|months?|weeks?|days?|mo|wk)[ -]old| ?y/?o| ?y\.o\.)"
        r"|(?:aged|(?:at )?age of|age:|at age) (?P<after>\d{1,2})",
        _AGES,
        ("a [42]-year-old man", "[8] months old", "[42] y/o", "[42]yo", "at the age of [12]", "Age: [12]"),
        ("42 years ago", "2 weeks", "age group 2"),
        words=("old", "yo", "y", "o", "age", "aged"),
        requires_support=True,
        digits=1,
        language="en",
    ),
    Rule(
        "profession",
        r"(?:(?:trabaj|ejerc)[^\W\d_]{1,6}(?: \w{1,20}){0,3}? como|emple(?:os?|ad[oa]s?) como|de profesión:?"
        rf"|(?:profesi|ocupaci)ón:),? (?P<after>{_WORK}{_OF})|(?P<before>{_WORK}{_OF}) de profesión"
        rf"|años(?: de edad)?,? (?P<trade>{one_of(_TRADES)}{_OF})",
        _PROFESSIONS,
        (
            *(
                "trabaja como [camionera]",
                "de profesión [auxiliar de vuelo]",
                "Ocupación: [quillero]",
                "empleado como [peón]",
            ),
            *("[Tornera] de profesión", "mujer de 40 años, [camionera]", "52 años de edad, [auxiliar de vuelo]"),
        ),
        (
            *("trabaja como siempre que puede", "su profesión", "de profesión trabajaba en casa", "40 años, fumador"),
            *("trabajador autónomo", "cambio de profesión"),
        ),
        words=("profesión", "ocupación", "como", "años"),
        requires_support=True,
        language="es",
    ),
    Rule(
        "profession in English",
        r"(?:(?:works?|worked|working|employed|employment|job) as an?|(?:occupation|profession):) "
        r"(?P<value>[^\W\d_]{3,30}(?: [^\W\d_]{3,30}(?=[,.;]))?)",
        _PROFESSIONS,
        ("works as a [welder] in Tawn", "Occupation: [truck driver].", "worked as a [quill maker]."),
        ("works as expected", "occupation unknown"),
        words=("works", "work", "worked", "working", "employed", "employment", "job", "occupation", "profession"),
        requires_support=True,
        language="en",
    ),
)


# Countries whose names are more often something else, such as a stain, Congo red.
_OFTEN_OTHER = {"china", "congo", "mali"}
_REGIONS = ("TERRITORIO", "STATE", "LOCATION", "GEOGRAPHIC_LOCATION")
_NATIONS = ("PAIS", "COUNTRY", "LOCATION", "GEOGRAPHIC_LOCATION")


def place_rules(pack: Language) -> Iterator[Rule]:
    """The rules for regions and countries of a language."""
    for kind, places, types in (("region", pack.regions, _REGIONS), ("country", pack.countries, _NATIONS)):
        names = sorted({name.lower() for name in places} - _OFTEN_OTHER)
        yield Rule(
            f"{kind} in {pack.name}",
            rf"(?={CAPITAL}){one_of(names)}",
            types,
            (places[0], f"x [{places[-1]}], x"),
            (names[0],),
            words=tuple(tokenize(name)[0].text for name in names),
            starts_with_word=True,
            requires_support=True,
            language=pack.code,
        )


# The countries of one word.
_ADDRESS_COUNTRIES = sorted(
    {name.lower() for code in ("en", "es") for name in LANGUAGES[code].countries if name.isalpha()}
)
_LANDS = rf"(?:EE\.? ?UU\.?|U\.?S\.?A\.?|U\.?K\.?|Estados Unidos|United States|{'|'.join(_ADDRESS_COUNTRIES)})"
_MAKERS = (
    *("abbott", "abbvie", "alcon", "alcon[ -]cus[ií]", "allergan", "almirall", "amgen", "applied biosystems"),
    *("astellas", "astra ?zeneca", r"b\.? ?braun", "bausch (?:&|and) lomb", "baxter", "bayer", "beckman coulter"),
    *("becton dickinson", "biogen", "biom[eé]rieux", "biotronik", "boehringer", "boehringer ingelheim"),
    *("boston scientific", "bristol[ -]myers[ -]squibb", "carl zeiss", "celgene", "chiesi", "coloplast", "covidien"),
    *("dr[äa]ger", "edwards lifesciences", "eisai", "eli lilly", "lilly", "esteve", "ethicon", "ferring", "fresenius"),
    *("fujifilm", "galderma", "general electric", "genentech", "genzyme", "gilead", "glaxo ?smith ?kline", "gsk"),
    *("grifols", "heidelberg engineering", "hewlett[ -]packard", "hitachi", "hologic", "ipsen", "janssen"),
    *("janssen[ -]cilag", "johnson (?:&|and|y) johnson", "karl storz", "storz", "leica", "lundbeck", "medtronic"),
    *("menarini", "merck", "merck sharp (?:&|and) dohme", "msd", "mylan", "nestlé", "nidek", "nikon", "nobel ?biocare"),
    *("novartis", "novo nordisk", "nutricia", "octapharma", "olympus", "organon", "otsuka", "pfizer", "pharmacia"),
    *("philips", "pierre fabre", "roche", "sandoz", "sanofi", "sanofi[ -]aventis", "schering", "schering[ -]plough"),
    *("servier", "siemens", "smith (?:&|and) nephew", r"st\.? jude", "straumann", "stryker", "synthes", "takeda"),
    *("terumo", "teva", "thermo fisher", "topcon", "toshiba", "ucb", "vifor", "wyeth", "zambon", "zimmer"),
)
_KNOWN = "|".join(sorted(_MAKERS, reverse=True))  # the longest first
_LEGAL = r"(?:,? (?:s\.?a|s\.?l|inc|ltd|gmbh|ag|co|corporation)(?!\w))?"
_NAMED = rf"{CAPITAL}(?-i:[a-zß-ÿœ’']{{2,30}}+)"
_JOINED = r"(?: | ?& ?|-| and | y )"
_FIRM = rf"{CAPITAL}[\w’']{{0,40}}+(?:{_JOINED}[^\W\d][\w’']{{0,40}}+){{0,4}}"

MANUFACTURER_RULES = (
    Rule(
        "maker of a product",
        # "Tawnol® 5 % (Quill"
        rf"[\w-]{{2,40}}+ ?[®™][^()®™]{{0,12}}?[,;(] ?(?P<marked>{_FIRM})(?= ?[),;.])"
        # "(Roche"
        rf"|\([^()]{{0,60}}?(?<=[ (,;.-])(?P<known>(?={CAPITAL})(?:{_KNOWN}){_LEGAL})(?!\w)(?! ?[®™])"
        # "(Tawn 3000, Quill Zann Instruments"
        rf"|\([^()]{{2,50}}?[,;.] (?P<several>{_NAMED}(?:{_JOINED}{_NAMED}){{1,3}}{_LEGAL})(?=[,.);])"
        # "(Tawnol 5, Quill)"
        rf"|\({CAPITAL}[\w™®-]{{0,30}}+(?: [\w.®-]{{1,20}}+){{0,4}}[,;] (?P<single>{_NAMED})(?=\)|, {CAPITAL})"
        # "(a pump, Quill Ltd, Quillton, England"
        rf"|\((?:[^()]{{1,40}}?[,;] )?(?P<placed>{_FIRM}), (?:{NAME_PART}{NAME_REST}, )?{_LANDS}(?!\w)",
        ("INSTITUCION", "ORGANIZATION"),
        (
            *("timolol (Tawnol®, [Quill])", "Quillex® ([Tawn & Quill], Tawn)", "(Tawnol® 5%, [Quill Zann SA], Tawn)"),
            *("timolol ([Alcon Cusí], Tawn)", "(tawnol, [Roche SA])", "(un tawn 3000, [Quill Zann Instruments])"),
            *("(Tawnol 5, [Quill])", "a pump (NOx 4, [Tawn Scientific Ltd], Quillton, England)"),
        ),
        (
            *("Tawnol® (5 mg)", "Tawnol®, y luego", "(Alcon®)", "a Philips scanner", "(alcon)", "(Tawn Quill)"),
            *("(3 mg, Quill)", "(tawn, quill and zann)", "born in Tawn, England", "(seen in England)"),
        ),
        words=("®", "™", "("),
        requires_support=True,
    ),
)
