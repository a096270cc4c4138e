"""Known PHI: custom lists and patterns, and the identifiers of a patient's record.

identifiers.py    `PatientIdentifiers` of one patient, and the search for them in a note; dates in every written form
patients.py       names of patients; `PatientTable`: identifiers from columns of the notes or from a separate file
names.py          words of names, placeholders, names of one person; search with initials and a typing error
lists.py          `CustomLists`: deny lists, allow lists and patterns, read from TOML
folding.py        text without case, accents and signs; decoded HTML entities and percent-encoding
"""

from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.known_phi.lists import CustomLists, Pattern, Term, read_lists

__all__ = ["CustomLists", "PatientIdentifiers", "Pattern", "Term", "read_lists"]
