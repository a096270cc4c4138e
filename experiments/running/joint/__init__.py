"""PHI and concepts together (lange2020): the pipeline, the joint models, and what they are compared with.

settings.py   what is asked for                     systems.py      what is compared, in each of the paper's tables
plan.py       cells trained, and scored layer by layer              experiment.py   the whole, from settings to runs
"""
