"""Experiments: train models, score them, print and write what came out. With `crfdeid.cli` the only layer that does.

compare.py     python -m experiments.compare          compare_options.py    its options, read into typed settings
private.py     python -m experiments.private          options.py            what the options of these have in common
joint.py       python -m experiments.joint            option_values.py      what reads the value of one
transfer.py    python -m experiments.transfer         terminal.py           what they print, and progress bars
report.py      python -m experiments.report
synthetic.py   python -m experiments.synthetic

running/       what is compared, trained and scored, from the settings to the runs
results/       the runs as data (results.json), and the folder they are kept in
tables/        the tables of the results              plots/         their plots
reporting/     report.html, from templates/           papers/        what is particular to one paper
"""
