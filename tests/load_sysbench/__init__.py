"""Tests of the load client that is sysbench."""
