"""`python -m dbdyno.load_sysbench run`: a plan on stdin, records on stdout (docs/contract.md)."""

import sys

from dbdyno.load_sysbench.program import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
