"""`dbdyno run --metrics`: a run that is scraped while it runs, and the errors for wrong endpoints."""

import socket
import threading
from pathlib import Path
from urllib.request import urlopen

import pytest

from helpers import wait_until

RUN = ("run", "game", "--system", "fake", "--clients", "1", "--seconds", "1", "--rows", "10")


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def test_a_run_is_scraped_while_it_runs(dbdyno, fake_load, fake_system, port, tmp_path):
    scrapes, go_on = [], tmp_path / "go-on"
    fake_load(await_file=str(go_on))

    def scrape():
        try:
            with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
                scrapes.append(answer.read().decode())
        except OSError:
            return False  # The run has not begun yet.
        return 'dbdyno_transactions_total{clients="1",experiment="game"' in scrapes[-1]

    def scrape_and_let_go_on():
        try:
            wait_until(scrape)
        finally:
            go_on.touch()

    thread = threading.Thread(target=scrape_and_let_go_on)
    thread.start()
    status, out, err = dbdyno(*RUN, "--metrics", f"prometheus:{port}")
    thread.join()
    (run,) = Path("runs").iterdir()
    assert (status, err) == (0, "") and f"Metrics: http://127.0.0.1:{port}/metrics" in out
    assert f'run="{run.name}"' in scrapes[-1] and 'system="fake"' in scrapes[-1]
    assert "[1/1]" in out


@pytest.mark.parametrize(
    ("endpoint", "says"),
    [("statsd:8125", "--metrics statsd:8125: give prometheus"), ("otlp:http://127.0.0.1:9", "takes no metrics")],
)
def test_an_endpoint_that_cannot_be_is_refused_before_anything_runs(dbdyno, fake_load, fake_system, endpoint, says):
    status, out, err = dbdyno(*RUN, "--metrics", endpoint)
    assert (status, out) == (2, "") and says in err and len(err.splitlines()) <= 2
    assert not Path("runs").exists()
