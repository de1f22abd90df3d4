"""Tests of what `dbdyno ci` says."""
