"""Runs in the formats of other programs, one file per format; none of them holds a password."""
