"""Each host that issued load has a row, a lost one too, and so has the server's."""

import re

from dbdyno.report.core.page import Page
from dbdyno.report.core.templating import templates
from dbdyno.report.sections.client_hosts import SECTION, part

HOST = {
    "name": "c1",
    "hostname": "client-1",
    "clients": {"first": 0, "count": 8},
    "clock_before": {"offset_s": 10800.0000123, "error_s": 0.00025},
    "drift_s": -0.0001,
    "start_skew_s": 0.0000038,
    "network": {
        "idle_round_trip_us": 120.0,
        "round_trip_us": 2500.0,
        "retransmits": 1200.0,
        "sent_bytes_per_s": 11.4e6,
        "received_bytes_per_s": None,
    },
    "transactions_per_s": 12345.6,
    "link": {"sends_bytes_per_s": 12.0e6, "receives_bytes_per_s": 118.0e6},
    "problem": None,
}
SERVER = {key: value for key, value in HOST.items() if key not in ("clients", "start_skew_s", "transactions_per_s")}
SERVER |= {"name": "s1", "role": "server", "servers": ["mariadb"]}
LOST = HOST | {
    "name": "c2",
    "network": None,
    "clock_before": None,
    "drift_s": None,
    "start_skew_s": None,
    "problem": "lost: <silent>",
}


def test_without_other_hosts_there_is_no_section(run_document):
    assert part(Page(run_document)) is None


def test_every_host_has_a_row_with_its_clock(run_document):
    trial = run_document["trials"][0] | {"hosts": [HOST, LOST, SERVER]}
    content = part(Page(run_document | {"trials": [trial]})).content
    lasting, lost, server = content["client_hosts"]
    assert (lasting["role"], lasting["clients"]) == ("client", 8)
    assert (server["role"], server["clients"], server["skew"]) == ("server", "–", "–")
    assert (lasting["per_s"], lasting["servers"], server["per_s"], server["servers"]) == ("12,346", "–", "–", "mariadb")
    assert (lasting["sent"], lasting["received"]) == ("11.4 of 12.0", "– of 118.0")
    assert (server["sent"], lost["sent"]) == ("– of 12.0", "– of 12.0")
    assert (lasting["offset"], lasting["error"], lasting["drift"], lasting["skew"]) == (
        "+10,800.000012",
        "0.250",
        "-0.100",
        "0.004",
    )
    assert (lasting["idle_round_trip"], lasting["round_trip"], lasting["retransmits"]) == ("0.120", "2.500", "1,200")
    assert (lost["idle_round_trip"], lost["round_trip"], lost["retransmits"]) == ("–", "–", "–")
    assert (lost["offset"], lost["problem"]) == ("–", "lost: <silent>")
    drawn = templates().get_template(SECTION.template).render(**content)
    assert len(re.findall("<tr>", drawn)) == 4 and "lost: &lt;silent&gt;" in drawn
