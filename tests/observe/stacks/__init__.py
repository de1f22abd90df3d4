"""Tests of dbdyno.observe.stacks."""
