"""The other side of the protocol: a client for any MCP server, of either era, for the command line.

Nothing of the SDK shows outside: tools, news, questions and results are values of our own, and whatever goes wrong is
`Unreachable` (there is no such server) or `Refused` (there is, and it says no).

News are heard in the order in which they came, and all of them before the result: the SDK starts a task for each
notification, and tasks overtake one another, so they are read from the stream before the SDK sees them.
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from types import TracebackType
from typing import Any, Self

import attrs
import mcp.types as t
import trio
from mcp import Client
from mcp.client import ClientRequestContext, InputRequiredRoundsExceededError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

HANDSHAKE_SECONDS = 15.0
"""How long a server may take to answer anything but a call of a tool."""

CALL_SECONDS = 3600.0
DELIVERY_SECONDS = 3.0
MAX_PAGES = 100


@attrs.frozen
class Address:
    url: str
    headers: tuple[tuple[str, str], ...] = attrs.field(default=(), repr=False)
    legacy: bool = False


@attrs.frozen
class Progress:
    done: float
    total: float | None = None
    message: str | None = None


@attrs.frozen
class Logged:
    level: str
    data: Any
    logger: str | None = None


News = Progress | Logged


@attrs.frozen
class ToolInfo:
    name: str
    description: str
    input_schema: Mapping[str, Any]
    raw: Mapping[str, Any] = attrs.field(repr=False)


@attrs.frozen
class Outcome:
    texts: Sequence[str]
    """What there is to read, with a word for each picture or file."""
    structured: Any
    is_error: bool
    raw: Mapping[str, Any] = attrs.field(repr=False)


@attrs.frozen
class Form:
    """The server wants something from the human; `schema` is a flat JSON schema."""

    message: str
    schema: Mapping[str, Any]


@attrs.frozen
class Visit:
    """The server wants the human to open a page."""

    message: str
    url: str


Ask = Callable[[Form | Visit], Awaitable[Mapping[str, Any] | None]]
"""Puts a question to the human; None is a refusal."""


class Unreachable(Exception):
    """There is no server at that address, or it does not speak MCP."""


class Refused(Exception):
    """The server, or the protocol, has an error instead of a result."""


class Connection:
    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def server_name(self) -> str:
        info = self._client.server_info
        return info.title or info.name if info is not None else "the server"

    @property
    def protocol_version(self) -> str:
        return self._client.protocol_version

    async def tools(self) -> list[ToolInfo]:
        found: list[ToolInfo] = []
        cursor: str | None = None
        with _refusals():
            for _ in range(MAX_PAGES):
                page = await self._client.list_tools(cursor=cursor)
                found += [_tool(each) for each in page.tools]
                cursor = page.next_cursor
                if cursor is None:
                    break
        return found

    async def call(self, name: str, arguments: Mapping[str, Any], timeout: float | None = None) -> Outcome:
        """Cancelled, it lets the server know: to stop the call alone, cancel it inside of the connection's block."""
        try:
            with _refusals():
                result = await self._client.call_tool(
                    name,
                    dict(arguments),
                    read_timeout_seconds=timeout or CALL_SECONDS,
                    # There has to be one, or the server is given no token to report with.
                    progress_callback=_heard_already,
                )
        except trio.Cancelled:
            await self._deliver()
            raise
        return _outcome(result)

    async def _deliver(self) -> None:
        """Wait until the server has what was sent. The older era is told of a cancellation by a message of its own."""
        if self._client.session.initialize_result is None:
            return
        with trio.move_on_after(DELIVERY_SECONDS, shield=True):
            try:
                with _of_the_older_era():
                    await self._client.send_ping()
            except MCPError:
                pass  # It cannot be told any more.


@asynccontextmanager
async def connect(
    address: Address, on_news: Callable[[News], None], ask: Ask | None = None
) -> AsyncIterator[Connection]:
    """A connection for the length of the block. Raises `Unreachable`, at its beginning or when it is lost.

    Without `ask` the server is told that nobody can be asked.
    """
    try:
        async with (
            create_mcp_http_client(headers=dict(address.headers)) as http,
            Client(
                _Overheard(streamable_http_client(address.url, http_client=http), on_news),
                mode="legacy" if address.legacy else "auto",
                read_timeout_seconds=HANDSHAKE_SECONDS,
                log_level="info",
                elicitation_callback=None if ask is None else _asking(ask),
            ) as client,
        ):
            await _ask_for_logs(client)
            yield Connection(client)
    except BaseException as error:
        _raise_in_our_words(error, address.url)
        raise


async def _ask_for_logs(client: Client) -> None:
    """The older era is asked for logs once; the newer one with every request, by `log_level`."""
    logging = client.server_capabilities.logging
    if logging is None or client.session.initialize_result is None:
        return
    try:
        with _of_the_older_era():
            await client.set_logging_level("info")
    except MCPError:
        pass  # It goes without logs.


