"""The pages in a real browser: second by second, light and dark, wide and narrow, and for those who do not see them."""

import json

import pytest

from dbdyno.serve.server import serving
from helpers import PATIENCE_MS
from serve.conftest import Site, change

PAGES = ("/", "/live", "/matrix", "/compare?baseline=first&candidate=second")
SIZES = [(1280, "light"), (390, "dark")]
# A browser is many processes, and a crowded host starts them slowly.
pytestmark = pytest.mark.timeout(400)


def opened(look, site, path, width=1280, scheme="light"):
    page = look(site.address, width, scheme)
    page.goto(f"http://{site.host}{path}")
    return page


def test_seconds_are_drawn_as_they_are_recorded_and_the_end_is_told(look, running):
    (records,) = running.glob("trials/*/records.jsonl")
    lines = records.read_text().splitlines()[:-1]
    records.write_text("\n".join(lines[:4]) + "\n")
    with serving(running.parent, "127.0.0.1", 0, "/live") as address:
        page = look(address)
        page.wait_for_selector("#second:has-text('second 2 of 6')")
        assert "?" not in page.url and page.text_content("#title") == "mariadb, game, 4 clients"
        assert page.text_content("#state").startswith("trial 1 of 1")
        page.wait_for_selector("#throughput .point >> nth=1", state="attached")
        assert page.locator("#throughput .point").count() == 2
        with records.open("a") as file:
            file.write("\n".join(lines[4:]) + "\n")
        page.wait_for_selector("#second:has-text('second 6 of 6')")
        page.wait_for_selector("#throughput .point >> nth=5", state="attached")
        assert page.locator("#budget .point, #budget .fills path").count() > 0
        assert page.locator(".panels figure").count() > 0
        few = page.locator(".panels figure").count()
        page.click("#all")
        assert page.locator(".panels figure").count() > few
        change(running / "run.json", state="complete")
        page.wait_for_selector("#state:has-text('The run is complete')")
        page.close()


def test_a_page_whose_server_is_gone_says_so(browser, running):
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        with serving(running.parent, "127.0.0.1", 0, "/live") as address:
            page.goto(address)
            page.wait_for_selector("#second:has-text('second 6')")
        page.wait_for_selector("#state:has-text('does not answer any more')")


def test_the_gallery_is_filtered_and_two_are_compared(look, site):
    page = opened(look, site, "/")
    assert page.locator("article:visible").count() == 3
    page.fill(".filter", "LMDB second")
    assert page.locator("article:visible").count() == 1 and page.text_content(".count") == "1 of 3"
    page.fill(".filter", "")
    assert page.locator(".compare").is_disabled()
    for run in ("third", "second", "first"):
        page.check(f"input[value={run}]")
    assert page.locator(".choose-run:checked").count() == 2
    page.click(".compare")
    page.wait_for_url("**/compare?baseline=first&candidate=second")
    assert page.locator("tbody tr").count() == 4


def test_a_report_draws_its_plots_in_its_sandbox(look, site):
    page = opened(look, site, "/report/first")
    page.wait_for_selector(".plot .main-svg", state="attached")
    assert (
        page.evaluate("() => { try { return document.cookie } catch (error) { return error.name } }") == "SecurityError"
    )


@pytest.mark.parametrize(("width", "scheme"), SIZES)
@pytest.mark.parametrize("path", PAGES)
def test_a_page_fits_and_can_be_read_by_everybody(look, site, path, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = opened(look, site, path, width, scheme)
    if path == "/live":
        page.wait_for_selector("#throughput .main-svg", state="attached")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    violations = axe.Axe().run(page).response["violations"]
    assert [(violation["id"], [node["html"] for node in violation["nodes"]]) for violation in violations] == []


def test_what_an_experiment_says_runs_no_script(look, running):
    (trial,) = running.glob("trials/*/trial.json")
    hostile = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
    change(trial, label=hostile)
    change(running / "run.json", experiment=hostile, question=hostile)
    error = {"record": "error", "kind": "connection", "message": hostile}
    records = trial.with_name("records.jsonl")
    whole = records.read_text().rpartition("\n")[0]
    records.write_text(f"{whole}\n{json.dumps(error)}\n")
    with serving(running.parent, "127.0.0.1", 0) as address:
        page = opened(look, Site(address), "/live")
        page.wait_for_selector("#first-errors li")
        assert hostile in page.text_content("#first-errors") and hostile in page.text_content("#title")
        page.goto(f"http://{Site(address).host}/")
        assert page.title() == "Runs – dbdyno"
        page.close()
