"""Two sides of made-up runs: the verdicts, who may not win, and that no percentage stands without its interval."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from dbdyno.errors import UserError
from dbdyno.report.cells import sides_of_run, sides_of_runs
from dbdyno.report.comparison import compare_sides, comparison_document, print_comparison
from dbdyno.results.conclusions import Conclusions
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run

MARIADB = SYSTEMS[2]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same system twice, and once with a tenth more of service time; five repetitions each."""
    parent = tmp_path_factory.mktemp("runs")
    slower = replace(MARIADB, base_us=MARIADB.base_us * 1.1, peak_per_s=MARIADB.peak_per_s / 1.1)
    systems = {"before": MARIADB, "after": MARIADB, "slower": slower}
    return {
        name: read_run(write_run(parent / name, (system,), clients=(1, 2), seconds=3, repeats=5))
        for name, system in systems.items()
    }


def verdicts(sides, margin=0.02, noise=0.0, force=False):
    return compare_sides(sides, margin, noise, force)


def printed(comparison, width=80):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    print_comparison(comparison, console)
    return console.file.getvalue()


def with_trials(run, change):
    return replace(run, trials=tuple(change(trial) for trial in run.trials))


def test_a_slower_run_is_slower_in_every_cell(runs):
    comparison = verdicts(sides_of_runs(runs["before"], runs["slower"]))
    assert [(cell.cell.clients, cell.verdict) for cell in comparison.cells] == [(1, "slower"), (2, "slower")]
    for cell in comparison.cells:
        assert cell.comparison.low < 1 / 1.1 < cell.comparison.high and cell.comparison.pairs == 5
    back = verdicts(sides_of_runs(runs["slower"], runs["before"]))
    assert {cell.verdict for cell in back.cells} == {"faster"}


def test_the_document_is_json_and_agrees_with_itself(runs):
    comparison = verdicts(sides_of_runs(runs["before"], runs["slower"]))
    document = json.loads(json.dumps(comparison_document(comparison), allow_nan=False))
    cell = document["cells"][0]
    ratio = cell["candidate"]["throughput_per_s"] / cell["baseline"]["throughput_per_s"]
    assert ratio == pytest.approx(cell["ratio"]) and cell["low"] < ratio < cell["high"]
    assert (cell["workload"], cell["rows"], cell["margin"], cell["p_sign_flip"]) == ("game", 20_000, 0.02, 2 / 32)
    assert document["sentence"] == "2 cells: 2 slower (margin ±2 %)."
    assert "one after the other" in document["cautions"][0]


def test_the_margin_makes_equivalence(runs):
    comparison = verdicts(sides_of_runs(runs["before"], runs["slower"]), margin=0.5)
    assert {cell.verdict for cell in comparison.cells} == {"equivalent"}
    assert "~ equivalent" in printed(comparison)
    noisy = verdicts(sides_of_runs(runs["before"], runs["slower"]), noise=0.5)
    assert {cell.comparison.margin for cell in noisy.cells} == {0.5}


def test_a_winner_that_holms_correction_takes_back_is_explained(runs):
    def scaled(trial, share):
        steady = replace(trial.recorded.steady, steady=True, mean_per_s=1000 * share)
        return replace(trial, recorded=replace(trial.recorded, steady=steady))

    shares = (1.005, 1.03, 1.06, 1.08, 1.11)
    even = with_trials(runs["before"], lambda trial: scaled(trial, 1))
    uneven = with_trials(runs["after"], lambda trial: scaled(trial, shares[trial.about["repeat"] - 1]))
    comparison = verdicts(sides_of_runs(even, uneven))
    assert all(cell.comparison.low > 1 and cell.verdict == "inconclusive" for cell in comparison.cells)
    assert "at 1 client may be chance (p = 0.069 after Holm)" in " ".join(comparison.cautions)


def test_one_trial_a_side_has_no_percentage_and_no_winner(tmp_path):
    run = read_run(write_run(tmp_path / "once", SYSTEMS[:2], clients=(1,)))
    comparison = verdicts(sides_of_run(run, None))
    assert comparison.cells[0].verdict == "one trial a side: no interval, no winner"
    assert comparison_document(comparison)["cells"][0]["low"] is None
    assert " % [" not in printed(comparison, 120) and "×" not in printed(comparison, 120)
    heading, row = (line.split() for line in printed(comparison).splitlines()[1:3])
    assert heading == ["load", "baseline/s", "candidate/s", "n", "verdict"]
    assert row[:2] == ["1", "client"] and row[-4:] == ["one", "trial", "a", "side"]
    assert "1 cell: 1 one trial a side: no interval, no winner" in printed(comparison)


