"""Nobody without the token gets an answer, nobody can write, and no other host's page can ask."""

import pytest

PAGES = ("/", "/live", "/live.json", "/matrix", "/compare", "/report/first", "/static/page.css", "/none")


@pytest.mark.parametrize("path", PAGES)
def test_without_the_token_there_is_nothing(site, path):
    for headers in ({}, {"Cookie": site.cookie[:-1]}, {"Cookie": "dbdyno-1=" + site.token}):
        answer = site.ask(path, **headers)
        assert answer.status == 403 and "first" not in answer.text.replace("/report/first", "")
    assert site.ask(f"{path}?token={site.token}%C3%A4").status == 403


def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address(site):
    answer = site.ask(f"/compare?baseline=a&token={site.token}")
    assert answer.status == 303 and answer.headers["Location"] == "/compare?baseline=a"
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith(site.cookie) and "HttpOnly" in cookie and "SameSite=lax" in cookie
    assert site.ask("/", Cookie=cookie.partition(";")[0]).status == 200


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example"])
def test_the_token_leads_to_no_other_host(site, path):
    answer = site.ask(f"{path}?token={site.token}")
    assert not answer.headers["Location"].startswith(("//", "/\\", "http"))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_written_even_with_the_token(site, method):
    answer = site.ask("/", method, Cookie=site.cookie)
    assert answer.status == 405 and answer.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "10.0.0.1"])
def test_another_host_name_is_refused(site, host):
    answer = site.ask("/", Host=host, Cookie=site.cookie)
    assert answer.status == 400 and "first" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:80", "LOCALHOST"])
def test_this_host_is_known_by_its_names(site, host):
    assert site.ask("/", Host=host, Cookie=site.cookie).status == 200


@pytest.mark.parametrize("path", PAGES)
def test_every_answer_has_a_strict_policy(site, path):
    answer = site.ask(path, Cookie=site.cookie)
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy or (path.startswith("/report/") and policy.startswith("sandbox allow-scripts"))
    assert answer.headers["X-Content-Type-Options"] == "nosniff" and answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Server"] is None
