"""The first clause of a description: a list shows it on one line, and the details have the rest."""

import re

_END = re.compile(r" \(|[:;] ")


def first_clause(text: str) -> str:
    """Return a text up to its first bracket, colon or semicolon."""
    return _END.split(text, maxsplit=1)[0]
