"""Explanations as text, Markdown, HTML, data frames and JSON: first as blocks, and each format from these.

blocks.py       a title, lines, or a table                plain.py    text, Markdown, data frames, JSON
predictions.py  blocks of `explain_prediction`            learned.py  blocks of `explain_weights`
decisions.py    blocks of `explain_document`, and each reason in words
page.py         an HTML page of blocks, or of a text whose every word can be asked about; templates/
"""
