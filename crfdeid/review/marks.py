"""Marks that a review page lets reviewers download: their version, and where the page had the replacements from."""

MARKS_VERSION = 2
"""Version of the marks. Pages of version 1, which wrote no number, showed some leaks as replaced."""
RECORDED, COMPARED = "recorded", "compared"
"""Redaction's own record of what it replaced, or an alignment of the two texts."""
