"""The section of stalls names the worst, of runs of clients."""

from dbdyno.report.core.page import Page
from dbdyno.report.html import render
from dbdyno.report.sections.stalls import part


def test_the_worst_stall_is_named(run_document):
    assert part(Page(run_document)).content["worst"].startswith("Longest stall: mariadb, 4 clients, 8 s")
    assert part(Page(run_document, clients_loaded=False)) is None


def test_stalls_under_a_second_stand_in_the_table_beside_what_is_not_known(hiccups):
    page = render(hiccups)
    rows = page.partition("<h2>Stalls</h2>")[2].partition("</table>")[0]
    assert "<td>212 ms</td>\n<td>9.83</td>\n<td>21.3%</td>" in rows and "<td>–</td>\n<td>–</td>\n<td>–</td>" in rows
    assert 'id="timeline-stalls"' in page
