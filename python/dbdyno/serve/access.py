"""Access to the pages: only with the printed token. Nobody else gets anything, and nobody can write."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from starlette.datastructures import URL
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

TOKEN = "token"
"""The parameter of the address that is printed."""
EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
"""Plotly adds an empty style element and fills it by script: this hash is of the empty one alone."""
POLICY = (
    f"default-src 'none'; script-src 'self'; style-src 'self' {EMPTY_STYLE}; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
READING = ("GET", "HEAD")

Next = Callable[[Request], Awaitable[Response]]


class Access:
    """Asks for the token once, in the address, and then for the cookie that it was exchanged for."""

    def __init__(self, token: str, cookie: str) -> None:
        """Take the token and the name of the cookie; cookies of a host hold for all its ports, so the name has one."""
        self._token, self._cookie = token, cookie

    async def __call__(self, request: Request, call_next: Next) -> Response:
        """Answer a request, or refuse it."""
        response = await self._answer(request, call_next)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    async def _answer(self, request: Request, call_next: Next) -> Response:
        if request.method not in READING:
            return PlainTextResponse("These pages can only be read.", 405, {"Allow": ", ".join(READING)})
        if self._is_token(request.query_params.get(TOKEN)):
            return self._let_in(request)
        if not self._is_token(request.cookies.get(self._cookie)):
            return PlainTextResponse("Open the address that dbdyno printed: it has the token.", 403)
        return await call_next(request)

    def _is_token(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode(), self._token.encode())

    def _let_in(self, request: Request) -> Response:
        """Keep the token in a cookie, and out of the browser's history."""
        rest = [(name, value) for name, value in request.query_params.multi_items() if name != TOKEN]
        # Two slashes at its beginning would make the path the name of another host.
        address = URL(path=f"/{request.url.path.lstrip('/')}", query=urlencode(rest))
        response = RedirectResponse(str(address), 303)
        response.set_cookie(self._cookie, self._token, httponly=True, samesite="lax")
        return response
