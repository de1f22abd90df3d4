"""The library that draws plots in the page: Plotly's own build for plots with axes, as its npm package has it.

The whole library is three times as large, and a report has neither maps nor 3D plots. The file is kept compressed,
which is how a page carries it. To renew it, run `npm pack plotly.js-cartesian-dist-min` and `gzip -9n`, and write its
checksum below.
"""

from __future__ import annotations

import gzip
from base64 import b64encode
from pathlib import Path

BUNDLE = Path(__file__).parent.parent / "vendor" / "plotly-cartesian.min.js.gz"
VERSION = "4.1.1"
SHA256 = "79542150855a52c567260e3137095dbe2b744e6d702a5cabe67da246942fba7a"
"""The checksum of the file in the npm package."""


def packed_script() -> str:
    """Return the library as gzip in base64, which `report.js` unpacks."""
    return b64encode(BUNDLE.read_bytes()).decode()


def script() -> bytes:
    """Return the library as JavaScript."""
    return gzip.decompress(BUNDLE.read_bytes())
