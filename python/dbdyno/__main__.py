"""`python -m dbdyno`, and all that the command `dbdyno` does."""

import gc
import os
import sys
from importlib import import_module

COLLECT_AFTER = 50_000
"""Objects made before Python looks for circular garbage: hardly any of those that loading dbdyno's modules makes is."""


def start() -> None:
    """Load the commands and run the one that was typed; a signal before or after that is no traceback either."""
    gc.set_threshold(COLLECT_AFTER, 10, 10)
    # NumPy's algebra starts a thread for each processor as it is loaded. These spin for a while and do nothing.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        import_module("dbdyno.cli").main()
    except KeyboardInterrupt:
        print("dbdyno: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    start()
