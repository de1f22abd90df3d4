"""The report again, from the folder alone."""

from pathlib import Path


def test_a_report_is_written_again(finished):
    (report,) = Path("runs").glob("*/report.html")
    written = report.read_bytes()
    report.unlink()
    status, out, _ = finished("report", "last")
    assert status == 0 and out == f"{report}\n"
    assert report.read_bytes() == written


def test_markdown_is_printed_and_writes_nothing(finished):
    (report,) = Path("runs").glob("*/report.html")
    written = report.stat().st_mtime_ns
    status, out, _ = finished("report", "last", "--format", "markdown")
    assert status == 0 and out.startswith("### ") and "| system |" in out and "```sh" in out
    assert report.stat().st_mtime_ns == written


def test_plots_are_not_drawn_for_markdown(finished):
    status, _, err = finished("report", "last", "--format", "markdown", "--plots", "plots")
    assert status == 2 and "leave out --format markdown" in err and not Path("plots").exists()
