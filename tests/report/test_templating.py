"""What fills templates in."""

import pytest
from jinja2 import UndefinedError

from dbdyno.report.templating import TEMPLATES, templates


def test_every_template_can_be_read():
    names = {path.name for path in TEMPLATES.glob("*.j2")}
    assert "report.html.j2" in names
    for name in names:
        templates().get_template(name)


def test_what_a_template_is_given_is_escaped_and_what_it_is_not_given_is_an_error():
    assert templates().from_string("{{ name }}").render(name="<b>") == "&lt;b&gt;"
    with pytest.raises(UndefinedError):
        templates().from_string("{{ name }}").render()
