"""What is known beforehand, whatever a model finds: a site's own lists, and what the record says of a patient.

site.py     `CustomLists`: what to hide always, what never, patterns     site_file.py   read from TOML, checked, errors
by line known.py    `Known`: what one patient's notes must not say        names.py dates.py   how names and dates are
written folded.py   a text without case, accents and signs                common_names.py     names that are words too
columns.py  which columns of a table say it                       people.py     a side file of what is known
joined.py   what was given and what a model found as one
"""
