"""`python -m dbdyno`: the same as the command `dbdyno`."""

from dbdyno.cli import main

if __name__ == "__main__":
    main()
