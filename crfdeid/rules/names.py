"""Rules for people's names in prose: after a title, a role, a word for the patient, a relative, a signature.

English and Spanish. Each begins with a cue and ends before a word that is no name (`name_words`), so that a title alone
does not mask the words after it.
"""

from __future__ import annotations

import re

from crfdeid.rules.name_words import NameWords
from crfdeid.rules.rule import UPPER, Rule, forms, one_of
from features.languages import LANGUAGES, packs

_DOCTORS = ("NOMBRE_PERSONAL_SANITARIO", "DOCTOR", "NAME")
_PATIENTS = ("NOMBRE_SUJETO_ASISTENCIA", "PATIENT", "NAME")
_RELATIVES = ("FAMILIARES_SUJETO_ASISTENCIA", "RELATIVE", "FAMILY", *_PATIENTS)

_ENGLISH, _SPANISH = LANGUAGES["en"], LANGUAGES["es"]
# A word of a name ("O'Neill", "PÉREZ"), an initial with its full stop ("M.ª"), or a short form of a given name ("Wm.").
_SHORT_FORMS = one_of(form for pack in packs() for form in pack.entries("names", "short"))
# Other short words without a vowel: "Av.", "Sr.".
_OTHER_SHORT = one_of(
    word.capitalize()
    for pack in packs()
    for word in pack.abbreviations
    if re.fullmatch("[a-z][b-df-hj-np-tv-wz]{1,3}", word)
)
_WORD = (
    rf"(?:(?:(?!(?:{_OTHER_SHORT})\.){UPPER}[b-df-hj-np-tv-wz]{{1,3}}|{_SHORT_FORMS})\.(?=[ -]?{UPPER})"
    rf"|{UPPER}(?:[^\W\d_ºª]|['’](?!s(?!\w))(?=[^\W\d_])){{1,30}}+(?!\w)"
    rf"|{UPPER}(?:\.?ª\.?|\.a(?!\w)|(?!\w|/|-[a-z])\.?))"
)
_PARTICLE = (
    r"(?:de(?: l[ao]s?| el)?|del|da|das|dos?|di|du|l[aeo]s?|van(?: de[nr]?)?|von(?: der)?|de[nr]|te[nr]|bin|ibn|al|el"
    r"|santa?|san) "
)
# Possessive, since "de la" is also two particles: a name would be read in 2^5 ways.
_JOIN = rf"(?: (?:{_PARTICLE}|d['’]){{0,2}}+|-(?:{_PARTICLE})?|(?<=\.))"
_PLAIN_NAME = rf"(?-i:{_WORD}(?:{_JOIN}{_WORD}){{0,5}})"
_NAME = rf"(?-i:{_WORD}(?:{_JOIN}{_WORD}){{0,5}}(?:, ?{_WORD}(?:{_JOIN}{_WORD}){{0,2}})?)"
_VALUE = rf"(?P<value>{_NAME})"

# "MR", "DR", "SR" and "MS" without a full stop are more often a scan, a retina, a rhythm and a sclerosis.
_ADDRESSES = forms(
    """
    mr ms mrs mx miss mister madam sir señor señora señores señoras señorita sr sra sres sras srta srtas don doña dña
    dñª dª d
    """
)
_ADDRESS = (
    r"(?:(?-i:M(?:rs?|s|x)|MRS)(?!\w)\.?|(?-i:MR|MS|SRT?A?)\.(?= (?-i:[A-ZÀ-ÖØ-Þ]{2}|[A-Z]\.))"
    r"|(?-i:Sr(?:t?as?|es)?)(?!\w)\.?|d\.? ?ª|dñª|dña(?!\w)\.?"
    r"|(?:miss|mister|madam|sir|señor(?:es|as?|itas?)?|don|doña)(?!\w))"
)
_TITLE_WORDS = forms(
    """
    dr dra drs dres dras drª doctor doctora doctores doctoras prof profa professor professors profesor profesora lic
    licenciado licenciada lcdo lcda ldo lda enf due catedrático catedrática
    """
)
_TITLE = (
    r"(?:(?:drª|dr(?:es|as?|s)?(?!\w)\.?ª?)|doctor(?:es|as?)?(?!\w)|prof(?:a?(?!\w)\.?|esor(?:as?)?(?!\w)|essors?(?!\w))"
    r"|lic\.|licenciad[oa](?!\w)|l(?:ic)?d[oa]\.|lcd[oa](?!\w)\.?|enf\.|(?-i:DUE)(?!\w)|catedrátic[oa](?!\w))"
)
_NEXT = r"[:,]? ?"
_ANDS = {form for pack in packs() for word in pack.entries("cues", "and") for form in (word, word.upper())}
_AND = rf"(?-i:{'|'.join(sorted(_ANDS, reverse=True))})"
_BETWEEN = rf"(?: ?[,;/] ?(?:{_AND} )?| {_AND} )(?:(?-i:[Dd]r[a]?|D[Rr]A?)\.? )?"
_NAMES = rf"(?P<value>{_PLAIN_NAME}(?:{_BETWEEN}{_PLAIN_NAME}){{1,9}})"
_TITLES = rf"(?:{_ADDRESS}{_NEXT}){{0,2}}{_TITLE}(?:{_NEXT}(?:{_TITLE}|{_ADDRESS}|(?-i:D\.))){{0,2}}{_NEXT}"

