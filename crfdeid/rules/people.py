"""Rules for what tells of people without a name: relatives, ages, sexes, professions; in Spanish and English.

They are PHI in some corpora alone, so each but names of relatives is used only where the training
notes hold examples that speak for it.
"""

from __future__ import annotations

from crfdeid.rules.rule import Rule, forms, one_of

_KIN = ("FAMILIARES_SUJETO_ASISTENCIA", "RELATIVE", "FAMILY")
_AGES = ("EDAD_SUJETO_ASISTENCIA", "AGE")
_PROFESSIONS = ("PROFESION", "PROFESSION", "OCCUPATION")


_SMALL = one_of(["dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez"])
_SPANISH_KIN = (
    *forms(
        """
        madre madres padre padres marido cónyuge conyuge yerno nuera pareja familia padrastro madrastra progenitor
        progenitora progenitores
        """
    ),
    *forms("herman hij abuel bisabuel niet bisniet tí ti prim sobrin cuñad suegr espos hijastr", "o", "a", "os", "as"),
)
_ENGLISH_KIN = (
    *forms("mother father parent brother sister sibling daughter aunt uncle cousin nephew niece", "", "s"),
    *forms("grandmother grandfather grandparent grandson granddaughter stepmother stepfather stepson", "", "s"),
    *forms("wife husband spouse grandchild grandchildren stepdaughter"),
)
_SOME_KIN = rf"(?:(?:{_SMALL}|\d\d?) )?{one_of(_SPANISH_KIN)}"
# Words that stand before one for kin where it names nobody: stock solutions, stem cells, meninges, doctors.
_NO_KIN = "".join(
    f"(?<!{word} )"
    for word in (*forms("solución célula células dura pia pía materia"), "médico de", "médica de", "medicina de")
)
# A street or a saint goes on with a capital: "Hermanos Quill".
_NO_NAME = r"(?!(?-i:[A-ZÁÉÍÓÚÑ])[^\W\d_]+ (?-i:[A-ZÁÉÍÓÚÑ]))"
_WHICH = r"(?:(?:matern|patern)[oa]s?|mayor(?:es)?|menor(?:es)?|(?:gemel|melliz)[oa]s?|var(?:ón|ones))"

_NUMBER = (
    r"(?=[\dudtcsonqv])"  # the letters that the words below begin with: most words are done with by that
    rf"(?:\d{{1,3}}|una?|{_SMALL}|once|doce|trece|catorce|quince|(?:dieci|veint)[^\W\d_]{{1,8}}"
    r"|(?:treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa)(?: y [^\W\d_]{3,6})?)"
)
_AGE = rf"{_NUMBER} (?:años?|mes(?:es)?|semanas?|días?|horas?)(?: y (?:medio|{_NUMBER} (?:mes(?:es)?|días)))?"
_SOMEBODY = (
    *forms("niñ chic femenin masculin", "o", "a"),
    *forms("varón mujer hombre paciente lactante neonato adolescente joven nacido nacida"),
)

# A word that can be one for work, and how it goes on: "auxiliar de enfermería".
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

PEOPLE = (
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
        by_example=True,
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
        by_example=True,
    ),
    Rule(
        "sex",
        r"(?:mujer|varón|hombre|niñ[oa])|sexo:? (?P<value>femenin[oa]|masculin[oa])",
        ("SEXO_SUJETO_ASISTENCIA", "SEX"),
        ("[Mujer] de 82 años", "se trata de un [varón]", "de sexo [femenino]", "Sexo: [masculino]"),
        ("mujeres", "sexo", "género masculino"),
        words=("mujer", "varón", "hombre", "niño", "niña", "sexo"),
        by_example=True,
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
        token=r"(?i)año|mes|semana|día|hora",
        by_example=True,
    ),
    Rule(
        "age in English",
        r"(?P<before>\d{1,2})(?: ?-? ?(?:years?|yrs?|months?|weeks?|days?|mo|wk)[ -]old| ?y/?o| ?y\.o\.)"
        r"|(?:aged|(?:at )?age of|age:|at age) (?P<after>\d{1,2})",
        _AGES,
        ("a [42]-year-old man", "[8] months old", "[42] y/o", "[42]yo", "at the age of [12]", "Age: [12]"),
        ("42 years ago", "2 weeks", "age group 2"),
        words=("old", "yo", "y", "o", "age", "aged"),
        token=r"(?i)old|yo|y/o|y\.o|age|^o$",  # "y" alone is a word of Spanish
        digits=1,
        by_example=True,
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
        token=rf"(?i)profesión|ocupación|trabaj|ejerc|emple|^(?:{'|'.join(_TRADES)})",
        by_example=True,
    ),
    Rule(
        "profession in English",
        r"(?:(?:works?|worked|working|employed|employment|job) as an?|(?:occupation|profession):) "
        r"(?P<value>[^\W\d_]{3,30}(?: [^\W\d_]{3,30}(?=[,.;]))?)",
        _PROFESSIONS,
        ("works as a [welder] in Tawn", "Occupation: [truck driver].", "worked as a [quill maker]."),
        ("works as expected", "occupation unknown"),
        words=("works", "work", "worked", "working", "employed", "employment", "job", "occupation", "profession"),
        by_example=True,
    ),
)
