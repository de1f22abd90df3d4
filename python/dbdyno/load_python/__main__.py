"""`python -m dbdyno.load_python run`: a plan on stdin, records on stdout (docs/contract.md)."""

import os
import sys

from dbdyno.load_python.program import main

if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    # Threads of a library that a server has confused would keep the process.
    os._exit(status)
