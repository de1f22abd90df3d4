"""Causes that are known, injected into real servers: the verdict must name each, or say that it does not know."""
