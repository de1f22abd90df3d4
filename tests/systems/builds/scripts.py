"""Programs for tests of builds: scripts that everybody may run, copies of the host's servers, and wrong ones."""

import os
import shutil
from pathlib import Path


def script(path, text):
    """Write a shell script that everybody may run, and return its path."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    return opened(path)


def opened(path):
    """Let everybody run a file, and get to it; root's servers are not root. Returns the path."""
    path.chmod(0o755)
    for folder in path.parents:
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    return path


def copied(program, folder):
    """Return a copy of a program of the host."""
    return opened(Path(shutil.copy2(program, folder)))
