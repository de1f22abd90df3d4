"""The report again, from the folder alone."""

from pathlib import Path


def test_a_report_is_written_again(finished):
    (report,) = Path("runs").glob("*/report.html")
    written = report.read_bytes()
    report.unlink()
    status, out, _ = finished("report", "last")
    assert status == 0 and out == f"{report}\n"
    assert report.read_bytes() == written
