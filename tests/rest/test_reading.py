"""Requests read and routed without a socket: bodies, queries, sessions, forms, paths."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.config.errors import InvalidArguments
from greenroom.transport.bill import Act, make_bill
from greenroom.transport.house import HOUSE_TOOLS
from greenroom.transport.rest.accepting import Form, choose
from greenroom.transport.rest.binding import Router, bind
from greenroom.transport.rest.faults import BadRequest, MethodNotAllowed, MissingSession, NoSuchPath
from greenroom.transport.rest.reading import MAX_DEPTH, read_object, read_query, session_of
from greenroom.transport.rest.table import ROUTES
from greenroom.workflow.conversations import bill as conversing
from greenroom.workflow.talk import bill as talking

JSON = "application/json"
WHOLE = make_bill(Act, (*talking.TOOLS, *conversing.TOOLS), HOUSE_TOOLS, 600.0)
ROUTER = Router(bind(WHOLE, keeping=True))

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


# --- bodies ------------------------------------------------------------------------------------------------


@given(st.dictionaries(st.text(), VALUES))
def test_an_object_is_read_as_it_was_written(value: dict[str, Any]) -> None:
    for ascii_only in (True, False):
        assert read_object(json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass"), JSON) == value


@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_an_object_or_an_error_that_was_written_for_the_client(body: bytes) -> None:
    try:
        read = read_object(body, JSON)
    except (BadRequest, InvalidArguments):
        return
    assert isinstance(read, dict)


def test_nesting_is_allowed_up_to_a_depth() -> None:
    def nested(depth: int) -> bytes:
        return b'{"a":' * depth + b"1" + b"}" * depth

    assert read_object(nested(MAX_DEPTH), JSON)
    with pytest.raises(BadRequest, match="levels deep"):
        read_object(nested(MAX_DEPTH + 1), JSON)
    with pytest.raises(BadRequest):
        read_object(nested(200_000), JSON)


# --- queries -----------------------------------------------------------------------------------------------

PROPERTIES = {"limit": {"type": "integer"}, "wait": {"type": "number"}, "q": {"type": "string"}}


def test_a_query_is_read_as_its_schemas_have_it() -> None:
    assert read_query(b"limit=-07&wait=1.5e1&q=a%20b+c%C3%BC", PROPERTIES) == {"limit": -7, "wait": 15.0, "q": "a b cü"}
    assert read_query(b"", PROPERTIES) == {}
    assert read_query(b"q=&limit=", PROPERTIES) == {"q": "", "limit": ""}


@pytest.mark.parametrize("text", ["1_000", " 1", "+1", "1.0", "0x10", "inf", "\u0661", "9" * 5000])
def test_what_is_no_number_stays_a_text_for_the_schema_to_refuse(text: str) -> None:
    assert read_query(f"limit={quote(text)}".encode(), PROPERTIES) == {"limit": text}


@given(st.binary(max_size=200))
def test_any_query_is_read_or_refused(query: bytes) -> None:
    try:
        assert isinstance(read_query(query, PROPERTIES), dict)
    except BadRequest:
        pass


# --- sessions ----------------------------------------------------------------------------------------------


@given(st.text(st.characters(max_codepoint=255)), st.text(st.characters(max_codepoint=255)))
def test_any_pair_of_headers_names_a_session_or_none(authorization: str, plain: str) -> None:
    try:
        session = session_of({"authorization": authorization, "x-session-id": plain})
    except (MissingSession, BadRequest):
        return
    assert session
    assert session in authorization or session in plain


# --- forms -------------------------------------------------------------------------------------------------

ASKED = (Form.JSON, Form.NDJSON, Form.SSE)


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        (None, Form.JSON),
        ("", Form.JSON),
        ("*/*", Form.JSON),
        ("application/*", Form.JSON),
        ("text/*", Form.SSE),
        ("TEXT/EVENT-STREAM", Form.SSE),
        ("application/x-ndjson, */*", Form.NDJSON),
        ("*/*;q=0.1, text/event-stream", Form.SSE),
        ("application/json, text/event-stream", Form.JSON),
        ("text/event-stream, application/json", Form.SSE),
        ("text/event-stream;q=0.5, application/json;q=0.9", Form.JSON),
        ("application/json;q=0, */*", Form.NDJSON),
        ("text/html", None),
        ("*/*;q=0", None),
        ("application/json;q=0", None),
        (";;,,", None),
    ],
)
def test_the_best_form_wins_then_the_first_then_the_routes_own(accept: str | None, form: Form | None) -> None:
    assert choose(accept, ASKED) is form


@given(st.text(st.characters(max_codepoint=255)))
def test_any_accept_header_is_answered(accept: str) -> None:
    assert choose(accept, ASKED) in (*ASKED, None)


# --- routes ------------------------------------------------------------------------------------------------


def test_every_route_of_the_table_is_found_by_its_own_path() -> None:
    assert len(ROUTER.routes) == len(ROUTES)
    for bound in ROUTER.routes:
        path = bound.route.path.replace("{turn_id}", "a%2Fb").replace("{conversation_id}", "a%2Fb")
        found, in_path = ROUTER.find(bound.route.method, path)
        assert found is bound
        assert set(in_path.values()) <= {"a/b"}
        with pytest.raises(MethodNotAllowed):
            ROUTER.find("PATCH", path)


@given(st.text())
def test_any_path_is_a_route_or_not_there(path: str) -> None:
    try:
        ROUTER.find("GET", path)
    except (NoSuchPath, MethodNotAllowed):
        pass


def test_a_route_takes_the_tools_arguments_and_the_stages_but_the_session() -> None:
    by_name = {bound.route.name: set(bound.properties) for bound in ROUTER.routes}
    stage = {"user_id", "timeout_seconds", "on_timeout", "idempotency_key"}
    assert by_name["execute_command"] == {"command"} | stage
    assert by_name["perform_action"] == {"command_name", "parameters"} | stage
    assert by_name["initialize"] == {"user_id", "conversation_id", "stream_format"}
    assert by_name["get_commands"] == {"user_id", "timeout_seconds"}
    assert by_name["list_conversations"] == {"limit", "cursor", "q", "user_id"}
    assert by_name["get_turn"] == {"turn_id", "wait_seconds", "user_id"}
    assert not any("session_id" in names for names in by_name.values())
