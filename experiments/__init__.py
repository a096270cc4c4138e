"""The harness: trains, scores, prints and writes; the only layer that does.

compare.py     python -m experiments.compare          options.py   its options
report.py      python -m experiments.report: everything again from a results folder
synthetic.py   python -m experiments.synthetic: notes of the synthetic corpus, printed

machine.py     the device for training
embeddings.py  the word vectors of an experiment      systems.py   what is compared, and the cells of work
runs.py        cells trained, many side by side       store.py     finished cells, to go on with
comparison.py  which differences hold                 results.py   an experiment as data: results.json
folder.py      the files of a results folder          progress.py  bars on a terminal
examples.py    errors in their text

tables/        the paper's tables and more            plots/       its figure and more
published.py   the paper's printed numbers            findings.py  what the results say, in sentences
page.py        report.html, with error_browser.py and templates/
"""
