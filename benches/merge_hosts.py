"""Merges the records of a trial's hosts, as the conductor does, and prints what it took (for `benches.hosts`)."""

import json
import os
import resource
import sys
import time
from pathlib import Path

from dbdyno.results.merge_files import merge_files


def main() -> None:
    """Merge the files of the folder that is named, and print seconds and megabytes as JSON."""
    folder = Path(sys.argv[1])
    files = sorted(folder.glob("*.jsonl"))
    begun_s = time.monotonic()
    records = list(merge_files(files, [0.0] * len(files), folder))
    seconds = time.monotonic() - begun_s
    own_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # The kernel tells the largest of the children; so each may have been as large.
    all_kib = own_kib + len(os.sched_getaffinity(0)) * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(json.dumps({"seconds": seconds, "peak_mb": all_kib * 1024 / 1e6, "records": len(records)}))


if __name__ == "__main__":
    main()
