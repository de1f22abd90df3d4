"""A range of versions as a person writes it: `mysql@5.5..8.0` is every version of the catalogue between both."""

import re

from dbdyno.errors import UserError
from dbdyno.systems.packages.catalogue import PACKAGES

_RANGE = re.compile(
    r"\s*(?P<product>[a-z][a-z0-9_.-]*)@(?P<first>[0-9][0-9a-z.]*?)\.\.(?P<last>[0-9a-z.]+)(?P<rest>.*)"
)


def in_range(text: str) -> list[str]:
    """Return the systems of a range, or the text alone if it is none.

    Raises UserError if the catalogue has no such version, or the first comes after the last.
    """
    match = _RANGE.fullmatch(text)
    if match is None:
        return [text]
    product, first, last = match["product"], match["first"], match["last"]
    versions = [package.version for package in PACKAGES.values() if package.system == product and package.version]
    for version in (first, last):
        if version not in versions:
            known = ", ".join(versions) if versions else "none"
            raise UserError(f"{text.strip()}: dbdyno can install no {product}@{version}; its versions are {known}")
    begin, end = versions.index(first), versions.index(last)
    if begin > end:
        raise UserError(f"{text.strip()}: {first} comes after {last}; write {product}@{last}..{first}")
    return [f"{product}@{version}{match['rest']}" for version in versions[begin : end + 1]]
