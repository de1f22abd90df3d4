"""The facts of each other host, as `trial.json` has them."""

from pathlib import Path

from dbdyno.conduct.host_facts import Seen, describe_client, describe_host, describe_link
from dbdyno.hosts.clocks import Reading
from dbdyno.hosts.crew import Member
from dbdyno.hosts.links import Links, Rates
from dbdyno.hosts.network import RECEIVED, RETRANSMITS, SENT, round_trip_to
from dbdyno.hosts.slices import Slice
from dbdyno.hosts.trial import Part
from dbdyno.results.samples import AT

MEMBER = Member("c1", "client-1", "10.0.0.2", 9000, 4, machine="m")
BEFORE, AFTER = Reading(3.0, 0.001, 10.0), Reading(3.25, 0.001, 20.0)
NOTHING = Seen(rows=[], load_threads=None, transactions_per_s=None, servers=["s1"])


def test_the_drift_of_a_clock_needs_both_readings():
    known = describe_host(MEMBER, "client", BEFORE, AFTER)
    assert (known["name"], known["processors"], known["machine"], known["drift_s"]) == ("c1", 4, "m", 0.25)
    assert known["clock_before"] == {"offset_s": 3.0, "error_s": 0.001}
    cut_off = describe_host(MEMBER, "client", BEFORE, None)
    assert cut_off["clock_after"] is None and cut_off["drift_s"] is None


def test_a_client_host_has_its_slice_its_skew_and_each_path():
    part = Part(MEMBER, Slice("c1", 8, 4), {}, Path(), BEFORE, AFTER, begun_unix_s=100.0005)
    rows = [
        {AT: at_s, SENT: 0.0, RECEIVED: 0.0, RETRANSMITS: 0.0, round_trip_to("s1"): 0.0002} for at_s in (99.0, 101.0)
    ]
    seen = Seen(rows, load_threads=2, transactions_per_s=1234.56, servers=["s1"])
    links = Links({("c1", "s1"): Rates(1e9, 5e8), ("c2", "s1"): Rates(7.0, 7.0)})
    client = describe_client(part, 100.0, seen, links)
    assert client["clients"] == {"first": 8, "count": 4} and client["transactions_per_s"] == 1234.6
    assert client["start_skew_s"] == 0.0005
    (path,) = client["network"]["paths"]
    assert path["server"] == "s1" and path["capacity"] == describe_link(Rates(1e9, 5e8))
    assert client["link"] == {"sends_bytes_per_s": 1e9, "receives_bytes_per_s": 5e8}


def test_a_host_that_was_lost_before_the_start_has_no_skew_and_no_network():
    part = Part(MEMBER, Slice("c1", 0, 4), {}, Path(), BEFORE, problem="the host is gone", lost=True)
    client = describe_client(part, None, NOTHING, Links())
    assert (client["start_skew_s"], client["network"], client["lost"]) == (None, None, True)
    assert client["link"] == describe_link(Rates()) and client["problem"] == "the host is gone"