_ROLES = (*_ENGLISH.cues["role"], *_SPANISH.cues["role"])
_OF_ROLES = (*_SPANISH.cues["of"], *_ENGLISH.cues["of"])
_NO_OF = "".join(f"(?<! {word})" for word in ("de", "del", "la", "en", "su", "on", "in"))  # "médico de la Quill"
_CALLED = r"(?:named|called|llamad[oa]s?|de nombre|(?:que )?se llama|identificad[oa] como|known as|whose name is)"
# A ";" or "|" comes as often before the next field, so that one word is not enough there.
_IS = rf"(?:,? (?:is|was|es|era|fue|{_CALLED})(?!\w))?(?: ?[:,(]| ?[;|=](?=(?-i: ?{_WORD},? {_WORD})))? ?[\"“«]?"

# Relatives, and others who accompany a patient.
_SPANISH_KIN = tuple(sorted({*_SPANISH.words["kin"], *_SPANISH.cues["companion"]}))
_ENGLISH_KIN = tuple(sorted({*_ENGLISH.words["kin"], *_ENGLISH.cues["companion"]}))
_WHICH = r"(?: (?:(?:matern|patern)[oa]s?|mayor(?:es)?|menor(?:es)?|(?:gemel|melliz)[oa]s?|polític[oa]))?"

_SIGNED, _FIRMADO = _ENGLISH.cues["signature"], _SPANISH.cues["signature"]
_SIGNATURE = (
    rf"(?:{one_of(_SIGNED)}(?: (?:electronically|digitally|and \w{{4,12}}))?(?: by:?|:)|signed,?|signature:?|sincerely"
    r"|truly|faithfully|regards|respectfully"
    rf"|{one_of(_FIRMADO)}(?: (?:electrónica|digital)mente)?(?: y \w{{4,12}})? por:?"
    r"|firmad[oa]|fd[oa]\.?|firma(?: del? \w{4,12})?|atentamente|saludos?(?: (?:muy )?cordial(?:es)?)?|cordialmente"
    r"|(?<![\d] )(?-i:cc|CC))"
)
_SEEN, _VISTO = _ENGLISH.cues["seen_by"], _SPANISH.cues["seen_by"]
_CON = forms("comentad consultad contactad acordad hablad", "o", "a")
_SEEN_BY = (
    rf"(?:{one_of(_SEEN)}(?: (?:today|here|again|on|in|up|and) ?(?:\w{{4,12}})?)? by"
    r"|(?:discussed|spoke|consulted|met) with"
    r"|d/w|care of|behalf of|(?:cargo|nombre) de"
    rf"|{one_of(_VISTO)}(?: (?:hoy|ayer|y \w{{4,12}}))? por|{one_of(_CON)} con)"
)
_FIELD = (
    r"(?:(?<!brand )(?<!trade )(?<!generic )names?|surname|forename"
    r"|(?:nombres?|apellidos?)(?: y apellidos)?(?: del? (?:la )?(?:paciente|usuari[oa]|médico|titular))?)"
)
# The name of a field with a space alone after it is in its line or cell: it has a capital.
_AS_LABEL = "(?-i:(?<=[Nn]ombre)|(?<=ellidos)|(?<=Name)|(?<=NAME)|(?<=NOMBRE)|(?<=ELLIDOS))"
_DEGREES = forms("MD PhD RN FNP DNP CRNA LPN LVN MBBS FRCS FACS FACP BSN MSN PharmD DDS DMD MPH LCSW Esq")
_AFTER_COMMA = forms("NP PA-C PA DO PT DPT MS OT RD RPh")
# A cue with a capital is no part of a name: "Attending Jane Quill, MD".
_NO_CUE = rf"(?!(?:{one_of((*_ROLES, *_SIGNED, *_SEEN, *_TITLE_WORDS, 'by', 'patient', 'mr', 'mrs', 'ms'))})(?!\w))"

