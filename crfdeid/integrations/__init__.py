"""Adapters for other tools.

arrow.py   RedactBatches: Arrow record batches, for DuckDB, Polars, Ray and Dask
spark/     redact: data frames of Spark; files of notes on a cluster
"""
