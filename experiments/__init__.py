"""Experiments: train models, score them, print and write the results. With `crfdeid.cli` the only layer that prints.

compare/    python -m experiments.compare     models on one corpus
joint/      python -m experiments.joint       PHI and concepts together (lange2020)
private/    python -m experiments.private     training data shared without its text (friedrich2019)
transfer/   python -m experiments.transfer    models between corpora (johnson2020)
report.py   python -m experiments.report      tables, plots and report.html of finished results
synthetic.py  python -m experiments.synthetic   the built-in corpus

core/       what all experiments share: options, systems, training, the command
results/    the runs as measurements (results.json), the folder that holds them, and views for tables
tables/     tables of a view          plots/     plots of a view
reporting/  report.html, from templates/   papers/    printed tables and names of each paper

An experiment is a folder with an ``experiment.py`` (`experiments.core.experiment.Experiment`) and a line here.
"""

EXPERIMENTS = {
    "compare": "experiments.compare.experiment",
    "joint": "experiments.joint.experiment",
    "private": "experiments.private.experiment",
    "transfer": "experiments.transfer.experiment",
}
"""Name of an experiment -> its module. The name is that of its command, and ``experiment`` in its results."""
