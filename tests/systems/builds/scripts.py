"""Programs for tests of builds: scripts that everybody may run, and copies of the host's servers."""

import shutil
from pathlib import Path


def script(path, text):
    """Write a shell script that everybody may run, and return its path."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def copied(program, folder):
    """Return a copy of a program of the host."""
    return Path(shutil.copy2(program, folder))
