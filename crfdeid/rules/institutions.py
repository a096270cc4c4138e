"""Rules for names of institutions, in Spanish and English: a word for what they are, and how such names go on."""

from __future__ import annotations

from crfdeid.rules.rule import CAPITAL, LINKED, WORD, Rule, one_of

_INSTITUTIONS = ("INSTITUCION", "ORGANIZATION", "EMPLOYER", "HOSPITAL")
_CENTRES = ("CENTRO_SALUD", "HOSPITAL", "ORGANIZATION")

_SPANISH = (
    *("universidad", "universitat", "universidade", "facultad", "facultat", "escuela", "escola", "instituto"),
    *("institut", "fundación", "fundacion", "fundació", "asociación", "asociacion", "associació", "consejería"),
    *("consejeria", "conselleria", "audiencia", "residencia", "ayuntamiento", "consorcio", "laboratorio"),
    *("laboratorios", "juzgado", "juzgados", "colegio", "centro", "clínica", "clinica"),
)
# Centres and clinics that are a part of any hospital, or a way to care: "Nutrición Clínica".
_COMMON = (
    r"(?:centro de (?:salud|referencia|especialidades|atención|día)|cl[íi]nica (?:del?|y)"
    r"|(?<=[^\W\d_]{4} )cl[íi]nica)(?!\w)"
)
_LINKS = r"(?:(?:de|del|da|do|dos|para|en|la|las|los|el) |d['’]){0,3}"

INSTITUTIONS = (
    Rule(
        "institution",
        rf"(?={CAPITAL})(?!{_COMMON})(?:{one_of(_SPANISH)} {_LINKS}{WORD}{LINKED}(?: \({CAPITAL}{{3,8}}\))?"
        r"|ciudad (?:universitaria|de la justicia|sanitaria)|palacio de justicia|servicio [\w-]{4,30} de salud)",
        _INSTITUTIONS,
        (
            *("Universidad de Tawn", "Facultad de Odontología de Quillón", "la [Fundación Quill]", "Clínica Quill"),
            *("[Instituto Tawnés de Medicina Legal]. Calle Quill 4", "[Centro Médico Tawn (CMT)]", "Colegio Quillas"),
            *("[Universidad de Tawn] E-mail: j.quill@tawn.org", 'Centro de Rehabilitación "Tawn de Quill"'),
            *("Escuela Universitaria de Ciencias de la Salud", "Palacio de Justicia", "Servicio Tawnés de Salud"),
        ),
        (
            *("universidad de tawn", "Nutrición Clínica y Dietética", "Clínica de Heridas", "Centro de Salud"),
            *("en otros Centros", "Instituto", "Colegio", "Residencia habitual", "Universidad, Avda. Quill"),
        ),
        words=(*_SPANISH, "ciudad", "palacio", "servicio"),
        token=rf"(?={CAPITAL})(?i:{'|'.join(_SPANISH)}|ciudad|palacio|servicio)",
    ),
    Rule(
        "health centre",
        rf"(?={CAPITAL})(?:centro de salud|consultorio|ambulatorio) {_LINKS}{WORD}{LINKED}",
        _CENTRES,
        ("Centro de Salud Las Quillas", "su [Centro de Salud de Tawn]. C/ Quill", "Consultorio Tawn"),
        ("su centro de salud", "Centro de Salud por fiebre", "Ambulatorio, C/ Quill"),
        words=("centro", "consultorio", "ambulatorio"),
    ),
    Rule(
        "institution in English",
        # "American College of ..." and "National Institute of ..." make classifications and guidelines.
        rf"(?:(?<!national )(?<!american )(?:university|college|institute) of (?:the )?{WORD}{LINKED}"
        rf"|(?!american|national)(?:{WORD} ){{1,3}}(?:university|college|institute|foundation|academy"
        r"|(?:high|middle|primary|elementary) school))(?<!the university)",
        _INSTITUTIONS,
        (
            *("the [Tawn Institute]", "Quill State University", "Tawn Quill Foundation", "at [Quillton High School]."),
            *("University of Tawn", "the [University of South Tawn] Department of Surgery"),
        ),
        (
            *("a university", "college degree", "National Institute of Health Stroke Scale", "high school"),
            *("the University", "American College of Rheumatology"),
        ),
        words=("university", "college", "institute", "academy", "foundation", "school"),
    ),
)
