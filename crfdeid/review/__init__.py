"""Review by people: samples to annotate, pages to read, and certificates of the leaks that remain.

- sampling: notes to annotate next, and the folder for annotators.
- plan: sampling plan of the notes to read, drawn by a seed.
- page: review.html (templates/): two annotations, or a note before and after redaction, with the values that stay.
- alignment: what another tool replaced, computed from the texts before and after it.
- marks: version of the marks that a page gives.
- bounds: upper bounds of the share of leaking notes and tokens.
- certificate: marks of reviewers, as their pages download them; the bounds that follow and their assumptions, to sign.
"""
