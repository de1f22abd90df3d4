"""A guard: `python -m dbdyno.leftovers JOURNAL` waits until a run is over, and removes what it left."""

import signal
import sys
from pathlib import Path

from dbdyno.leftovers.journal import Journal
from dbdyno.leftovers.removal import remove_all

if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    if journal := Journal.take(Path(sys.argv[1]), wait=True):
        remove_all(journal)
