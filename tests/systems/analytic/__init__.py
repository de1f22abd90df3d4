"""Tests of dbdyno.systems.analytic."""
