"""Accept what dbdyno says of the recorded runs now, or keep one more run.

`python -m tests.golden`: accept all; look at `git diff` before you commit it.
`python -m tests.golden NAME FOLDER`: keep the run in FOLDER as NAME, and accept what is said of it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from .stored import names, pack, unpack, update


def main(arguments: list[str]) -> None:
    """Do what the arguments ask for."""
    if arguments:
        name, folder = arguments
        pack(name, Path(folder))
    with tempfile.TemporaryDirectory() as scratch:
        # The noise floors of whoever runs this are no part of a recorded run.
        os.environ["XDG_DATA_HOME"] = scratch
        for name in arguments[:1] or names():
            update(name, unpack(name, Path(scratch)))


main(sys.argv[1:])
