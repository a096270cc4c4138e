"""Notes in markup: RTF, HTML, HL7 and others are recognised, and never redacted as prose by accident.

recognise.py   the format of a text that is no prose, by its first characters or the density of its codes
"""

from crfdeid.markup.recognise import MARKUP_CHOICES, Markup, find_markup, require_prose

__all__ = ["MARKUP_CHOICES", "Markup", "find_markup", "require_prose"]
