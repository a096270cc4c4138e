"""PHI and concepts together (lange2020): the pipeline, the joint models, and their comparison.

systems.py    settings, and the systems of each of the paper's tables
experiment.py cells trained and scored layer by layer, from settings to runs
"""
