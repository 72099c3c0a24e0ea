"""What the SDK's kernel calls: one handler per MCP method.

Each handler translates, asks and translates back. Arguments are checked against the tool's schema before a
turn begins and structured results before they leave; the kernel does neither.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from typing import Any

import mcp.types as t
from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from greenroom.actors.messages import Failed, Finished
from greenroom.actors.supervisor import Supervisor
from greenroom.config.errors import GreenroomError, InternalFault, ProtocolFault, UnknownName
from greenroom.transport.mcp import wire
from greenroom.transport.mcp.bill import Act, make_bill
from greenroom.transport.mcp.conversation import Call, Context, Conversation
from greenroom.transport.mcp.exchange import Exchange
from greenroom.transport.mcp.house import HOUSE_TOOLS, House
from greenroom.workflow.events import Change, Level, ToolsChanged
from greenroom.workflow.values import (
    CallTool,
    GetPrompt,
    PromptRef,
    PromptResult,
    ReadResource,
    ResourceResult,
    SessionUse,
    TemplateRef,
    ToolResult,
)

log = logging.getLogger(__name__)

LIST_TTL_MS = 60_000
"""How long a client may keep a list; changes are announced before that to those who listen."""

MAX_COMPLETIONS = 100
"""The protocol's own limit."""

HOUSE_NAMES = frozenset(tool.name for tool in HOUSE_TOOLS)


class Handlers:
    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._workflow = supervisor.workflow
        self._conversation = Conversation(supervisor)
        self._house = House(supervisor, self._conversation)
        self._bill: dict[str, Act] = {}
        self._make_bill()
        supervisor.on_change(self._on_change)

    def _make_bill(self) -> None:
        self._bill = make_bill(self._workflow.tools(), HOUSE_TOOLS, self._supervisor.limits.max_turn_timeout)

    def _on_change(self, change: Change) -> None:
        if isinstance(change, ToolsChanged):
            self._make_bill()

    @property
    def bill(self) -> Mapping[str, Act]:
        """Another object whenever the tools have changed."""
        return self._bill

    @property
    def conversation(self) -> Conversation:
        return self._conversation

    def input_schema(self, name: str) -> Any | None:
        act = self._bill.get(name)
        return act.input_schema if act else None

    # --- tools ---------------------------------------------------------------------------------------------

    async def list_tools(self, ctx: Context, params: t.PaginatedRequestParams | None) -> t.ListToolsResult:
        _one_page(params)
        return t.ListToolsResult(tools=[act.listed for act in self._bill.values()])

    async def call_tool(
        self, ctx: Context, params: t.CallToolRequestParams
    ) -> t.CallToolResult | t.InputRequiredResult:
        call = Call(ctx, params.input_responses, params.request_state)
        try:
            act = self._bill.get(params.name)
            if act is None:
                raise UnknownName("tool", params.name)
            heard = await self._call_act(act, params.arguments or {}, call)
        except GreenroomError as refusal:
            heard = Failed(refusal)
        except MCPError:
            raise
        except Exception:
            log.exception("tool call failed", extra={"tool": params.name})
            heard = Failed(InternalFault())
        match heard:
            case Finished(ToolResult() as result):
                with_traces = self._bill[params.name].takes_traces and not call.exchange.streamed
                return wire.tool_result(result, with_traces=with_traces)
            case Failed(ProtocolFault() as fault):
                raise wire.protocol_error(fault, legacy=call.legacy)
            case Failed(error):
                _note_overload(call.exchange, error)
                return wire.error_result(error)
            case _:
                assert isinstance(heard, t.InputRequiredResult)
                return heard

    async def _call_act(self, act: Act, arguments: dict[str, Any], call: Call) -> Finished | Failed | Any:
        act.check_arguments(arguments)
        if act.tool.name in HOUSE_NAMES:
            heard = await self._house.call(act.tool.name, arguments, call)
        else:
            options, own = act.split(arguments)
            order = CallTool(act.tool.name, own)
            heard = await self._conversation.play(call, order, act.tool.session_use, options)
        if isinstance(heard, Finished) and isinstance(heard.result, ToolResult) and not heard.result.is_error:
            fault = act.fault_of(heard.result.structured)
            if fault is not None:
                log.error("structured result does not fit its schema", extra={"tool": act.tool.name, "fault": fault})
                return Failed(InternalFault())
        return heard

    # --- prompts, resources, completion --------------------------------------------------------------------

    async def list_prompts(self, ctx: Context, params: t.PaginatedRequestParams | None) -> t.ListPromptsResult:
        _one_page(params)
        return t.ListPromptsResult(prompts=[wire.prompt(each) for each in self._workflow.prompts()])

    async def get_prompt(
        self, ctx: Context, params: t.GetPromptRequestParams
    ) -> t.GetPromptResult | t.InputRequiredResult:
        order = GetPrompt(params.name, params.arguments or {})
        call = Call(ctx, params.input_responses, params.request_state)
        result = await self._walk_on(call, order)
        return wire.prompt_result(result) if isinstance(result, PromptResult) else result

    async def list_resources(self, ctx: Context, params: t.PaginatedRequestParams | None) -> t.ListResourcesResult:
        _one_page(params)
        return t.ListResourcesResult(resources=[wire.resource(each) for each in self._workflow.resources()])

    async def list_resource_templates(
        self, ctx: Context, params: t.PaginatedRequestParams | None
    ) -> t.ListResourceTemplatesResult:
        _one_page(params)
        templates = [wire.resource_template(each) for each in self._workflow.resource_templates()]
        return t.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(
        self, ctx: Context, params: t.ReadResourceRequestParams
    ) -> t.ReadResourceResult | t.InputRequiredResult:
        call = Call(ctx, params.input_responses, params.request_state)
        result = await self._walk_on(call, ReadResource(str(params.uri)))
        return wire.resource_result(result) if isinstance(result, ResourceResult) else result

    async def _walk_on(self, call: Call, order: GetPrompt | ReadResource) -> Any:
        """Prompts and resources have no `isError`: what goes wrong with them is an error of the protocol."""
        try:
            heard = await self._conversation.play(call, order, SessionUse.NEVER)
        except GreenroomError as error:
            heard = Failed(error)
        if isinstance(heard, Failed):
            _note_overload(call.exchange, heard.error)
            raise wire.protocol_error(heard.error, legacy=call.legacy)
        return heard.result if isinstance(heard, Finished) else heard

    async def complete(self, ctx: Context, params: t.CompleteRequestParams) -> t.CompleteResult:
        ref = params.ref
        known = PromptRef(ref.name) if isinstance(ref, t.PromptReference) else TemplateRef(ref.uri)
        context = (params.context.arguments or {}) if params.context else {}
        try:
            found = self._workflow.complete(known, params.argument.name, params.argument.value, context)
        except GreenroomError as error:
            raise wire.protocol_error(error, legacy=_exchange(ctx).connection is not None) from None
        values = list(found.values)
        total = found.total if found.total is not None else len(values)
        return t.CompleteResult(
            completion=t.Completion(
                values=values[:MAX_COMPLETIONS], total=total, has_more=total > min(len(values), MAX_COMPLETIONS)
            )
        )

    # --- the older era's switches --------------------------------------------------------------------------

    async def set_level(self, ctx: Context, params: t.SetLevelRequestParams) -> t.EmptyResult:
        if (connection := _exchange(ctx).connection) is not None:
            connection.log_level = Level(params.level)
        return t.EmptyResult()

    async def subscribe(self, ctx: Context, params: t.SubscribeRequestParams) -> t.EmptyResult:
        if (connection := _exchange(ctx).connection) is not None:
            connection.subscribe(str(params.uri))
        return t.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: t.UnsubscribeRequestParams) -> t.EmptyResult:
        if (connection := _exchange(ctx).connection) is not None:
            connection.unsubscribe(str(params.uri))
        return t.EmptyResult()


