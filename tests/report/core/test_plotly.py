"""The library in the package is the one that its npm package has, with its licence."""

from base64 import b64decode
from gzip import decompress
from hashlib import sha256

from dbdyno.report.core import plotly


def test_the_library_is_the_published_one():
    script = plotly.script()
    assert sha256(script).hexdigest() == plotly.SHA256
    assert f"plotly.js (cartesian - minified) v{plotly.VERSION}".encode() in script[:400]
    assert "MIT" in plotly.BUNDLE.with_name("plotly-LICENSE").read_text()


def test_what_a_page_carries_unpacks_to_it():
    assert decompress(b64decode(plotly.packed_script())) == plotly.script()
