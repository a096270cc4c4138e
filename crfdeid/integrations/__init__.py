"""Adapters for other tools.

arrow.py   RedactBatches: Arrow record batches, for DuckDB, Polars, Ray and Dask
common.py  model of a component that another library creates; Presidio's entities and scores
presidio.py  CrfdeidRecognizer, for AnalyzerEngine
sklearn.py   SequenceTagger, an estimator for scikit-learn
spacy.py   the component "crfdeid" of pipelines
spark.py     redact: data frames of Spark
"""
