"""Builds of a server that a person names by their path: found, checked, and told apart."""
