"""Experiments: train models, score them, print and write the results. With `crfdeid.cli` the only layer that prints.

compare.py     python -m experiments.compare          compare_options.py    its options, read into typed settings
private.py     python -m experiments.private          options.py            options that these commands share
joint.py       python -m experiments.joint            terminal.py           their output, and progress bars
transfer.py    python -m experiments.transfer
report.py      python -m experiments.report
synthetic.py   python -m experiments.synthetic

running/       systems trained and scored, from the settings to the runs
results/       the runs as data (results.json), and the folder that holds them
tables/        tables of the results                  plots/         plots of the results
reporting/     report.html, from templates/           papers/        printed tables and names of each paper
"""
