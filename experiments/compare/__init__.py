"""Comparison of models on one corpus.

options.py   settings and options        experiment.py   from settings to results: sweeps, shares, the report
"""
