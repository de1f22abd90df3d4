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
    assert "<td>212 ms</td><td>9.83</td><td>21.3%</td>" in rows and "<td>–</td><td>–</td><td>–</td>" in rows
    assert "<td>none</td>" not in rows and "<td>0.0%</td>" not in rows
    assert 'id="timeline-stalls"' in page


def test_a_column_in_which_nothing_is_known_is_left_out(run_document):
    def headings(document):
        return [" ".join(column.heading) for column in part(Page(document)).content["columns"]]

    assert "floor" in headings(run_document) and "variation at 1 s" in headings(run_document)
    unknown = dict.fromkeys(("floor", "variation_1s", "seconds_below_half", "seconds_below_tenth"))
    trials = [dict(trial, stability=trial["stability"] | unknown) for trial in run_document["trials"]]
    short = headings(dict(run_document, trials=trials))
    assert (
        not {"floor", "variation at 1 s", "seconds below half / a tenth of the median"} & {*short}
        and "mean /s" in short
    )
