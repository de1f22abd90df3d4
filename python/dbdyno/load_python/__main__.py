"""`python -m dbdyno.load_python run`: a plan on stdin, records on stdout (docs/contract.md)."""

import sys

from dbdyno.load_python.program import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
