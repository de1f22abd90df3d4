"""The only place that sequences: start, prepare, load, measure, verify, clean up, stop."""
