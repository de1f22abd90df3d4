"""Random gets through pymongo, one after the other: `python -m benches.pymongo_gets PORT ROWS SECONDS`.

Prints gets, seconds, and the user and system CPU of the loop alone: starting Python and loading pymongo take longer
than a thousand gets, and are no part of a get.
"""

import random
import resource
import sys
import time

import pymongo


def main(port: int, rows: int, seconds: float) -> None:
    """Find rows of dbdyno's table by their keys, and check that each is the one."""
    with pymongo.MongoClient("127.0.0.1", port, directConnection=True) as client:
        table, keys, gets = client["dbdyno"]["dbdyno_bm"], random.Random(1), 0
        table.find_one({"_id": 1})
        before, begun = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        while time.monotonic() < begun + seconds:
            key = keys.randint(1, rows)
            row = table.find_one({"_id": key})
            if row is None or row["_id"] != key:
                raise SystemExit(f"row {key} was requested, and {row} came")
            gets += 1
        used, wall_s = resource.getrusage(resource.RUSAGE_SELF), time.monotonic() - begun
    print(gets, wall_s, used.ru_utime - before.ru_utime, used.ru_stime - before.ru_stime)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
