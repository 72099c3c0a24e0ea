"""Whom the door opens for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.transport.guard import Guard

GUARD = Guard.of("https://mcp.example.com", ["https://app.example.org", "http://10.0.0.1:3000", "http://[2001:db8::1]"])


@pytest.mark.parametrize(
    "host",
    [
        "mcp.example.com",
        "MCP.Example.COM",
        "mcp.example.com:443",
        "mcp.example.com:8443",
        "localhost",
        "LOCALHOST:8000",
        "127.0.0.1",
        "127.0.0.1:1",
        "[::1]",
        "[::1]:8000",
    ],
)
def test_a_host_that_is_ours_comes_in_whatever_its_port_or_case(host: str) -> None:
    assert GUARD.check(host, None) is None


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.com",
        "evil.com:443",
        "app.example.org",
        "localhost.evil.com",
        "mcp.example.com.evil.com",
        "evilmcp.example.com",
        "localhost@evil.com",
        "localhost:80@evil.com",
        "mcp.example.com@evil.com",
        "localhost\\@evil.com",
        "evil.com#localhost",
        "evil.com/localhost",
        "evil.com?@localhost",
        "localhost.",
        "mcp.example.com.",
        "127.0.0.2",
        "127.1",
        "0.0.0.0",
        "[::]",
        "[::ffff:127.0.0.1]",
        "::1",
        "[::1",
        "::1]",
        "mcp.example.com, evil.com",
        " localhost",
        "localhost ",
    ],
)
def test_any_other_host_is_misdirected(host: str | None) -> None:
    refusal = GUARD.check(host, None)
    assert refusal is not None
    assert refusal.status == 421
    assert "GREENROOM_PUBLIC_URL" in refusal.message


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "https://mcp.example.com",
        "https://mcp.example.com:443",
        "https://MCP.example.com",
        "HTTPS://mcp.example.com",
        "https://app.example.org",
        "http://10.0.0.1:3000",
        "http://[2001:db8::1]",
        "http://[2001:db8::1]:80",
        "http://localhost",
        "http://localhost:5173",
        "https://localhost:6274",
        "http://127.0.0.1:3000",
        "http://[::1]:3000",
    ],
)
def test_a_page_that_is_ours_configured_or_from_loopback_may_call(origin: str | None) -> None:
    assert GUARD.check("localhost", origin) is None


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "https://evil.com",
        "http://mcp.example.com",
        "https://mcp.example.com:444",
        "https://mcp.example.com.",
        "https://sub.mcp.example.com",
        "https://mcp.example.com.evil.com",
        "https://mcp.example.com@evil.com",
        "http://localhost@evil.com",
        "http://localhost:80@evil.com",
        "http://localhost\\@evil.com",
        "http://localhost.evil.com",
        "http://localhost.",
        "http://127.0.0.1.evil.com",
        "http://127.0.0.2",
        "http://0.0.0.0",
        "http://evil.com?://localhost",
        "http://evil.com/://localhost",
        "http://evil.com#://localhost",
        "http://app.example.org",
        "https://app.example.org:8443",
        "http://10.0.0.1",
        "https://10.0.0.1:3000",
        "http://[2001:db8::2]",
        "http://mcp.example.com:99999999",
        "http://mcp.example.com:port",
        "file://",
        "localhost",
        "//localhost",
        "*",
    ],
)
def test_any_other_page_is_forbidden(origin: str) -> None:
    refusal = GUARD.check("localhost", origin)
    assert refusal is not None
    assert refusal.status == 403
    assert "GREENROOM_ALLOWED_ORIGINS" in refusal.message


def test_a_wrong_host_is_told_first() -> None:
    refusal = GUARD.check("evil.com", "https://evil.com")
    assert refusal is not None
    assert refusal.status == 421


@pytest.mark.parametrize("public", ["http://127.0.0.1:8000", "http://[::1]:8000", "http://localhost:8000"])
def test_a_server_on_loopback_still_refuses_other_names(public: str) -> None:
    guard = Guard.of(public)
    assert guard.check("localhost:8000", None) is None
    assert guard.check("rebound.evil.com:8000", None) is not None
    assert guard.check("localhost:8000", "http://rebound.evil.com:8000") is not None


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://[evil]", "http://\u2100.com"])
def test_an_origin_that_is_no_url_is_forbidden(origin: str) -> None:
    refusal = GUARD.check("localhost", origin)
    assert refusal is not None
    assert refusal.status == 403


# The characters that a header may hold; brackets are the finding above.
HEADER = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="[]"), max_size=40)


@given(HEADER, HEADER | st.none())
def test_no_header_whatsoever_makes_the_guard_fail(host: str, origin: str | None) -> None:
    refusal = GUARD.check(host, origin)
    assert refusal is None or refusal.status in (403, 421)


@given(HEADER.filter(lambda text: "localhost" not in text.lower() and "." not in text))
def test_no_name_without_ours_in_it_comes_in(host: str) -> None:
    assert GUARD.check(host, None) is not None
