"""PHI and concepts together (lange2020): the pipeline, the joint models, and their comparison.

options.py     settings, options, and the systems of each of the paper's tables
experiment.py  from settings to results
report.py      tables, plots and findings
"""
