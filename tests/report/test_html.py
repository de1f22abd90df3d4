"""The page is whole, needs no network, and lets nothing out of the run's strings become mark-up or code."""

import json
import re
from base64 import b64decode
from gzip import decompress
from html.parser import HTMLParser

import pytest

from dbdyno.errors import RunFailed
from dbdyno.report.core.page import PERCENTILES
from dbdyno.report.headline import headline
from dbdyno.report.html import (
    counted,
    environment_of_templates,
    flame_graphs,
    packed,
    render,
    rendered,
    without_names,
    write_report,
)


def unpacked(part):
    return json.loads(decompress(b64decode(part)))


@pytest.fixture(scope="module")
def page(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(run, path)
    return path.read_text()


class _Reader(HTMLParser):
    """Collects elements with their attributes, and the text of scripts and headings."""

    def __init__(self):
        super().__init__()
        self.elements, self.text, self._within = [], {"script": [], "h2": []}, None

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in self.text:
            self._within = tag
            self.text[tag].append("")

    def handle_endtag(self, tag):
        self._within = None if tag == self._within else self._within

    def handle_data(self, data):
        if self._within:
            self.text[self._within][-1] += data


@pytest.fixture(scope="module")
def read(page):
    reader = _Reader()
    reader.feed(page)
    return reader


def test_its_sections_stand_in_their_order(read):
    wanted = [
        "What would be unfair to conclude",
        "Each system at its best load",
        "Throughput at every number of clients",
        "Not measured, or not to its end",
        "Throughput against clients",
        "Latency against clients",
        "Over time",
        "Cost per transaction",
        "Stalls",
        "Fairness card",
        "How to repeat it",
        "Every trial",
        "Latency of each operation",
        "Settings and versions",
        "Environment",
        "Checks",
    ]
    assert [" ".join(heading.split()) for heading in read.text["h2"]] == wanted


def test_the_sentence_comes_before_everything_else(page):
    places = [page.index(part) for part in ('class="headline"', 'class="limits"', "would be unfair", "<table", "plot")]
    assert page.index("lmdb was fastest: ") < places[1] and places[0] < places[1] < places[2] < places[3]


def test_nothing_is_loaded_from_elsewhere(read):
    for tag, attributes in read.elements:
        assert tag not in ("link", "iframe", "img", "object", "embed", "base")
        assert "src" not in attributes and attributes.get("href", "#").startswith("#")
    policy = next(attributes["content"] for _, attributes in read.elements if attributes.get("http-equiv"))
    assert policy.startswith("default-src 'none'") and "http" not in policy


def test_strings_of_the_run_stay_strings(page, read):
    assert not any(name.startswith("on") for _, attributes in read.elements for name in attributes)
    assert "<img src=x" not in page and "&lt;img src=x" in page
    assert "alert(1)</script>" not in page
    data, *parts, theme, plotly, script = read.text["script"]
    assert "figures" in unpacked(data) and all(map(unpacked, parts))
    assert "dataset.theme" in theme and "IntersectionObserver" in script
    assert b"Plotly" in decompress(b64decode(plotly))


def test_a_page_is_small(page):
    parts = sum(len(part) for part in re.findall(r'<script type="application/gzip"[^>]*>([^<]*)', page))
    assert len(page) < 1_500_000 and parts > 600_000


def test_what_is_seen_of_one_load_or_trial_is_apart_and_parsed_when_looked_at(read):
    parts = {attributes["id"] for tag, attributes in read.elements if tag == "script" and "id" in attributes}
    assert {"data", "load-0", "load-1", "load-2", "trial-0-0", "trial-2-1"} <= parts
    heat = unpacked(read.text["script"][len([p for p in parts if p.startswith("load-")]) + 1])["heat"]
    assert heat["data"][0]["type"] == "heatmap"


def test_every_plot_has_its_place_and_every_place_its_plot(read):
    figures = unpacked(read.text["script"][0])["figures"]
    places = [attributes for _, attributes in read.elements if attributes.get("class") == "plot"]
    chosen = {plot["data-figure"] for plot in places if "data-figure" in plot}
    assert chosen == {"latency-{percentile}"}
    drawn = {plot["id"] for plot in places if "data-figure" not in plot}
    drawn |= {name.replace("{percentile}", key) for name in chosen for key in PERCENTILES}
    assert drawn == set(figures) | {"timeline", "timeline-latency", "timeline-hits", "heat", "budget"}


def test_the_page_says_what_a_reader_must_know(page):
    for said in (
        'One trial per cell names no winner: add <span class="whole">--repeat</span> 5.',
        "not like with like: D0, D1, D2",
        "service time, closed loop",
        "1 read was wrong",
        "dbdyno run quickstart",
        "bench-1",
        "innodb_buffer_pool_size",
        "Lost connection to server during query",
    ):
        assert said in page


def test_a_durability_class_stands_beside_each_name_of_a_store(read):
    badges = [attributes for tag, attributes in read.elements if (attributes.get("class") or "") == "badge"]
    assert len(badges) > 4 * 6


def test_what_the_script_reads_cannot_end_its_script():
    value = {"a": "</script><!-- & \u2028"}
    assert not set(packed(value)) & set("<>&-") and unpacked(packed(value)) == value


def test_a_run_of_which_nothing_was_reached_has_a_page(run_document):
    page = render(dict(run_document, trials=[], environment={}, headline=headline([], None, [])))
    assert "No trial was reached." in page and "Throughput against clients" not in page


def test_rows_of_tpcc_are_warehouses(run_document):
    def scope(rows):
        trials = [trial | {"workload": "tpcc", "rows": rows} for trial in run_document["trials"]]
        return render(run_document | {"trials": trials})

    assert ": 1 warehouse, " in scope(1) and ": 10 warehouses, " in scope(10)
    assert "warehouse" not in render(run_document)


def test_the_mean_stands_beside_how_steady_it_was(page):
    stalls = page[page.index("<h2>Stalls</h2>") :]
    assert stalls.index("mean<br>/s") < stalls.index("floor</th>") < stalls.index("a tenth of the median")


def test_a_trial_that_recorded_nothing_has_a_page(run_document):
    trial = next(trial for trial in run_document["trials"] if trial["label"] == "mariadb")
    times = dict.fromkeys(trial["transaction"]["service_time_us"])
    nothing = {"state": "failed", "reason": "no server", "timeline": [], "operations": {}, "seconds": 0}
    nothing |= {"throughput_per_s": None, "processes": [], "transaction": {"service_time_us": times}}
    nothing |= {"time_budget": None, "verdict": None}
    assert "no server" in render(dict(run_document, trials=[trial | nothing], headline=headline([], None, [])))


def test_a_report_that_cannot_be_written_leaves_nothing_behind(run, tmp_path):
    (tmp_path / "report.html").mkdir()
    with pytest.raises(RunFailed, match="cannot be written"):
        write_report(run, tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_the_page_of_an_open_loop_says_response_time_and_never_service_time(opened):
    page = render(opened)
    for said in (
        "Achieved against offered",
        "Latency against the rate offered",
        "open loop (constant arrivals) of 4 to 8 clients",
        "response time, open loop, 2,000/s, 20,000/s, in",
        "Could not follow the offered rate",
        "20,000/s, 8 clients</button>",
    ):
        assert said in page
    assert "ervice time" not in page and "closed loop" not in page


def test_the_page_marks_what_the_client_limited(limited):
    page = render(limited)
    assert "client-limited</abbr>" in page and "it reached" in page and "≥ <b>" in page
    assert "figures are lower bounds: mariadb." in page
    assert "lower bound</b>: limited by the client" in " ".join(page.split())


def test_a_rate_search_has_its_steps_and_its_sentence(opened):
    step = {"rate_per_s": 900, "statistic": "p99", "value_us": 8100.0, "offered_per_s": 900, "achieved_per_s": 899}
    step |= {"holds": True, "confirms": True, "why_not": None}
    broken = step | {"holds": False, "confirms": False, "why_not": "not below the limit", "value_us": None}
    search = {"limit": "p99 < 10ms", "sentence": "900/s <it is>.", "system": "redis", "workload": "game", "clients": 4}
    page = render(dict(opened, find_rate=[search | {"steps": [broken, step]}]))
    assert "The highest rate with p99 &lt; 10ms" in page and "900/s &lt;it is&gt;." in page
    assert "holds (confirming)" in page and "does not hold: not below the limit" in page


def test_flame_graphs_are_shown_in_a_frame_that_may_not_touch_the_page(run_document, tmp_path):
    stacks = tmp_path / "trials" / "001-x" / "profile" / "on-cpu.svg"
    stacks.parent.mkdir(parents=True)
    stacks.write_text('<svg onload="alert(3)"/>')
    flames = flame_graphs(tmp_path)
    assert flames == [("001-x: on-cpu", '<svg onload="alert(3)"/>')]
    page = render(run_document, flames=flames)
    assert 'sandbox="allow-scripts"' in page and "&lt;svg onload=" in page and '<svg onload="alert(3)"' not in page


def test_a_comparison_is_drawn_as_what_it_is(run_document):
    def cell(label, clients, **verdict):
        known = {"throughput_per_s": 1.0}
        sides = {"baseline": {"label": "redis"} | known, "candidate": {"label": label} | known}
        load = {key: run_document["trials"][0][key] for key in ("workload", "rows", "pipeline", "network_delay_us")}
        judged = {"pairs": 5, "ratio": 0.99, "low": 0.985, "high": 0.995, "margin": 0.02, "noise": 0.01, "p_holm": 0.5}
        return sides | load | judged | {"clients": clients, "rate": None, "least": False} | verdict

    cache = "cache-aside(memcached, mariadb)"
    equivalent = [cell(cache, clients, verdict="equivalent", reason=None) for clients in (2, 4)]
    invalid = [cell("mariadb", clients, verdict="invalid", reason="<why>") for clients in (2, 4)]
    page = render(dict(run_document, comparison={"cells": equivalent + invalid}))
    assert "~ 0.990×" in page and 'class="invalid" title="&lt;why&gt;"' in page and "[0.985, 0.995]" in page


def test_an_analytic_run_has_its_queries_and_their_plot(run_document):
    asked = {"name": "q0", "cold_s": 1.5, "hot_s": [0.25, 0.5, 0.75], "differs": None}
    loaded = {"rows": 10, "seconds": 2.0, "rows_per_s": 5.0, "by": "<hand>", "size_bytes": 20}
    analytic = {"analysis": {"cold": "started anew", "queries": [asked]}, "loaded": loaded}
    page = render({**run_document, "trials": [trial | analytic for trial in run_document["trials"]]})
    assert 'id="queries"' in page and "Queries, cold and hot" in page
    assert "1.500" in page and "0.250" in page and "&lt;hand&gt;" in page
    assert 'id="queries"' not in render(run_document)


def test_files_without_names_are_told_with_the_packages_that_have_them(run_document, tmp_path):
    folder = tmp_path / "trials" / "001-x" / "profile"
    folder.mkdir(parents=True)
    unnamed = [
        {"file": "served", "share": 0.4, "package": "served-dbgsym"},
        {"file": "<own>", "share": 0.1, "package": None},
    ]
    (folder / "profile.json").write_text(json.dumps({"stacks": {"server-on-cpu": {"unnamed": unnamed}, "old": {}}}))
    nameless = without_names(tmp_path)
    assert nameless == [("<own>", None), ("served", "served-dbgsym")]
    page = render(run_document, flames=[("x", "<svg/>")], nameless=nameless)
    assert "functions of &lt;own&gt;, served (package <code>served-dbgsym</code>)." in " ".join(page.split())
    assert "Without names" not in render(run_document, flames=[("x", "<svg/>")])


def test_what_processors_counted_is_told_for_a_transaction(run_document, tmp_path):
    folder = tmp_path / "trials" / "001-x" / "profile"
    folder.mkdir(parents=True)
    events = {"server": {"instructions": 51234.0, "cache_misses": 12.34, "branch_misses": None}, "client": {"x": None}}
    (folder / "profile.json").write_text(json.dumps({"counters": events}))
    counters = counted(tmp_path)
    assert counters == [("001-x: server", "51,234 instructions, 12.3 cache misses")]
    page = render(run_document, flames=[("x", "<svg/>")], counters=counters)
    assert "for each transaction: 001-x: server 51,234 instructions, 12.3 cache misses." in " ".join(page.split())
    assert "Processors counted" not in render(run_document, flames=[("x", "<svg/>")])


def test_what_was_measured_of_the_host_has_a_section_of_its_own(run_document):
    spread = {"p50": 1.0, "slot_s": 0.1, "slots": [1.0, 2.0], "worst": [3.0, 4.0]}
    measured = {"oversleep_us": {**spread}, "not_measured": {"disk": "no room"}}
    environment = {**run_document["environment"], "measured": measured, "measured_after": measured}
    page = render({**run_document, "environment": environment})
    assert "The host before and after the run" in page and 'id="host-2"' in page
    data = re.search(r'<script type="application/gzip" id="data">([^<]*)', page)[1]
    assert "host-2" in unpacked(data)["figures"]
    assert "disk was not measured: no room" in page and "slot_s" not in page
    assert "The host before" not in render(run_document)


def test_what_a_template_lacks_is_told_as_a_wrong_value():
    with pytest.raises(ValueError, match=r"report\.html\.j2: .* is undefined"):
        rendered(environment_of_templates(), "report.html.j2")


def test_of_more_systems_than_can_be_told_apart_one_is_highlighted(run_document):
    def relabelled(number):
        return [dict(trial, label=f"{trial['label']} {number}") for trial in run_document["trials"]]

    def chips(page):
        return re.findall(r'data-series="\d+"[^>]*aria-pressed="(\w+)"', page)

    few, many = chips(render(run_document)), render(dict(run_document, trials=relabelled(1) + relabelled(2)))
    assert set(few) == {"true"} and "all in colour" not in render(run_document)
    assert chips(many).count("true") == 1 and len(chips(many)) == 12 and "all in colour" in many


def test_every_table_has_a_caption_and_its_headings_a_scope(page, read):
    tags = [tag for tag, _ in read.elements]
    assert tags.count("table") == tags.count("caption") > 10
    assert all(attributes.get("scope") for tag, attributes in read.elements if tag == "th")


def test_a_keyboard_reaches_what_scrolls_and_skips_to_the_results(read):
    scrolling = [attributes for _, attributes in read.elements if attributes.get("class") == "scroll"]
    assert scrolling and all(attributes["tabindex"] == "0" and attributes["aria-label"] for attributes in scrolling)
    targets = {attributes["href"][1:] for _, attributes in read.elements if "href" in attributes}
    assert targets <= {attributes.get("id") for _, attributes in read.elements}
