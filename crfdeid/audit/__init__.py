"""Audit of what a trained model gives away about its training notes.

canaries.py  names that are put into a random half of the training notes, and the question for them
measures.py  exposure, area under the ROC curve, true positives at few false ones, lower bound of epsilon
attacks.py   on a finished model: membership of notes by loss, words in its files, time of answers
near_copies.py   notes that are equal or nearly equal to training notes
report.py    the audits, audit.json and its Markdown
"""

from crfdeid.audit.attacks import note_losses, stored_words, time_answers
from crfdeid.audit.canaries import Canary, CanaryPlan, canary_scores, insert_canaries, make_questions
from crfdeid.audit.measures import epsilon_lower_bound, exposure, roc_area
from crfdeid.audit.report import audit_model, audit_training, measure_canaries, read_audit, render_audit, save_audit

__all__ = [
    "Canary",
    "CanaryPlan",
    "audit_model",
    "audit_training",
    "canary_scores",
    "epsilon_lower_bound",
    "exposure",
    "insert_canaries",
    "make_questions",
    "measure_canaries",
    "note_losses",
    "read_audit",
    "render_audit",
    "roc_area",
    "save_audit",
    "stored_words",
    "time_answers",
]