@contextmanager
def _of_the_older_era() -> Iterator[None]:
    """The SDK warns of what the newer era does not have, even when it speaks the older one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        yield


async def _heard_already(progress: float, total: float | None, message: str | None) -> None:
    """See `_Overheard`."""


# --- news --------------------------------------------------------------------------------------------------


class _Overheard:
    """A transport whose notifications are told to `on_news` before the SDK sees them."""

    def __init__(self, transport: Any, on_news: Callable[[News], None]) -> None:
        self._transport = transport
        self._on_news = on_news

    async def __aenter__(self) -> tuple[Any, Any]:
        read, write = await self._transport.__aenter__()
        return _OverheardStream(read, self._on_news), write

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        result: bool | None = await self._transport.__aexit__(kind, error, trace)
        return result


class _OverheardStream:
    def __init__(self, stream: Any, on_news: Callable[[News], None]) -> None:
        self._stream = stream
        self._on_news = on_news

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        return self._tell(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return self._tell(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        result: bool | None = await self._stream.__aexit__(kind, error, trace)
        return result

    def _tell(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        news = news_of(item.message) if isinstance(item, SessionMessage) else None
        if news is not None:
            self._on_news(news)
        return item


def news_of(message: t.JSONRPCMessage) -> News | None:
    """What a message tells while a call runs. A server that reports nonsense is not listened to."""
    if not isinstance(message, t.JSONRPCNotification):
        return None
    try:
        match message.method:
            case "notifications/progress":
                progress = t.ProgressNotificationParams.model_validate(message.params, by_name=False)
                return Progress(progress.progress, progress.total, progress.message)
            case "notifications/message":
                logged = t.LoggingMessageNotificationParams.model_validate(message.params, by_name=False)
                return Logged(logged.level, logged.data, logged.logger)
    except ValidationError:
        pass
    return None


# --- results and questions ---------------------------------------------------------------------------------


def _tool(tool: t.Tool) -> ToolInfo:
    return ToolInfo(tool.name, tool.description or tool.title or "", tool.input_schema, _as_json(tool))


def _outcome(result: t.CallToolResult) -> Outcome:
    return Outcome(
        [_in_words(block) for block in result.content],
        result.structured_content,
        bool(result.is_error),
        _as_json(result),
    )


def _in_words(block: t.ContentBlock) -> str:
    match block:
        case t.TextContent(text=text):
            return text
        case t.EmbeddedResource(resource=t.TextResourceContents(text=text)):
            return text
        case t.ImageContent(mime_type=kind, data=data) | t.AudioContent(mime_type=kind, data=data):
            return f"[{block.type} {kind}, about {len(data) * 3 // 4} bytes]"
        case t.ResourceLink(uri=uri):
            return f"[{uri}]"
        case _:
            return f"[{block.type}]"


def _as_json(value: t.Tool | t.CallToolResult) -> dict[str, Any]:
    dumped: dict[str, Any] = value.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped


def _asking(ask: Ask) -> Any:
    async def elicit(context: ClientRequestContext, params: t.ElicitRequestParams) -> t.ElicitResult:
        if isinstance(params, t.ElicitRequestURLParams):
            answer = await ask(Visit(params.message, params.url))
            return t.ElicitResult(action="decline" if answer is None else "accept")
        answer = await ask(Form(params.message, params.requested_schema))
        if answer is None:
            return t.ElicitResult(action="decline")
        return t.ElicitResult(action="accept", content=dict(answer))

    return elicit


# --- what goes wrong ---------------------------------------------------------------------------------------


@contextmanager
def _refusals() -> Iterator[None]:
    """What the SDK raises for an answer that is an error, in our words."""
    try:
        yield
    except MCPError as error:
        if error.code == t.CONNECTION_CLOSED:
            raise Unreachable("The connection to the server was lost.") from error
        raise Refused(_with_details(error)) from error
    except InputRequiredRoundsExceededError as error:
        raise Refused("The server asks one question after the other, and was left.") from error
    except ValidationError as error:
        raise Refused("The server's answer is not what the protocol says it is.") from error


def _with_details(error: MCPError) -> str:
    errors = error.data.get("errors") if isinstance(error.data, dict) else None
    lines = [f"  {each}" for each in errors] if isinstance(errors, list) else []
    return "\n".join([error.message, *lines])


def _raise_in_our_words(error: BaseException, url: str) -> None:
    """The one failure in all those groups, if there is one; nothing is raised for a cancellation."""
    leaves = [leaf for leaf in _leaves(error) if not isinstance(leaf, trio.Cancelled)]
    for leaf in leaves:
        if isinstance(leaf, (Unreachable, Refused)):
            raise leaf from None
    for leaf in leaves:
        # Of the HTTP library that the SDK brings along; its own kind of error is told by where it comes from.
        if type(leaf).__module__.split(".")[0] in ("httpx2", "httpcore2") or isinstance(leaf, OSError):
            raise Unreachable(f"There is no MCP server at {url}: {str(leaf) or type(leaf).__name__}.") from None
        if isinstance(leaf, MCPError):
            raise Unreachable(
                f"What answers at {url} does not speak MCP there ({leaf.message}). Is the path right? It often ends "
                "in /mcp."
            ) from None
    if len(leaves) == 1 and leaves[0] is not error:
        raise leaves[0] from None


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in _leaves(each)]
    return [error]
