"""The console: one page to look at the server and to try its workflow, made of the files beside this one.

The page is static and holds no secret. What it shows it reads through REST and `/metrics`, like anybody else; the
operator's door decides there who may look, and asks for the token. There is no build step, and nothing is loaded from
anywhere else, which the page's own policy enforces.
"""

from __future__ import annotations

from pathlib import Path

from quart import Blueprint, Response, abort

HERE = Path(__file__).resolve().parent

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)


def console_routes() -> Blueprint:
    routes = Blueprint("console", __name__)
    files = {path.name: path for path in HERE.iterdir() if path.suffix in KINDS}

    @routes.get("/console")
    async def page() -> Response:
        return _file(files["index.html"])

    @routes.get("/console/<name>")
    async def part(name: str) -> Response:
        if name not in files:
            abort(404)
        return _file(files[name])

    return routes


def _file(path: Path) -> Response:
    headers = {
        "content-type": KINDS[path.suffix],
        "cache-control": "no-cache",
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }
    return Response(path.read_bytes(), 200, headers)
