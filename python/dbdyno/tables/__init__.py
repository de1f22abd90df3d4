"""Runs as tables: one row a trial, an operation, a second, a sample or a bucket; for files and data frames."""
