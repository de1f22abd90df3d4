"""The rules of test_tidy: what this house promises about its own sources, one family of rules a file.

A rule is a function from a `House` to its findings, each one line that names the file, the place, and what is asked.
"""
