"""The harness: trains, scores, prints and writes; the only layer that does.

compare.py    python -m experiments.compare         options.py   its options
splits.py     training, development and test parts  machine.py   device and cores
runs.py       one (model, seed) cell, and many side by side
results.py    an experiment as data: results.json   tables.py    the paper's tables from it
examples.py   errors in their text                  progress.py  bars on a terminal
synthetic.py  python -m experiments.synthetic: notes of the synthetic corpus, printed
"""
