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
    "network": {"idle_round_trip_us": 120.0, "round_trip_us": 2500.0, "retransmits": 1200.0},
    "problem": None,
}
SERVER = {key: value for key, value in HOST.items() if key not in ("clients", "start_skew_s")}
SERVER |= {"name": "s1", "role": "server"}
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
