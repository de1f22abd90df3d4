"""`dbdyno worker`; tests/hosts/test_crew.py has workers that join runs."""

import pytest

from dbdyno.cli.program import run


@pytest.mark.parametrize(
    ("address", "name", "more", "why"),
    [
        ("tcp://10.0.0.1:8786", "c1", [], "hosts speak TLS only"),
        ("tls://10.0.0.1:8786", "conductor", [], "is not a host name"),
        ("tls://10.0.0.1:8786", "c1", [], "dbdyno hosts init"),
        ("tls://10.0.0.1:8786", "c1", ["--source-address", "192.0.2.7"], "192.0.2.7 is no address of this host"),
        ("tls://10.0.0.1:8786", "c1", ["--source-address", "c1.lan"], "c1.lan"),
    ],
)
def test_what_is_wrong_is_said_before_it_serves(tmp_path, capsys, fake_load, address, name, more, why):
    assert run(["worker", address, "--name", name, "--certificates", str(tmp_path), *more]) == 2
    assert why in capsys.readouterr().err
