"""Every shipped experiment on every store: which of them run, and why the others cannot.

`python -m benches.matrix FOLDER` runs each pair at small size, a second a trial, and prints tables of them.
FOLDER/matrix.jsonl keeps the finished pairs: a second call goes on after the last.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from dbdyno.cli.overrides import parse_set
from dbdyno.conduct.resolve import resolve
from dbdyno.errors import UserError
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.shipped_files import shipped_experiments
from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems import build

STORES = (
    *("mariadb", "mariadb?engine=MyISAM", "mariadb?engine=Aria", "mariadb?engine=RocksDB", "mariadb?engine=Mroonga"),
    *("mariadb?engine=Spider&spider_conn_recycle_mode=1", "mysql@5.6", "handlersocket", "galera?nodes=2"),
    *("postgresql", "redis", "valkey@9.1", "memcached", "sqlite", "lmdb", "rocksdb"),
    *(f"{cabinet}?type={kind}" for cabinet in ("tokyocabinet", "kyotocabinet", "tkrzw") for kind in ("hash", "tree")),
    "duckdb",
)
"""Those that `make test` has with CI=true."""
ARRANGED = {"result-cache": "result-cache(memcached*3?memory=64, {})"}
"""The store's position in the arrangement, for experiments about an arrangement."""
PARTS = {
    "dump-restore": (("options.tool=sql",), ("options.tool=sql", "options.workers=1")),
    "insert-indexes": (("options.indexes=0",),),
    "client-library": tuple(
        (f'client=["native", {libraries}]',) for libraries in ('"pymysql"', '"redis-py"', '"pymemcache"', '"pymongo"')
    ),
}
"""The variants to try of an experiment that a store cannot do in full: the first possible one."""
EMBEDDED_ALONE = "embedded-engines"
"""It is `point-get` and `game`, which are tried on the others anyway."""
MEANT = {
    "speaks to none": "to be driven through a client library for Python",
    "kills its store": "to be killed and started again by itself",
    "cannot start again from its data": "to be started again on what it kept",
    "does not copy": "its own tools for files (`tool = sql` can)",
    "copied by one worker": "several workers (`workers = 1` can)",
    "cannot wait for a cache": "to wait for a cache: it runs inside the load client",
    "divides the clients": "to be one server behind a cache",
}
"""Refusals that do not say what they need in these words, by what they do say."""
BRIEF = ("--scale", "small", "--clients", "4", "--seconds", "1", "--warmup", "0")
QUICK = ("--quiet", "--no-observe", "--set", "host=false", "--set", "ceiling=false")
DBDYNO = (sys.executable, "-m", "dbdyno")


def why_not(name: str, store: str, settings: tuple[str, ...]) -> str | None:
    """Return why an experiment cannot be run on a store, in dbdyno's words, or None if it can."""
    overrides = {"system": [store], "scale": "small", **dict(map(parse_set, settings))}
    try:
        skipped = resolve(read_experiment(name, overrides).experiment).skipped
    except UserError as error:
        return in_short(str(error), store)
    return skipped[0][1] if skipped else None


def in_short(message: str, store: str) -> str:
    """Return a refusal without the store's name, which the table has, and without what to do instead."""
    if needs := re.search(r"needs (to .*?), which ", message):
        return needs[1]
    for sign, words in MEANT.items():
        if sign in message:
            return words
    bare = store.partition("?")[0]
    message = message.rpartition(f"{bare}: ")[2].replace(f"'{bare}'", "it").replace(f"'{store}'", "it")
    return message.partition("; ")[0]


