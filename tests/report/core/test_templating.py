"""Templates are filled in."""

import pytest
from jinja2 import UndefinedError

from dbdyno.report.core.templating import TEMPLATES, templates, unbroken


def test_a_template_is_found_by_its_name():
    assert (TEMPLATES / "report.html.j2").exists()
    assert templates().get_template("flame_graph.svg.j2").name == "flame_graph.svg.j2"


def test_what_a_template_is_given_is_escaped_and_what_it_is_not_given_is_an_error():
    assert templates().from_string("{{ name }}").render(name="<b>") == "&lt;b&gt;"
    with pytest.raises(UndefinedError):
        templates().from_string("{{ name }}").render()


def test_the_name_of_an_option_is_whole_and_the_rest_is_escaped():
    text = unbroken("add --repeat 5, not <b> or a--b")
    assert text == 'add <span class="whole">--repeat</span> 5, not &lt;b&gt; or a--b'