def test_runs_that_are_not_like_with_like_are_refused_and_badged_by_force(runs):
    other = with_trials(runs["after"], lambda trial: replace(trial, about={**trial.about, "rows": 5}))
    sides = sides_of_runs(runs["before"], other)
    with pytest.raises(UserError, match=r"rows per table: 20000 against 5\. .*--force"):
        verdicts(sides)
    forced = verdicts(sides, force=True)
    assert len(forced.cells) == 2 and "rows per table" in forced.badges[0]
    assert "NOT LIKE WITH LIKE" in printed(forced)


def test_systems_of_one_run_carry_the_badge_of_their_durability(tmp_path):
    run = read_run(write_run(tmp_path / "mixed", SYSTEMS[:3], clients=(1,), repeats=2))
    comparison = verdicts(sides_of_run(run, None))
    assert comparison.badges == ("sqlite and mariadb: durability class: D1 against D2",)


def test_no_cell_in_common_is_refused(runs):
    other = with_trials(runs["after"], lambda trial: replace(trial, about={**trial.about, "clients": 99}))
    with pytest.raises(UserError, match="no cell in common"):
        verdicts(sides_of_runs(runs["before"], other))


BOUND = Conclusions(client_limited="its load threads were 99 % busy")


def limited_by_client(run):
    return with_trials(
        run, lambda trial: replace(trial, judged=Conclusions(client_limited="its load threads were 99 % busy"))
    )


def test_a_lower_bound_never_loses(runs):
    limited = limited_by_client(runs["slower"])
    for sides in (sides_of_runs(runs["before"], limited), sides_of_runs(limited, runs["before"])):
        comparison = verdicts(sides)
        assert {cell.verdict for cell in comparison.cells} == {"invalid"}
        assert "limited by the client" in comparison.cells[0].reason and "limited by the client" in printed(comparison)


def test_a_lower_bound_that_is_faster_all_the_same_wins_by_at_least_as_much(runs):
    limited = limited_by_client(runs["before"])
    comparison = verdicts(sides_of_runs(runs["slower"], limited))
    assert {(cell.verdict, cell.least) for cell in comparison.cells} == {("faster", True)}
    assert "≥ +" in printed(comparison) or "≥ ×" in printed(comparison)
    assert "so the difference is a lower bound" in " ".join(printed(comparison).split())
    assert all(cell["least"] for cell in comparison_document(comparison)["cells"])
    comparison = verdicts(sides_of_runs(limited, runs["slower"]))
    assert {(cell.verdict, cell.least) for cell in comparison.cells} == {("slower", True)}
    assert "≤ -" in printed(comparison)
    both = verdicts(sides_of_runs(limited, limited_by_client(runs["slower"])))
    assert {cell.verdict for cell in both.cells} == {"invalid"}


@pytest.mark.parametrize(("limited", "verdict"), [(0, "slower"), (2, "slower"), (3, "invalid"), (5, "invalid")])
def test_the_client_decides_a_side_if_it_limited_most_of_its_trials(runs, limited, verdict):
    def change(trial):
        return replace(trial, judged=BOUND) if trial.about["repeat"] <= limited else trial

    comparison = verdicts(sides_of_runs(runs["before"], with_trials(runs["slower"], change)))
    assert {cell.verdict for cell in comparison.cells} == {verdict}
    named = f"in {limited} of 5 trials, so its figure may be low" in " ".join(comparison.cautions)
    assert named is (limited == 2)


def test_failed_trials_are_none_of_those_that_the_client_limited(runs):
    def change(trial):
        if trial.about["repeat"] <= 2:
            return replace(trial, judged=BOUND)
        return replace(trial, state="failed", reason="it died") if trial.about["repeat"] == 3 else trial

    comparison = verdicts(sides_of_runs(runs["before"], with_trials(runs["slower"], change)))
    assert {cell.verdict for cell in comparison.cells} == {"slower"}
    assert "in 2 of 4 trials" in " ".join(comparison.cautions)


def fail_one(run):
    def change(trial):
        failed = trial.about["repeat"] == 3 and trial.about["clients"] == 1
        return replace(trial, state="failed", reason="it died") if failed else trial

    return with_trials(run, change)


