"""Judge the promise of a durability class by the acknowledged writes that a store has after a crash."""

from dbdyno.results.json_types import ReadBackStated

KEPT, BROKEN, NONE = "kept", "broken", "nothing promised"


def judge_promise(level: str, together: bool, read_back: ReadBackStated) -> tuple[str, str]:
    """Return whether a promise was kept, and a sentence for a person.

    level: the durability class (docs/statistics.md, section 7). D2 loses nothing that was acknowledged. D1 is flushed
    when the store chooses: it may lose the last writes, and rows that were loaded shortly before. The sentence says how
    many, and how far back. D0 promises nothing.
    together: the rows of a pair were written in one transaction, so that one without the other is half of it.
    read_back: a record `read_back` (docs/contract.md).
    """
    verdict, sentence = _judge(level, together, read_back)
    if repaired := read_back.get("repaired"):
        sentence += f"; it started only after `{repaired['command']}`"
    return verdict, sentence


def _judge(level: str, together: bool, read_back: ReadBackStated) -> tuple[str, str]:
    halves = read_back["half_applied"] if together else 0
    wrong = {
        "acknowledged writes missing": read_back["missing"] if level == "D2" else 0,
        "rows gone that were there before": read_back["gone"] if level == "D2" else 0,
        "transactions half applied": halves,
        "rows damaged": read_back["damaged"],
    }
    if level not in ("D1", "D2"):
        return NONE, f"promised nothing ({level}): {_missing(read_back)}"
    if broken := [f"{count:,} {what}" for what, count in wrong.items() if count]:
        return (
            BROKEN,
            f"BROKE its promise ({level}): {', '.join(broken)}, of {read_back['acknowledged']:,} acknowledged",
        )
    return KEPT, f"kept its promise ({level}): {_missing(read_back)}"


def _missing(read_back: ReadBackStated) -> str:
    gone = f", and {read_back['gone']:,} rows that were there before the load are gone" if read_back["gone"] else ""
    if not read_back["missing"]:
        return f"none of {read_back['acknowledged']:,} acknowledged writes is missing{gone}"
    least = "at least " if read_back["lost_back_is_least"] else ""
    since = f"back to {least}{read_back['lost_back_s']:.2f} s before the last one"
    return f"{read_back['missing']:,} of {read_back['acknowledged']:,} acknowledged writes are missing, {since}{gone}"
