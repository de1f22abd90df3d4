"""`python -m dbdyno`, and all that the command `dbdyno` does."""

import sys
from importlib import import_module


def start() -> None:
    """Load the commands and run the one that was typed; a signal before or after that is no traceback either."""
    try:
        import_module("dbdyno.cli").main()
    except KeyboardInterrupt:
        print("dbdyno: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    start()
