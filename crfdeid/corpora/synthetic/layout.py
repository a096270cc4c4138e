"""Layouts of the kinds of notes, as data: sections, their styles and their pools of sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

SectionStyle = Literal["lines", "columns", "prose", "list", "inline"]


class PoolRange(NamedTuple):
    """Range of the number of entries from a pool of templates."""

    pool: str
    least: int
    most: int


class SectionPlan(NamedTuple):
    """A section that a kind of note may have.

    Attributes:
        headings: the headings to choose from, separated by "|"; "" for none.
        style: the arrangement of the entries: one per line, two or three per line, running text, a numbered list,
            or one line.
        parts: the ranges of its entries, in order.
        chance: the probability of the section.
        shuffled: shuffle the entries.
    """

    headings: str
    style: SectionStyle
    parts: tuple[PoolRange, ...]
    chance: float = 1.0
    shuffled: bool = False


class NoteKind(NamedTuple):
    """A kind of note: its weight, whether it describes a stay in hospital, and its sections in order."""

    weight: int
    stay: bool
    titles: str
    sections: tuple[SectionPlan, ...]


def _slots(*names: str) -> tuple[PoolRange, ...]:
    return tuple(PoolRange(f"slot.{name}", 1, 1) for name in names)


_STAY_HEADER = SectionPlan(
    "",
    "columns",
    (*_slots("name", "mrn", "dob", "admit", "discharge", "hospital"), PoolRange("slot.account", 1, 2),
     PoolRange("slot.more", 2, 4), PoolRange("slot.doctor", 1, 2), PoolRange("slot.contact", 1, 2)),
    shuffled=True,
)  # fmt: skip
_VISIT_HEADER = SectionPlan(
    "",
    "columns",
    (*_slots("name", "mrn", "dob", "visit", "hospital"), PoolRange("slot.account", 1, 2), PoolRange("slot.more", 1, 3),
     PoolRange("slot.doctor", 1, 2), PoolRange("slot.contact", 1, 2)),
    shuffled=True,
)  # fmt: skip
_STORY = SectionPlan(
    "HISTORY OF PRESENT ILLNESS|HPI|History of Present Illness|HISTORY|Reason for admission|PRESENT ILLNESS|Hx",
    "prose",
    (PoolRange("open", 1, 1), PoolRange("story", 3, 6)),
)
_BACKGROUND = SectionPlan(
    "PAST MEDICAL HISTORY|PMH|Past Medical History|PMHx|PAST HISTORY|Past medical/surgical history|Problem list",
    "list",
    (PoolRange("background", 3, 8),),
    shuffled=True,
)
_MEDICATIONS = SectionPlan(
    "MEDICATIONS|Meds|MEDICATIONS ON ADMISSION|Current Medications|HOME MEDS|Medications", "list",
    (PoolRange("medication", 3, 7),), chance=0.85,
)  # fmt: skip
_ALLERGIES = SectionPlan(
    "ALLERGIES|Allergies|ALL|Allergies/adverse reactions", "inline", (PoolRange("allergy", 1, 1),), 0.7
)
_SOCIAL = SectionPlan(
    "SOCIAL HISTORY|Social History|SH|SocHx|HABITS", "prose", (PoolRange("social", 3, 5),), 0.75, True
)
_FAMILY = SectionPlan("FAMILY HISTORY|Family Hx|FH|Family History", "prose", (PoolRange("family", 1, 2),), 0.45)
_EXAM = SectionPlan(
    "PHYSICAL EXAMINATION|PE|Physical Exam|EXAM|PHYSICAL EXAM ON ADMISSION|Examination", "prose",
    (PoolRange("vitals", 1, 1), PoolRange("exam", 4, 7)), 0.9,
)  # fmt: skip
_LABS = SectionPlan(
    "LABORATORY DATA|Labs|LABS|Laboratory|DATA|PERTINENT RESULTS",
    "lines",
    (PoolRange("lab", 2, 5), PoolRange("study", 1, 3)),
    0.9,
)
_COURSE = SectionPlan(
    "HOSPITAL COURSE|Hospital Course|HOSPITAL COURSE BY PROBLEM|Course|BRIEF HOSPITAL COURSE", "prose",
    (PoolRange("course", 5, 10),),
)  # fmt: skip
_DISCHARGE_MEDICATIONS = SectionPlan(
    "DISCHARGE MEDICATIONS|Discharge Medications|MEDICATIONS ON DISCHARGE|D/C MEDS", "list",
    (PoolRange("medication again", 3, 7),), 0.7,
)  # fmt: skip
_DISPOSITION = SectionPlan(
    "DISPOSITION|Disposition|DISPO|Discharge plan",
    "prose",
    (PoolRange("destination", 1, 1), PoolRange("disposition", 1, 2)),
)
_FOLLOW = SectionPlan(
    "FOLLOW UP|Follow-up|FOLLOW-UP PLANS|PLAN|Plan|Discharge instructions|FOLLOW UP APPOINTMENTS", "list",
    (PoolRange("follow", 2, 6),), shuffled=True,
)  # fmt: skip
_SIGN = SectionPlan("", "lines", (PoolRange("sign", 1, 3),), 0.9)
_STAMP = SectionPlan("", "columns", (PoolRange("stamp", 2, 5),), 0.9)
_COPIES = SectionPlan("", "lines", (PoolRange("cc", 1, 2),), 0.55)
_END = (_SIGN, _STAMP, _COPIES)
_IMPRESSION = SectionPlan(
    "IMPRESSION|Assessment|A/P|ASSESSMENT AND PLAN|Impression", "prose", (PoolRange("impression", 1, 3),)
)

_SOAP = (
    PoolRange("soap s", 1, 1),
    PoolRange("soap o", 1, 1),
    PoolRange("soap data", 2, 5),
    PoolRange("soap a", 1, 1),
    PoolRange("soap plan", 2, 5),
)  # fmt: skip
_CALL = (
    PoolRange("phone open", 1, 1),
    PoolRange("phone info", 1, 3),
    PoolRange("phone action", 2, 5),
    PoolRange("phone end", 1, 2),
)

NOTE_KINDS: Mapping[str, NoteKind] = {
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
             parts=(PoolRange("course ed", 3, 6),),
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
        (SectionPlan("", "lines", (PoolRange("letter.head", 1, 1),)),
         SectionPlan("", "lines", (PoolRange("letter.to", 3, 6),)),
         SectionPlan("", "lines", (PoolRange("letter.dear", 1, 1),)),
         SectionPlan("", "prose", (PoolRange("letter.open", 1, 2), PoolRange("story", 2, 4))),
         SectionPlan("", "prose", (PoolRange("vitals", 1, 1), PoolRange("exam", 2, 4), PoolRange("study", 1, 2))),
         SectionPlan("", "prose", (PoolRange("impression", 1, 1), PoolRange("follow", 2, 4))),
         SectionPlan("", "prose", (PoolRange("letter.close", 2, 3),)),
         SectionPlan("", "lines", (PoolRange("letter.end", 1, 1),)), _STAMP, _COPIES),
    ),
    "operation": NoteKind(
        8, True, "OPERATIVE REPORT|OPERATIVE NOTE|Op Note|Procedure note|",
        (_VISIT_HEADER, SectionPlan("", "lines", (PoolRange("op head", 6, 9),)),
         SectionPlan("INDICATIONS|Indication|HISTORY", "prose", (PoolRange("open", 1, 1), PoolRange("story", 0, 2))),
         SectionPlan("PROCEDURE IN DETAIL|DESCRIPTION|Details|Operation", "prose", (PoolRange("op", 5, 10),)), *_END),
    ),
    "radiology": NoteKind(
        8, False, "RADIOLOGY REPORT|DIAGNOSTIC IMAGING|Imaging Report|X-RAY CONSULT|",
        (_VISIT_HEADER, SectionPlan("", "lines", (PoolRange("rad head", 4, 7),)),
         SectionPlan(
            "FINDINGS|Findings|REPORT", "prose", (PoolRange("rad finding", 1, 2), PoolRange("rad body", 3, 7))
        ),
         SectionPlan("IMPRESSION|Impression|CONCLUSION", "list", (PoolRange("rad impression", 1, 3),)), *_END),
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