def test_a_side_with_a_failed_trial_does_not_win_by_the_others(runs):
    faster, slower = fail_one(runs["before"]), runs["slower"]
    failed, other = verdicts(sides_of_runs(slower, faster)).cells
    assert (failed.verdict, failed.comparison.pairs, other.verdict) == ("invalid", 4, "faster")
    assert "cannot win by the others" in failed.reason and "it died" in failed.left_out[0]


def test_a_side_with_a_failed_trial_can_lose(runs):
    failed, _ = verdicts(sides_of_runs(runs["before"], fail_one(runs["slower"]))).cells
    assert (failed.verdict, failed.comparison.pairs, len(failed.left_out)) == ("slower", 4, 1)


def test_nothing_usable_is_invalid_not_an_error(runs):
    dead = with_trials(runs["after"], lambda trial: replace(trial, state="failed", reason="it died"))
    comparison = verdicts(sides_of_runs(runs["before"], dead))
    assert {(cell.verdict, cell.reason) for cell in comparison.cells} == {("invalid", "no pair of trials can be used")}
    assert comparison_document(comparison)["cells"][0]["ratio"] is None and "invalid" in printed(comparison)


def test_an_open_loop_has_no_faster(runs):
    rate = {"per_s": 100, "words": "100/s"}
    asked = [
        with_trials(runs[name], lambda t: replace(t, about={**t.about, "rate": rate})) for name in ("before", "slower")
    ]
    comparison = verdicts(sides_of_runs(*asked))
    assert {cell.verdict for cell in comparison.cells} == {"invalid"} and "open loop" in comparison.cells[0].reason


def test_the_workload_is_named_once_or_in_every_row(runs):
    game = sides_of_runs(runs["before"], runs["slower"])
    assert "D2 / D2  game\n" in printed(verdicts(game))
    both = [
        replace(
            run, trials=run.trials + with_trials(run, lambda t: replace(t, about={**t.about, "workload": "x"})).trials
        )
        for run in (runs["before"], runs["slower"])
    ]
    rows = printed(verdicts(sides_of_runs(*both)), 120).splitlines()
    assert [row.split()[0] for row in rows[1:6]] == ["workload", "game", "game", "x", "x"]


@pytest.mark.parametrize("width", [80, 100])
def test_the_table_fits(runs, width):
    text = printed(verdicts(sides_of_runs(runs["before"], runs["slower"])), width)
    assert max(map(len, text.splitlines())) <= width and "…" not in text
    assert " % [-" in text and text.rstrip().endswith("2 cells: 2 slower (margin ±2 %).")


def test_trials_without_a_steady_state_are_said(tmp_path):
    faults = {("mariadb", 4): "stall"}
    run = read_run(write_run(tmp_path / "run", (MARIADB,), clients=(4,), seconds=40, repeats=2, faults=faults))
    unsteady = replace(run.trials[0].recorded.steady, steady=False, kind="drifting")

    def drift(trial):
        return replace(trial, recorded=replace(trial.recorded, steady=unsteady))

    drifting = replace(run, trials=(drift(run.trials[0]), *run.trials[1:]))
    comparison = verdicts(sides_of_runs(run, drifting))
    assert "mariadb after at 4 clients had no steady state in 1 of 2 trials (drifting)" in comparison.cautions
    assert not [text for text in comparison.cautions if "mariadb before at" in text]


def test_sides_that_began_in_another_state_are_said(runs):
    cold = with_trials(runs["after"], lambda trial: replace(trial, about={**trial.about, "cache_state": "lukewarm"}))
    comparison = verdicts(sides_of_runs(runs["before"], cold))
    assert 'not alike in cache state: "hot" against "lukewarm"' in comparison.cautions


def test_evenness_stands_with_the_means_it_belongs_to(runs):
    comparison = verdicts(sides_of_runs(runs["before"], runs["slower"]))
    uneven = replace(comparison, cells=(stalled(comparison.cells[0]), *comparison.cells[1:]))
    said = comparison_document(uneven)["cells"][0]["candidate"]["stability"]
    assert said["longest_without_completion_s"] == 2 and said["floor"] is None
    assert "game, 1 client: longest stall – / 2 s" in printed(uneven, 120)


def stalled(cell):
    """The cell with a candidate of which one trial stalled for two of its three seconds."""
    first, *rest = cell.trials[1]
    still = [interval._replace(completed=0) for interval in first.recorded.intervals[:-1]]
    recorded = replace(first.recorded, intervals=(*still, first.recorded.intervals[-1]))
    return replace(cell, trials=(cell.trials[0], (replace(first, recorded=recorded), *rest)))
