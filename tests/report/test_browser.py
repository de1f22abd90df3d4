"""The report in a real browser: light and dark, wide and narrow, with a keyboard, and for those who do not see it."""

import pytest

from dbdyno.report.html import write_report

SIZES = [(1280, "light"), (390, "dark")]
# A browser is many processes, and a crowded host starts them slowly.
pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def address(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(run, path)
    return path.as_uri()


def with_every_plot(page):
    """Look at each plot, because none is drawn before."""
    page.wait_for_selector(".save", state="attached")
    for plot in page.locator(".plot:visible").all():
        plot.scroll_into_view_if_needed()
    page.wait_for_selector(".plot:visible:not(.empty):not(:has(.main-svg))", state="detached")


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_a_report_fits_and_can_be_read_by_everybody(look, address, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = look(address, width, scheme)
    with_every_plot(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    violations = axe.Axe().run(page).response["violations"]
    assert [(violation["id"], [node["html"] for node in violation["nodes"]]) for violation in violations] == []


def test_a_plot_has_its_place_before_it_is_drawn(look, address):
    page = look(address)
    page.wait_for_selector(".save", state="attached")
    heights = page.evaluate(
        "[...document.querySelectorAll('#heat, #budget, .panels .plot')].map(plot => plot.clientHeight)"
    )
    assert len(heights) > 2 and min(heights) > 100
    assert page.locator("#heat .main-svg").count() == 0


def test_the_keyboard_chooses_a_load_and_hides_a_system(look, address):
    page = look(address)
    with_every_plot(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    load = page.locator("button[data-load='0']").first
    load.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("button[data-load='0'][aria-pressed=true]", state="attached")
    assert page.locator(".chosen").first.text_content() == load.text_content()
    chip = page.locator("button[data-series='1']").first
    before = chip.get_attribute("aria-pressed")
    chip.focus()
    page.keyboard.press("Space")
    page.wait_for_selector(f"button[data-series='1'][aria-pressed={'false' if before == 'true' else 'true'}]")
