"""How notes with concepts are laid out: from the pools of concepts.txt, and from frames that hold no concept."""

from __future__ import annotations

from collections.abc import Mapping

from crfdeid.corpora.synthetic.layout import NoteKind, Part, SectionPlan


def _parts(*names: str) -> tuple[Part, ...]:
    return tuple(Part(f"slot.{name}", 1, 1) for name in names)


def _header(*names: str) -> SectionPlan:
    more = (Part("slot.account", 1, 2), Part("slot.more", 1, 3), Part("slot.doctor", 1, 2))
    return SectionPlan("", "columns", (*_parts(*names), *more, Part("concept contact", 1, 2)), shuffled=True)


_STAY = _header("name", "mrn", "dob", "admit", "discharge", "hospital")
_VISIT = _header("name", "mrn", "dob", "visit", "hospital")
_STORY = SectionPlan(
    "HISTORY OF PRESENT ILLNESS|HPI|History of Present Illness|HISTORY|PRESENT ILLNESS",
    "prose",
    (Part("concept open", 1, 1), Part("concept story", 3, 6)),
)
_BACKGROUND = SectionPlan(
    "PAST MEDICAL HISTORY|PMH|Past Medical History|Problem list", "list", (Part("concept background", 3, 7),)
)
_MEDICATIONS = SectionPlan(
    "MEDICATIONS|Meds|MEDICATIONS ON ADMISSION|Current Medications", "list", (Part("concept medication", 2, 5),), 0.85
)
_ALLERGIES = SectionPlan("ALLERGIES|Allergies", "inline", (Part("concept allergy", 1, 1),), 0.7)
_SOCIAL = SectionPlan("SOCIAL HISTORY|Social History|SH", "prose", (Part("concept social", 2, 4),), 0.6)
_EXAM = SectionPlan(
    "PHYSICAL EXAMINATION|PE|Physical Exam|Examination",
    "prose",
    (Part("concept vitals", 1, 1), Part("concept exam", 3, 6)),
    0.9,
)
_LABS = SectionPlan(
    "LABORATORY DATA|Labs|DATA|PERTINENT RESULTS",
    "lines",
    (Part("concept lab", 2, 4), Part("concept study", 1, 3)),
    0.9,
)
_COURSE = SectionPlan("HOSPITAL COURSE|Hospital Course|Course", "prose", (Part("concept course", 4, 9),))
_IMPRESSION = SectionPlan("IMPRESSION|Assessment|ASSESSMENT AND PLAN", "prose", (Part("concept impression", 1, 3),))
_DISPOSITION = SectionPlan("DISPOSITION|Disposition", "prose", (Part("concept disposition", 1, 2),))
_FOLLOW = SectionPlan("FOLLOW UP|Follow-up|PLAN|Discharge instructions", "list", (Part("concept follow", 2, 5),))
_END = (
    SectionPlan("", "lines", (Part("sign", 1, 3),), 0.9),
    SectionPlan("", "columns", (Part("stamp", 2, 5),), 0.9),
    SectionPlan("", "lines", (Part("cc", 1, 2),), 0.55),
)


def _lines(pool: str, least: int, most: int) -> SectionPlan:
    return SectionPlan("", "lines", (Part(pool, least, most),))


CONCEPT_KINDS: Mapping[str, NoteKind] = {
    "discharge": NoteKind(
        4,
        True,
        "DISCHARGE SUMMARY|Discharge Summary|DISCHARGE NOTE|",
        (_STAY, _STORY, _BACKGROUND, _MEDICATIONS, _ALLERGIES, _SOCIAL, _EXAM, _LABS, _COURSE, _DISPOSITION, _FOLLOW,
         *_END),
    ),
    "clinic": NoteKind(
        2,
        False,
        "CLINIC NOTE|Office Visit|OUTPATIENT NOTE|",
        (_VISIT, _STORY, _BACKGROUND, _MEDICATIONS, _ALLERGIES, _SOCIAL, _EXAM, _LABS, _IMPRESSION, _FOLLOW, *_END),
    ),
    "consult": NoteKind(
        2,
        True,
        "CONSULTATION|Consult Note|",
        (_VISIT, _STORY, _BACKGROUND, _EXAM, _LABS, _COURSE._replace(headings="COURSE TO DATE|Course"), _IMPRESSION,
         *_END),
    ),
    "letter": NoteKind(
        1,
        False,
        "",
        (_lines("letter.head", 1, 1), _lines("letter.to", 3, 6), _lines("letter.dear", 1, 1),
         SectionPlan("", "prose", (Part("concept letter", 1, 2), Part("concept story", 2, 4))),
         SectionPlan("", "prose", (Part("concept exam", 2, 4), Part("concept study", 1, 2))),
         SectionPlan("", "prose", (Part("concept impression", 1, 2), Part("concept follow", 2, 4))),
         SectionPlan("", "prose", (Part("letter.close", 2, 3),)), _lines("letter.end", 1, 1), *_END[1:]),
    ),
}  # fmt: skip
