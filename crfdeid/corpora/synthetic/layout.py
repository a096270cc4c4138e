"""How the kinds of notes are laid out, as data: which sections, in which style, from which pools of sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Style = Literal["lines", "columns", "prose", "list", "inline"]


class Part(NamedTuple):
    """How many entries to draw from a pool of templates."""

    pool: str
    least: int
    most: int


class SectionPlan(NamedTuple):
    """A section that a kind of note may have.

    Attributes:
        headings: the ways to head it, separated by "|"; "" for none.
        style: how the entries are set: one per line, two or three per line, running text, a numbered list, or one line.
        parts: what it is made of, in order.
        chance: how often it is there, a fraction.
        shuffled: whether the entries stand in any order.
    """

    headings: str
    style: Style
    parts: tuple[Part, ...]
    chance: float = 1.0
    shuffled: bool = False


class NoteKind(NamedTuple):
    """A kind of note: how often it is written, whether it tells of a stay in hospital, and its sections in order."""

    weight: int
    stay: bool
    titles: str
    sections: tuple[SectionPlan, ...]


def _slots(*names: str) -> tuple[Part, ...]:
    return tuple(Part(f"slot.{name}", 1, 1) for name in names)


_STAY_HEADER = SectionPlan(
    "",
    "columns",
    (*_slots("name", "mrn", "dob", "admit", "discharge", "hospital"), Part("slot.account", 1, 2),
     Part("slot.more", 2, 4), Part("slot.doctor", 1, 2), Part("slot.contact", 1, 2)),
    shuffled=True,
)  # fmt: skip
_VISIT_HEADER = SectionPlan(
    "",
    "columns",
    (*_slots("name", "mrn", "dob", "visit", "hospital"), Part("slot.account", 1, 2), Part("slot.more", 1, 3),
     Part("slot.doctor", 1, 2), Part("slot.contact", 1, 2)),
    shuffled=True,
)  # fmt: skip
_STORY = SectionPlan(
    "HISTORY OF PRESENT ILLNESS|HPI|History of Present Illness|HISTORY|Reason for admission|PRESENT ILLNESS|Hx",
    "prose",
    (Part("open", 1, 1), Part("story", 3, 6)),
)
_BACKGROUND = SectionPlan(
    "PAST MEDICAL HISTORY|PMH|Past Medical History|PMHx|PAST HISTORY|Past medical/surgical history|Problem list",
    "list",
    (Part("background", 3, 8),),
    shuffled=True,
)
_MEDICATIONS = SectionPlan(
    "MEDICATIONS|Meds|MEDICATIONS ON ADMISSION|Current Medications|HOME MEDS|Medications", "list",
    (Part("medication", 3, 7),), chance=0.85,
)  # fmt: skip
_ALLERGIES = SectionPlan("ALLERGIES|Allergies|ALL|Allergies/adverse reactions", "inline", (Part("allergy", 1, 1),), 0.7)
_SOCIAL = SectionPlan("SOCIAL HISTORY|Social History|SH|SocHx|HABITS", "prose", (Part("social", 3, 5),), 0.75, True)
_FAMILY = SectionPlan("FAMILY HISTORY|Family Hx|FH|Family History", "prose", (Part("family", 1, 2),), 0.45)
_EXAM = SectionPlan(
    "PHYSICAL EXAMINATION|PE|Physical Exam|EXAM|PHYSICAL EXAM ON ADMISSION|Examination", "prose",
    (Part("vitals", 1, 1), Part("exam", 4, 7)), 0.9,
)  # fmt: skip
_LABS = SectionPlan(
    "LABORATORY DATA|Labs|LABS|Laboratory|DATA|PERTINENT RESULTS",
    "lines",
    (Part("lab", 2, 5), Part("study", 1, 3)),
    0.9,
)
_COURSE = SectionPlan(
    "HOSPITAL COURSE|Hospital Course|HOSPITAL COURSE BY PROBLEM|Course|BRIEF HOSPITAL COURSE", "prose",
    (Part("course", 5, 10),),
)  # fmt: skip
_DISCHARGE_MEDICATIONS = SectionPlan(
    "DISCHARGE MEDICATIONS|Discharge Medications|MEDICATIONS ON DISCHARGE|D/C MEDS", "list",
    (Part("medication again", 3, 7),), 0.7,
)  # fmt: skip
_DISPOSITION = SectionPlan(
    "DISPOSITION|Disposition|DISPO|Discharge plan",
    "prose",
    (Part("destination", 1, 1), Part("disposition", 1, 2)),
)
_FOLLOW = SectionPlan(
    "FOLLOW UP|Follow-up|FOLLOW-UP PLANS|PLAN|Plan|Discharge instructions|FOLLOW UP APPOINTMENTS", "list",
    (Part("follow", 2, 6),), shuffled=True,
)  # fmt: skip
_SIGN = SectionPlan("", "lines", (Part("sign", 1, 3),), 0.9)
_STAMP = SectionPlan("", "columns", (Part("stamp", 2, 5),), 0.9)
_COPIES = SectionPlan("", "lines", (Part("cc", 1, 2),), 0.55)
_END = (_SIGN, _STAMP, _COPIES)
_IMPRESSION = SectionPlan(
    "IMPRESSION|Assessment|A/P|ASSESSMENT AND PLAN|Impression", "prose", (Part("impression", 1, 3),)
)

_SOAP = (
    Part("soap s", 1, 1), Part("soap o", 1, 1), Part("soap data", 2, 5), Part("soap a", 1, 1), Part("soap plan", 2, 5),
)  # fmt: skip
_CALL = (Part("phone open", 1, 1), Part("phone info", 1, 3), Part("phone action", 2, 5), Part("phone end", 1, 2))

KINDS: Mapping[str, NoteKind] = {
    "discharge": NoteKind(
        34, True, "DISCHARGE SUMMARY|Discharge Summary|DISCHARGE NOTE|Physician Discharge Summary||",
        (_STAY_HEADER, _STORY, _BACKGROUND, _MEDICATIONS, _ALLERGIES, _SOCIAL, _FAMILY, _EXAM, _LABS, _COURSE,
         _DISCHARGE_MEDICATIONS, _DISPOSITION, _FOLLOW, *_END),
    ),
    "clinic": NoteKind(
        14, False, "CLINIC NOTE|Office Visit|OUTPATIENT NOTE|Ambulatory Progress Note|Return visit|",
        (_VISIT_HEADER, _STORY, _BACKGROUND, _MEDICATIONS, _ALLERGIES, _SOCIAL, _EXAM, _LABS, _IMPRESSION, _FOLLOW,
         *_END),
    ),
    "emergency": NoteKind(
        12, False, "EMERGENCY DEPARTMENT NOTE|ED NOTE|ED Visit Note|Emergency Room Record|",
        (_VISIT_HEADER, _STORY, _BACKGROUND._replace(chance=0.8), _ALLERGIES, _MEDICATIONS, _EXAM, _LABS,
         _COURSE._replace(
             parts=(Part("course ed", 3, 6),),
             headings="ED COURSE|Course in ED|MEDICAL DECISION MAKING|THERAPY RENDERED/COURSE IN ED"),
         _IMPRESSION, _DISPOSITION, _FOLLOW._replace(chance=0.6), *_END),
    ),
    "consult": NoteKind(
        9, True, "CONSULTATION|Consult Note|CONSULTATION REPORT|Initial consult|",
        (_VISIT_HEADER, _STORY._replace(headings="REASON FOR CONSULT|HPI|History|Consult question"), _BACKGROUND,
         _MEDICATIONS, _FAMILY, _EXAM, _LABS, _IMPRESSION, _FOLLOW._replace(headings="RECOMMENDATIONS|Recs|Suggest"),
         *_END),
    ),
    "letter": NoteKind(
        7, False, "",
        (SectionPlan("", "lines", (Part("letter.head", 1, 1),)),
         SectionPlan("", "lines", (Part("letter.to", 3, 6),)),
         SectionPlan("", "lines", (Part("letter.dear", 1, 1),)),
         SectionPlan("", "prose", (Part("letter.open", 1, 2), Part("story", 2, 4))),
         SectionPlan("", "prose", (Part("vitals", 1, 1), Part("exam", 2, 4), Part("study", 1, 2))),
         SectionPlan("", "prose", (Part("impression", 1, 1), Part("follow", 2, 4))),
         SectionPlan("", "prose", (Part("letter.close", 2, 3),)),
         SectionPlan("", "lines", (Part("letter.end", 1, 1),)), _STAMP, _COPIES),
    ),
    "operation": NoteKind(
        8, True, "OPERATIVE REPORT|OPERATIVE NOTE|Op Note|Procedure note|",
        (_VISIT_HEADER, SectionPlan("", "lines", (Part("op head", 6, 9),)),
         SectionPlan("INDICATIONS|Indication|HISTORY", "prose", (Part("open", 1, 1), Part("story", 0, 2))),
         SectionPlan("PROCEDURE IN DETAIL|DESCRIPTION|Details|Operation", "prose", (Part("op", 5, 10),)), *_END),
    ),
    "radiology": NoteKind(
        8, False, "RADIOLOGY REPORT|DIAGNOSTIC IMAGING|Imaging Report|X-RAY CONSULT|",
        (_VISIT_HEADER, SectionPlan("", "lines", (Part("rad head", 4, 7),)),
         SectionPlan("FINDINGS|Findings|REPORT", "prose", (Part("rad finding", 1, 2), Part("rad body", 3, 7))),
         SectionPlan("IMPRESSION|Impression|CONCLUSION", "list", (Part("rad impression", 1, 3),)), *_END),
    ),
    "progress": NoteKind(
        9, True, "PROGRESS NOTE|Daily note|Medicine Progress Note|HOUSE STAFF NOTE|",
        (_VISIT_HEADER, SectionPlan("", "lines", _SOAP), _SIGN, _STAMP._replace(chance=0.4)),
    ),
    "phone": NoteKind(
        7, False, "TELEPHONE ENCOUNTER|Phone Note|NURSING NOTE|Patient message|",
        (_VISIT_HEADER, SectionPlan("", "lines", _CALL), _SIGN, _STAMP._replace(chance=0.4)),
    ),
}  # fmt: skip