def make_server(
    handlers: Handlers, listen: ListenHandler, *, name: str, version: str, instructions: str
) -> Server[Any]:
    """The SDK's low-level server over our handlers."""
    listed = CacheHint(ttl_ms=LIST_TTL_MS, scope="public")
    with warnings.catch_warnings():
        # `logging/setLevel` is deprecated for new servers; clients of the older era still call it.
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        server: Server[Any] = Server(
            name,
            version=version,
            title="Greenroom",
            instructions=instructions,
            cache_hints={
                "tools/list": listed,
                "prompts/list": listed,
                "resources/list": listed,
                "resources/templates/list": listed,
                "resources/read": CacheHint(ttl_ms=0, scope="private"),
                "server/discover": listed,
            },
            on_list_tools=handlers.list_tools,
            on_call_tool=handlers.call_tool,
            on_list_prompts=handlers.list_prompts,
            on_get_prompt=handlers.get_prompt,
            on_list_resources=handlers.list_resources,
            on_list_resource_templates=handlers.list_resource_templates,
            on_read_resource=handlers.read_resource,
            on_subscribe_resource=handlers.subscribe,
            on_unsubscribe_resource=handlers.unsubscribe,
            on_subscriptions_listen=listen,
            on_completion=handlers.complete,
            on_set_logging_level=handlers.set_level,
        )
    # A parked turn lives in this process, so its seal need not outlive it either.
    security = RequestStateSecurity.ephemeral(audience=name)
    security.bind_principal = None
    server.middleware.append(RequestStateBoundary(security, default_audience=name))
    return server


def _one_page(params: t.PaginatedRequestParams | None) -> None:
    """Our lists fit one page, so no cursor was ever given out."""
    if params is not None and params.cursor is not None:
        raise MCPError(t.INVALID_PARAMS, "Unknown cursor")


def _exchange(ctx: Context) -> Exchange:
    assert isinstance(ctx.request, Exchange)
    return ctx.request


def _note_overload(exchange: Exchange, error: GreenroomError) -> None:
    exchange.retry_after = error.data.get("retry_after")
