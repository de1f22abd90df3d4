"""A guard: `python -m dbdyno.leftovers JOURNAL` waits until a run is over, and removes what it left.

It opens the journal when its standard input ends: guards are there before the journal.
"""

import signal
import sys
from pathlib import Path

from dbdyno.leftovers.journal import Journal
from dbdyno.leftovers.removal import remove_all

if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    sys.stdin.buffer.read()
    if journal := Journal.take(Path(sys.argv[1]), wait=True):
        remove_all(journal)
