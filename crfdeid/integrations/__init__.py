"""Adapters for other tools: Arrow tables and Spark."""