_PATIENT_WORDS = (*_ENGLISH.cues["patient"], *_SPANISH.cues["patient"])

# A word for a relative with a capital is part of a name, "Calle Hermanos Quill", unless all is in capitals.
_NO_NAME = r"(?=(?-i:[a-zñ]|[A-Z]{3}))"
_PLURAL_TITLES = forms(
    "drs dres dras doctors doctores doctoras professors profesores messrs mmes señores señoras sres sras docteurs"
)
_PLURAL_KIN = forms(
    """
    sons daughters children brothers sisters siblings grandchildren grandsons granddaughters nephews nieces parents
    cousins aunts uncles kids twins friends hijos hijas hermanos hermanas nietos nietas sobrinos sobrinas primos primas
    padres abuelos tíos gemelos mellizos amigos amigas
    """
)


def name_rules(words: NameWords) -> tuple[Rule, ...]:
    """The rules for names; ``words`` tells names from other words."""
    return (
        Rule(
            "names after a plural title",
            rf"(?:{one_of(_PLURAL_TITLES)})\.?{_NEXT}{_NAMES}",
            _DOCTORS,
            (
                *("Drs. [Quill], [Marsh], and [Tawn]", "los Dres. [Quilla], [Tawno] y [Marshe]"),
                *("Drs [Abe Quill] and [Tawn]", "doctoras [Quill], [Marta Tawn] e [Inés Zann]", "Drs. [Quill]/[Marsh]"),
            ),
            ("Drs. Office and Clinic", "doctors Cardiology and Surgery", "Drs. Quill"),
            words=_PLURAL_TITLES,
            starts_with_word=True,
            check=words.is_after_title,
            separator=_BETWEEN,
        ),
        Rule(
            "names of relatives",
            rf"{_NO_NAME}{one_of(_PLURAL_KIN)}(?!\w)(?:,? (?:named|called|llamad[oa]s|are|son))?(?: ?:|,)? \(?{_NAMES}",
            _RELATIVES,
            (
                "her sons [Abe], [Otis] and [Marl]",
                "sus hijos [Marta], [Abe] y [Zann]",
                "los padres [Orla] y [Zann Quill]",
            ),
            ("her sons and daughters", "sus padres Diabéticos e Hipertensos", "Brothers Quill and Tawn"),
            words=_PLURAL_KIN,
            starts_with_word=True,
            check=words.is_after_word,
            separator=_BETWEEN,
        ),
        Rule(
            "name after a title",
            _TITLES + _VALUE,
            _DOCTORS,
            (
                *("Dr. [Quill]", "la Dra. [Marta Quill Tawn]", "Prof. Dr. [Abe van der Quill]", "Dr [J.A. Quill]"),
                *("Dres. [Quill]", "DR. [ABE QUILL]", "Dra. Dña. [Orla Quill-Tawn]", "Dr. [O'Quill]", "Dr.[Abe Quill]"),
                *("el doctor [Quill] refiere", "Doctor [Abe Quill]", "Lic. [Marta Quill]", "Enf. [Ana Quill]"),
                "DUE [Ana Quill]",
                *(
                    "Dr. [Quill, Marta]",
                    "Dra. [M.ª Ángeles de la Quill]",
                    "Dra. [M.a Ángeles Quill-de Tawn]",
                    "the Dr. [White] said",
                    "Dr. [Quill]'s plan",
                ),
                *("Dr. [Quill] Refiere dolor", "Professor [Jane McQuill]", "profesora [Orla Quill]"),
            ),
            (
                *("Dr. Visit Notes", "the doctor said", "doctor Cardiología", "Doctor Patient", "DR Screening"),
                "Dra. de guardia",
                *("due to Quill", "Dr. Hospital", "Drive Quill"),
            ),
            words=(*_TITLE_WORDS, *_ADDRESSES),
            starts_with_word=True,
            check=words.is_after_title,
        ),
        Rule(
            "second name after a title",
            rf"{_TITLES}{_NAME},? (?:y|e|and|&) (?P<value>{_NAME})",
            _DOCTORS,
            ("Dr. Quill and [Martinez]", "Dra. Quill y [Marta Tawn]", "Dr. Jane Quill & [Abe Martinez]"),
            ("Dr. Quill and Cardiology", "Dr. Quill y Urgencias", "Dr. Quill y Dra. Tawn"),
            words=(*_TITLE_WORDS, *_ADDRESSES),
            starts_with_word=True,
            check=words.is_known,
        ),
        Rule(
            "name after a form of address",
            rf"{_ADDRESS}(?:{_NEXT}(?:{_ADDRESS}|(?-i:D\.))){{0,2}}{_NEXT}{_VALUE}",
            _PATIENTS,
            (
                *("Mr. [Quill]", "Mrs [Jane Quill]", "Ms. [J. Quill]", "Miss [Orla Quill]", "MR. [ABE QUILL]"),
                "Sr. [Quill]",
                *("la Sra. [Quill de la Tawn]", "Srta. [Orla]", "don [Abe Quill]", "Dña. [Marta Quill]"),
                "D.ª [Marta Quill]",
                *("Dª [Marta Quill]", "Doña [Marta]", "Sr. D. [Abe Quill]", "señora [Quill]", "Mr. [Brown]"),
            ),
            (
                *("MS Exacerbation", "MR Angiography", "Sra. Paciente", "don de gentes", "SR on ECG"),
                "miss Cardiology visit",
                *("Sr. Director", "Madam"),
            ),
            words=_ADDRESSES,
            starts_with_word=True,
            check=words.is_after_title,
        ),
        Rule(
            "name after D.",
            rf"(?-i:D\.) ?{_VALUE}",
            _PATIENTS,
            ("D. [Juan Quill]", "D. [Quill Martínez]", "por D. [José María de la Quill]", "D.[Juan Quill]"),
            ("vitamina D. Quill", "hepatitis D. Presenta", "grupo D. Madrid", "D. Quill Tawn"),
            words=("d",),
            starts_with_word=True,
            check=words.is_whole,
        ),
        Rule(
            "name after a role",
            rf"(?:{one_of(_ROLES)})(?!\w)(?: {one_of(_OF_ROLES)}(?!\w)){{0,4}}{_NO_OF}{_IS}{_VALUE}",
            _DOCTORS,
            (
                *("attending [Jane Quill]", "Nurse [Quill]", "the surgeon, [Abe Quill],"),
                "Attending physician: [Jane Quill]",
                *("nurse practitioner [Orla Quill]", "her PCP, [Abe Tawn],", "the resident was [Jane Quill]"),
                "GP = [Jane Quill]",
                *("su médico [Abe Quill]", "la enfermera [Rosa]", "Cirujano; [Abe Quill]"),
                "médico de familia, [Orla Quill]",
                *(
                    "residente de guardia [Abe Quill]",
                    "Médico responsable | [Marta Quill]",
                    "la cirujana ([Marta Quill])",
                ),
                *(
                    "Enfermera: [MARTA QUILL]",
                    "social worker [Jane Quill]",
                    "la adjunta de urgencias, [Marta de la Quill]",
                ),
            ),
            (
                *("Nurse Practitioner", "Attending Physician", "Médico Responsable", "médico de Atención Primaria"),
                "Surgeon Note",
                *("Hospital Clínico", "Enfermera de Urgencias", "Residente MIR", "médico, Madrid", "Nurse White"),
                "the nurse Monday",
                *("resident of Tawn", "Cardiologist Evaluation", "cirujano y Anestesista"),
            ),
            words=_ROLES,
            starts_with_word=True,
            check=words.is_after_word,
        ),
        Rule(
            "name after a word for the patient",
            rf"(?:patient|(?-i:[Pp]t(?!\w)\.?)|paciente|usuari[oa]|cliente?|enferm[oa])(?!\w)(?:['’]s name)?{_IS}"
            rf"{_VALUE}",
            _PATIENTS,
            (
                *("patient [Jane Quill]", "The patient, [Abe Quill],", "Pt [Quill]", "Patient: [QUILL, MARTA]"),
                *("paciente [Marta Quill]", "La paciente, [Orla Quill],", "el paciente [Abe] acude"),
                "Paciente | [Abe Quill]",
                *("the patient is [Jane Quill]", "paciente llamada [Marta]", "la usuaria [Marta Quill]"),
                "PACIENTE: [MARTA QUILL]",
            ),
            (
                *("Patient Denies pain", "Paciente Mujer", "paciente VIH", "Patient States", "paciente ASA II"),
                "PT Evaluation",
                *("pacientes Quill", "PACIENTE VARÓN", "Patient Young", "Patient is Hispanic", "paciente Diabético"),
            ),
            words=_PATIENT_WORDS,
            starts_with_word=True,
            check=words.is_after_word,
        ),
        Rule(
            "name after called",
            r"(?:named|llamad[oa]|(?<=se )llama|(?<=de )nombre|(?<=my )name is|(?<=mi )nombre es|(?<=al )nombre de) "
            + _VALUE,
            _PATIENTS,
            (
                *("a woman named [Jane Quill]", "un varón llamado [Marcos Quill]", "se llama [Marta]"),
                "My name is [Jane Quill]",
            ),
            ("a drug named Quillex", "el llamado Síndrome de Quill", "llamada Tawn", "not named"),
            words=("named", "llamado", "llamada", "llama", "nombre", "name"),
            starts_with_word=True,
            check=words.is_known,
        ),
        Rule(
            "name after its field",
            rf"{_FIELD}(?: ?[:;|=,]+ ?| (?:is|es) |{_AS_LABEL} ){_VALUE}",
            _PATIENTS,
            (
                *("Name: [Jane Quill]", "Patient name; [Quill, Jane]", "Last name = [Quill]", "Nombre | [Abe]"),
                "name is [Jane Quill]",
                *("Apellidos: [Quill de la Tawn]", "Nombre [Marta]", "Nombre y apellidos; [Marta Quill Tawn]"),
                "Surname,[Quill]",
                *("Nombre del titular: [ABE QUILL]", "Apellidos [Quill Tawn] NHC: 48"),
            ),
            (
                *("brand name: Tawnol", "Name and address", "nombre: ver informe", "Name: Unknown", "Apellidos Nombre"),
                "in the name of",
            ),
            words=("name", "names", "surname", "forename", "nombre", "nombres", "apellido", "apellidos"),
            starts_with_word=True,
            exact="both",
            check=words.is_after_title,
        ),
        Rule(
            "name of a relative",
            rf"{_NO_NAME}{one_of(_SPANISH_KIN)}(?!\w){_WHICH}(?:,? (?:llamad[oa]s?|de nombre|(?:que )?se llama))?"
            rf"(?:,? | ?\(){_VALUE}",
            _RELATIVES,
            (
                *("su madre ([Zann])", "su hermano mayor, [Zann], acude"),
                "su hija [MARTA]",
                *("su esposo, [Abe de la Quill]", "avisar a su hija [Orla Quill]", "su marido llamado [Abe Quill]"),
                *("la nuera [Orla]", "su cuidadora, [Marta Quill-Tawn]"),
            ),
            (
                *(
                    "su madre, diabética",
                    "Calle Hermanos Quill",
                    "padre: Diabetes",
                    "la madre y Orla",
                    "Madre Hipertensa",
                ),
                *("hermano EPOC", "su madre Hipertensa", "hijo, Madrid", "tío Bueno"),
            ),
            words=_SPANISH_KIN,
            starts_with_word=True,
            check=words.is_after_word,
        ),
        Rule(
            "name of a relative in English",
            rf"{_NO_NAME}{one_of(_ENGLISH_KIN)}(?!\w)(?:-in-law)?"
            rf"(?:,? (?:named|called|whose name is))?(?:,? | ?\(){_VALUE}",
            _RELATIVES,
            (
                *(
                    "his wife [Orla Quill]",
                    "her brother, [Abe Quill],",
                    "his daughter ([Orla Quill])",
                    "her son [Marcus]",
                ),
                *("mother-in-law [Jane Quill]", "her husband, [O. Quill]", "daughter named [Orla]"),
            ),
            (
                *("his wife, Monday", "her mother is well", "Mother Orla Quill", "his wife, who", "her mother HTN"),
                "son May",
                "sister Diabetic",
            ),
            words=_ENGLISH_KIN,
            starts_with_word=True,
            check=words.is_after_word,
        ),
        Rule(
            "name after a signature",
            rf"{_SIGNATURE}(?!\w) ?[.:,;|=-]{{0,2}} ?{_VALUE}",
            _DOCTORS,
            (
                *("Signed: [Jane Quill]", "Electronically signed by [Jane Quill]", "dictated by [J. Quill]"),
                "Sincerely, [Jane Quill]",
                *(
                    "Firmado: [Marta Quill]",
                    "Fdo.: [Abe Quill Tawn]",
                    "Fdo. [MARTA QUILL]",
                    "Atentamente, [Marta Quill]",
                ),
                *("revisado por [Marta Quill]", "firmado electrónicamente por [Abe Quill]", "cc: [Jane Quill]"),
                "Fdo [Quill]",
                *("Best regards, [Jane Quill]", "Un saludo, [Marta Quill]", "Reviewed and signed by [Jane Quill]"),
            ),
            (
                *("Signed Consent", "firmado Consentimiento Informado", "Reviewed by Radiology", "cc: Cardiology"),
                "signed by",
                *("informado por Radiología", "Firma Paciente", "signed DNR", "Regards"),
            ),
            words=(*_SIGNED, *_FIRMADO),
            starts_with_word=True,
            check=words.is_after_word,
        ),
        Rule(
            "name after who acts",
            rf"{_SEEN_BY}(?::| ) ?{_VALUE}",
            _DOCTORS,
            (
                *("seen by [Jane Quill]", "Referred by [Quill]", "evaluated and treated by [Jane Quill]"),
                "d/w [Jane Quill]",
                *("visto por [Marta Quill]", "Remitida por [Abe Quill]", "a cargo de [Marta Quill]"),
                "under the care of [Jane Quill]",
                *("comentado con [Abe Quill]", "derivado por [Quill]", "spoke with [Jane Quill]"),
                *("Realizado por: [Marta Quill]", "seen by [Rose Q.]", "intervenida por [M. Quill]"),
            ),
            (
                *(
                    "seen by Cardiology",
                    "followed by Chemotherapy",
                    "visto por Urgencias",
                    "a cargo de Medicina Interna",
                ),
                *("remitido por EPOC", "realizado por Neurocirugía", "seen by Physical Therapy", "evaluated by ENT"),
                "read by Monday",
            ),
            words=(*_SEEN, *_VISTO, *_CON, *forms("discussed spoke consulted met d care behalf cargo nombre")),
            starts_with_word=True,
            check=words.is_after_word,
        ),
        Rule(
            "name before a degree",
            rf"(?=(?-i:[^\W\d_a-z])){_NO_CUE}{_VALUE}"
            rf"(?:,? (?-i:{'|'.join(_DEGREES)}|M\.D\.?|Ph\.D\.?)|, ?(?-i:{'|'.join(_AFTER_COMMA)}))",
            _DOCTORS,
            (
                *("[Jane Quill], MD", "[J. Quill] RN aware", "[Abe Quill], M.D.", "[Orla Quill], PA-C"),
                "[Jane Tawn Quill], PhD",
                *("Staff: [Jane Quill], MD", "[JANE QUILL], DO"),
            ),
            ("an MD", "Attending MD", "Cardiology, NP", "Stable, RN aware", "Plan PT", "MD, PhD"),
            words=(*map(str.lower, (*_DEGREES, *(word.partition("-")[0] for word in _AFTER_COMMA))), "m", "ph"),
            check=words.is_after_word,
        ),
    )
