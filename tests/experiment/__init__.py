"""Tests of dbdyno.experiment."""