def run(name: str, store: str, settings: tuple[str, ...], folder: Path) -> dict[str, Any]:
    """Run an experiment on a store; returns what became of it, counted over all trials."""
    given = [part for trial in settings for part in ("--set", trial)]
    began = time.monotonic()
    done = subprocess.run(
        [*DBDYNO, "run", name, *BRIEF, *QUICK, *given, "--system", store, "--out", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    took_s, said = round(time.monotonic() - began, 1), done.stderr.strip()
    if done.returncode == 2:
        return {"refused": in_short(said.removeprefix("dbdyno: "), store), "seconds": took_s}
    newest = max(folder.glob(f"*-{name}*/run.json"), key=lambda path: path.stat().st_mtime).parent
    summary = subprocess.run([*DBDYNO, "show", newest, "--json"], capture_output=True, text=True, check=True).stdout
    trials = json.loads(summary)["trials"]
    checks = [check for trial in trials for check in trial["checks"] or ()]
    copying = name == "dump-restore"
    return {
        "problem": said
        or next((f"{trial['trial']}: nothing" for trial in trials if not trial["transactions"] + copying), None),
        "seconds": took_s,
        "trials": len(trials),
        "checks": len(checks),
        "verified": sum(trial["reads_verified"] or 0 for trial in trials),
        "run": newest.name,
    }


def decide(name: str, store: str, folder: Path) -> dict[str, Any]:
    """Run what of an experiment a store can do, all of it or a part, and return what became of it."""
    placed, reason = ARRANGED.get(name, "{}").format(store), None
    if name == EMBEDDED_ALONE and not build(parse_system(store)).embedded:
        return {"refused": "to be embedded"}
    for settings in ((), *PARTS.get(name, ())):
        refused = why_not(name, placed, settings)
        if not refused:
            return {"part": " ".join(settings), "reason": reason, **run(name, placed, settings, folder)}
        reason = reason or refused
    return {"refused": reason}


def known(record: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what was done before, by experiment and store."""
    lines = record.read_text().splitlines() if record.exists() else []
    return {(result["experiment"], result["store"]): result for result in map(json.loads, lines)}


def print_tables(done: dict[tuple[str, str], dict[str, Any]], columns: int = 8) -> None:
    """Print Markdown: stores against experiments, the reasons, and what was counted."""
    names, letters = list(dict.fromkeys(name for name, _ in done)), {}
    for first in range(0, len(names), columns):
        some = names[first : first + columns]
        print("\n| |" + "".join(f" `{name}` |" for name in some), "|---" * (len(some) + 1) + "|", sep="\n")
        for store in STORES:
            cells = [_cell(done[name, store], letters) if (name, store) in done else "" for name in some]
            print(f"| `{store}` | {' | '.join(cells)} |")
    print("\nA letter is what the experiment needs and the store cannot do:\n")
    print(*(f"- {letter}: {reason}" for reason, letter in letters.items()), sep="\n")
    print(
        "\n| | stores | trials | checks after | rows read and verified | seconds a store |",
        "|---|---:|---:|---:|---:|---:|",
        sep="\n",
    )
    for name in names:
        ran = [result for (of, _), result in done.items() if of == name and "trials" in result]
        totals = [f"{sum(result[key] for result in ran):,}" for key in ("trials", "checks", "verified")]
        middle = sorted(result["seconds"] for result in ran)[len(ran) // 2] if ran else 0
        print(f"| `{name}` | {len(ran)} | {' | '.join(totals)} | {middle:.0f} |")


def _cell(result: dict[str, Any], letters: dict[str, str]) -> str:
    """Return what a table says of one pair; letters: those that reasons have, which grows."""
    if result.get("problem"):
        return f"**{result['problem']}**"
    reason = result.get("refused") or result.get("reason")
    letter = letters.setdefault(reason, _letter(len(letters))) if reason else ""
    return " ".join(filter(None, ("" if "refused" in result else "ok", letter)))


def _letter(number: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[number % 26] * (number // 26 + 1)


def main(folder: Path, names: list[str]) -> None:
    """Run what is not yet known of `names`, or of all, and print the tables of all that is."""
    record = folder / "matrix.jsonl"
    done = known(record)
    for name in names or shipped_experiments():
        for store in STORES:
            if (name, store) not in done:
                done[name, store] = {"experiment": name, "store": store, **decide(name, store, folder)}
                with record.open("a") as lines:
                    print(json.dumps(done[name, store]), file=lines)
                print(name, store, done[name, store], file=sys.stderr)
    print_tables(done)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
