"""The table, the sentence and the plots of copies."""

from io import StringIO

from rich.console import Console

from dbdyno.report.core.series import series_of
from dbdyno.report.sections.copies import by_store, copied, figures, print_copies, rows, sentence


def step(seconds, server_cpu_s=0.5):
    per_s = {"rows_per_s": 1000 / seconds, "bytes_per_s": 2e6 / seconds}
    return {"seconds": seconds, "tool_cpu_s": 0.25, "server_cpu_s": server_cpu_s} | per_s


def trial(label, tool, workers, dump_s=1.0, restore_s=2.0, state="complete", identical=True, **copy):
    copy = {"tool": tool, "workers": workers, "rows": 1000, "dump_bytes": 2_000_000, "identical": identical} | copy
    about = {"label": label, "system": label, "workload": f"dump-restore?tool={tool}&workers={workers}"}
    about |= {"state": state, "pipeline": 1, "durability": "D2", "durability_reason": "", "operations": {}}
    return about | {"copy": {"dump": step(dump_s), "restore": step(restore_s)} | copy}


def test_only_trials_that_copied_are_shown():
    copying = trial("a", "sql", 1)
    assert copied([copying, {"label": "b", "copy": None}, {"label": "c"}]) == [copying]


def test_dump_and_restore_have_a_row_each():
    assert rows([trial("a", "sql", 2)]) == [
        ["a", "sql", "2", "dump", "1.00", "1000", "2.00", "0.25", "0.5", ""],
        ["", "", "", "restore", "2.00", "500", "1.00", "0.25", "0.5", "yes"],
    ]


def test_of_repetitions_the_median_is_shown():
    same = [trial("a", "sql", 1, dump_s=seconds) for seconds in (4.0, 1.0, 2.0)]
    assert [row[4] for row in rows(same)] == ["2.00", "2.00"]


def test_a_copy_that_differs_or_did_not_end_is_seen():
    cut = trial("a", "sql", 1, state="failed", identical=None, restore=None)
    wrong = trial("b", "sql", 1, state="failed", identical=False)
    table = rows([cut, wrong, trial("b", "sql", 1)])
    assert table[1] == ["", "", "", "restore", "–", "–", "–", "–", "–", "–"]
    assert table[3][-1] == "NO"
    assert sentence([cut, wrong]).startswith("No copy was completed")
    assert figures(series_of({"trials": [cut, wrong]})) == {}


def test_an_embedded_store_has_no_server():
    embedded = trial("a", "sql", 1, dump=step(1.0, None), restore=step(1.0, None))
    assert [row[8] for row in rows([embedded])] == ["–", "–"]


def test_the_sentence_names_the_most_rows_of_each_step():
    said = sentence([trial("a", "sql", 1, 0.5, 4.0), trial("b", "files", 2, 1.0, 2.0)])
    assert said == (
        "Fastest dump: 2,000 rows/s, a by sql with 1 worker. "
        "Fastest restore: 500 rows/s, b by files with 2 workers. This is one observation, not a ranking."
    )


def test_of_repetitions_the_sentence_has_medians():
    same = [trial("a", "sql", 1, dump_s=seconds) for seconds in (4.0, 1.0, 2.0)]
    assert sentence(same).endswith("Each is the median of 3 copies, not a ranking.")
    assert sentence(same).startswith("Fastest dump: 500 rows/s")


def test_each_system_has_its_own_fastest_tool():
    first, *others = by_store([trial("a", "sql", 1, 0.5, 4.0), trial("b", "sql", 1, 5.0), trial("a", "files", 2)])
    assert first == (
        "Fastest dump: 2,000 rows/s, a by sql with 1 worker. Fastest restore: 500 rows/s, a by files with 2 workers."
    )
    assert len(others) == 1 and others[0].startswith("Fastest dump: 200 rows/s, b by sql")
    (repeated,) = by_store([trial("a", "sql", 1, dump_s=seconds) for seconds in (4.0, 1.0, 2.0)])
    assert repeated.startswith("Fastest dump: 500 rows/s (250 to 1,000), a by sql with 1 worker.")


def test_it_fits_a_terminal():
    out = StringIO()
    print_copies([trial("postgresql", "mydumper", 16)], Console(file=out, width=80))
    line = next(line for line in out.getvalue().splitlines() if "mydumper" in line)
    assert line.split()[:4] == ["postgresql", "mydumper", "16", "dump"] and "…" not in line


def test_lines_join_the_workers_of_a_tool():
    trials = [trial("a", tool, workers, dump_s=1 / workers) for tool in ("sql", "files") for workers in (1, 4, 2)]
    drawn = figures(series_of({"trials": trials}))
    assert drawn.keys() == {"copy-dump", "copy-restore"}
    first, second = drawn["copy-dump"]["data"]
    assert (first["name"], first["x"], first["y"]) == ("a, sql", [1, 2, 4], [1000, 2000, 4000])
    assert second["name"] == "a, files" and first["line"] != second["line"]
    assert drawn["copy-dump"]["layout"]["xaxis"]["tickvals"] == [1, 2, 4]


def test_of_another_run_there_is_no_plot():
    assert figures([]) == {}
