"""Takes documented figures on a quiet host: runs the declared command, and keeps its summary."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from scripts.figures.declared import Figures
from scripts.figures.picture import draw
from scripts.figures.summary import summary, text

QUIET = 0.2
"""The load average of the last minute below which a documented run begins. dbdyno's own start adds to it, and what it
records must be below 0.5."""
PATIENCE_S = 900


def take(root: Path, figures: Figures) -> None:
    """Run the command of documented figures, keep its summary in results/ and draw its picture.

    Raises subprocess.CalledProcessError if the run fails.
    """
    folder = root / "target" / "figures" / figures.name
    folder.mkdir(parents=True, exist_ok=True)
    dbdyno = [sys.executable, "-P", "-m", "dbdyno"]
    # Its folder is not the checkout: the runs of a person must not mix with these.
    subprocess.run([*dbdyno, *figures.command[1:]], cwd=folder, check=True)
    document = subprocess.run([*dbdyno, "show", "last", "--json"], cwd=folder, check=True, stdout=subprocess.PIPE)
    kept = summary(json.loads(document.stdout))
    (root / figures.result).write_text(text(kept), encoding="utf-8")
    picture(root, figures)


def picture(root: Path, figures: Figures) -> None:
    """Draw the picture of kept figures, if they have one."""
    if figures.picture:
        kept = root / figures.result
        drawn = draw(json.loads(kept.read_text(encoding="utf-8")), kept, figures.draws)
        (root / figures.picture).write_text(drawn, encoding="utf-8")


def wait_until_quiet() -> None:
    """Return when a documented run may begin; raises TimeoutError if the host does not become quiet."""
    end = time.monotonic() + PATIENCE_S
    while (load := os.getloadavg()[0]) >= QUIET:
        if time.monotonic() > end:
            raise TimeoutError(f"the load average stayed at {load:.2f}: figures need a host below {QUIET}")
        time.sleep(5)
