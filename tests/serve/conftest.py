"""A folder of runs that is served, and a browser that looks at it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from dbdyno.serve.server import serving
from synthetic_run import BEGAN_UNIX_S, SYSTEMS, System, write_run

HOSTILE = System(
    system="mariadb?sql_mode=</script><script>document.title='taken'</script>",
    durability="D2",
    reason="<img src=x onerror=alert(2)>",
    base_us=900,
    peak_per_s=9_000,
    servers=(("mariadb", "10.11 <i>&amp;"),),
)
SQLITE, LMDB, MARIADB = SYSTEMS[:3]


def change(file: Path, **keys: object) -> None:
    """Change keys of a file with one JSON object."""
    file.write_text(json.dumps(json.loads(file.read_text()) | keys))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is half written; and three: the second repeats the first, the third is hostile and of another host."""
    runs = tmp_path_factory.mktemp("served") / "runs"
    (runs / "half").mkdir(parents=True)
    (runs / "half" / "run.json").write_text('{"format": 2, "trials": ["001')
    for name, day, systems in (("third", 2, (HOSTILE,)), ("first", 0, (SQLITE, LMDB)), ("second", 1, (SQLITE, LMDB))):
        run = write_run(runs / name, systems, clients=(1, 4), seconds=3, repeats=2)
        change(run / "run.json", started_unix_s=BEGAN_UNIX_S + 86_400 * day, experiment=f"{name}-experiment")
    change(runs / "third" / "environment.json", host="other-host")
    (runs / "secret.txt").write_text("not a run")
    return runs


@pytest.fixture
def running(tmp_path: Path) -> Path:
    """A run whose only trial goes on: its last line is half written."""
    run = write_run(tmp_path / "runs" / "now", (MARIADB,), clients=(4,), seconds=5, faults={("mariadb", 4): "killed"})
    (trial,) = run.glob("trials/*")
    change(trial / "trial.json", state="running")
    return run


class Site:
    """Pages that are served, and a way to ask for them as no browser would."""

    def __init__(self, address: str) -> None:
        self.address = address
        parts = urlsplit(address)
        self.host, self.token = parts.netloc, parts.query.partition("=")[2]
        self.cookie = f"dbdyno-{parts.port}={self.token}"

    def ask(self, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
        """Return the answer to one request, its body read into `text`."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        answer.text = answer.read().decode()  # type: ignore[attr-defined]
        connection.close()
        return answer

    def read(self, path: str) -> str:
        """Return a page, with the cookie."""
        answer = self.ask(path, Cookie=self.cookie)
        assert answer.status == 200, answer.text
        return answer.text


@pytest.fixture(scope="session")
def site(folder: Path) -> Iterator[Site]:
    """The three runs, served."""
    with serving(folder, "127.0.0.1", 0) as address:
        yield Site(address)
