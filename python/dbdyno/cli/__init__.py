"""The command line, from the first moment on: no password may be in it."""

import sys
from importlib import import_module

from dbdyno.experiment.redact import holds_password

REFUSED = (
    "dbdyno: process lists show a password on the command line before dbdyno can hide it. Write '***' instead, and set "
    "DBDYNO_PASSWORD, or DBDYNO_PASSWORD_FILE to a file that only you can read. An experiment file may have the URL."
)


def main() -> None:
    """Run the command that was typed and end with its status; a password in it ends it before anything is loaded.

    The kernel shows a command line from the moment a program begins, which is before any of its instructions.
    """
    if any(map(holds_password, sys.argv)):
        print(REFUSED, file=sys.stderr)
        sys.exit(2)
    import_module("dbdyno.cli.program").main()
