"""Passwords taken out of text that is going to be shown or kept."""

import re

REDACTED = "***"
"""Stands where a password was; a system given with it takes its password from DBDYNO_PASSWORD."""

# `host:3306` is no password. A password may itself hold '@', ':', ',' or blanks, so it ends at the last '@' before the
# next URL or the end of the text: rather too much is taken out than a part of a password left in.
_URL_PASSWORD = re.compile(
    r"""(://[^:/@,\s?)]*):                 # scheme and user
        (?!\d+(?:[/?,)][^@\s]*)?(?:\s|$))  # a port at the end of a word
        (?!\d+[/?,)\s][^@]*://)            # a port before the next URL
        .*?@(?=[^@]*(?:$|://))             # the password""",
    re.VERBOSE | re.DOTALL,
)


def redact(text: str) -> str:
    """Return `text` with the password of every URL in it replaced by `***`."""
    return _URL_PASSWORD.sub(rf"\1:{REDACTED}@", text)


def holds_password(text: str) -> bool:
    """Say whether a URL with a password is in `text`."""
    return redact(text) != text
