"""Comparing what was seen with what is kept: through the doors that every client has, and in the files themselves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from greenroom.persistence import doctor
from greenroom.persistence.errors import StoreError
from greenroom.persistence.speedict_store import SpeedictStore
from tests.chaos.findings import Findings, KeptTurn, Kind, Seen
from tests.chaos.users import Line, User

MAX_TURNS = 1000
"""Of one conversation, in its resource and in an export."""


# --- through a server --------------------------------------------------------------------------------------


async def check_over_mcp(user: User, line: Line, clerk: Line, findings: Findings) -> None:
    """`line` is the user's own; the clerk's is an older client's, for only there resources have an owner."""
    opened = await clerk.call("initialize", user_id=user.name)
    if opened.get("isError", True):
        findings.add(Kind.UNOPENED, user.name, f"initialize was answered {opened}")
        return
    listed = await _listed(clerk, opened["structuredContent"]["session_id"])
    kept = {name: await _read(clerk, name) for name in user.touched}
    findings.compare("over MCP", _seen_in(user, user.touched), kept)
    for name, turns in kept.items():
        if listed.get(name) != len(turns):
            findings.add(Kind.OTHER, name, f"is listed with {listed.get(name)} turns, and has {len(turns)}")
    counted = Counter(each.conversation_id for each in user.seen.values())
    for name, count in counted.items():
        if listed.get(name, 0) < count:
            findings.add(Kind.LOST, name, f"is listed with {listed.get(name)} turns, but {count} were answered")
    if user.handle is not None and user.seen:
        newest = next(reversed(user.seen.values()))
        for seen in {each.turn_id: each for each in (newest, user.random.choice(list(user.seen.values())))}.values():
            await _ask_again(user, line, seen, findings)


async def _listed(clerk: Line, session_id: str) -> dict[str, int]:
    """Conversation ids and their numbers of turns, all pages."""
    listed: dict[str, int] = {}
    more: dict[str, str] = {}
    while True:
        page = (await clerk.call("list_conversations", session_id=session_id, limit=50, **more))["structuredContent"]
        listed |= {each["conversation_id"]: each["turn_count"] for each in page.get("conversations", ())}
        if "next_cursor" not in page:
            return listed
        more = {"cursor": page["next_cursor"]}


async def _read(clerk: Line, conversation_id: str) -> list[KeptTurn]:
    found = await clerk.request("resources/read", {"uri": f"greenroom://conversations/{conversation_id}"})
    if "contents" not in found:
        return []
    turns: list[dict[str, Any]] = json.loads(found["contents"][0]["text"])["turns"]
    return [KeptTurn.of(turn) for turn in turns]


async def _ask_again(user: User, line: Line, seen: Seen, findings: Findings) -> None:
    """For the result alone, and then for the whole turn."""
    found = await line.call("get_turn", turn_id=seen.turn_id, session_id=user.handle)
    told = (found.get("content") or [{}])[0].get("text")
    if told != seen.text:
        findings.add(Kind.LOST, seen.word, f"was answered {seen.text!r}, but get_turn says {told!r}")
    call = user.repeat(seen)
    user.acknowledge_repeated(call, await line.call(call.tool, **call.arguments))


# --- in the files ------------------------------------------------------------------------------------------


def check_files(folder: Path, users: Sequence[User], findings: Findings, *, whole: bool) -> None:
    """Open every database of a store that nobody else has open, and read what changed, or everything."""
    store = SpeedictStore(folder)
    try:
        try:
            len(store.handles)
        except StoreError as error:
            findings.add(Kind.UNOPENED, "sessions", error.detail)
        for user in users:
            try:
                _check_user(store, user, findings, whole=whole)
            except StoreError as error:
                findings.add(Kind.UNOPENED, user.name, error.detail)
    finally:
        store.close()
    if whole:
        for checkup in doctor.examine(folder):
            for problem in checkup.problems:
                findings.add(Kind.OTHER, checkup.folder.name, f"the doctor says: {problem}")


def _check_user(store: SpeedictStore, user: User, findings: Findings, *, whole: bool) -> None:
    mine = store.user(user.name)
    names = set(user.touched)
    if whole:
        names |= {line["id"] for line in mine.export() if line["type"] == "conversation"}
        names |= {each.conversation_id for each in user.seen.values()}
    kept = {name: mine.turns(name, limit=MAX_TURNS, newest_first=False) for name in names}
    if not kept:
        mine.active_conversation()
    as_found = {name: [KeptTurn.of(attrs.asdict(turn)) for turn in turns] for name, turns in kept.items()}
    findings.compare("in the files", _seen_in(user, names), as_found)


def _seen_in(user: User, conversations: set[str]) -> list[Seen]:
    return [each for each in user.seen.values() if each.conversation_id in conversations]
