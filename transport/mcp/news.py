"""Changes on their way to the clients who asked to hear of them, in both eras."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mcp.server import subscriptions as sdk

from greenroom.transport.mcp.legacy import LegacyConnection
from greenroom.workflow.events import Change, PromptsChanged, ResourcesChanged, ResourceUpdated, ToolsChanged


class ChangeBus:
    """The SDK's `SubscriptionBus`, fed without waiting: every listener keeps a bounded buffer of its own."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[sdk.ServerEvent], None]] = {}

    def subscribe(self, listener: Callable[[sdk.ServerEvent], None]) -> Callable[[], None]:
        token = object()
        self._listeners[token] = listener
        return lambda: void(self._listeners.pop(token, None))

    async def publish(self, event: sdk.ServerEvent) -> None:
        self.publish_now(event)

    def publish_now(self, event: sdk.ServerEvent) -> None:
        for listener in list(self._listeners.values()):
            listener(event)


def void(_: object) -> None:
    """Throw a value away where a function has to return nothing."""


def modern_event(change: Change) -> sdk.ServerEvent:
    match change:
        case ToolsChanged():
            return sdk.ToolsListChanged()
        case PromptsChanged():
            return sdk.PromptsListChanged()
        case ResourcesChanged():
            return sdk.ResourcesListChanged()
        case ResourceUpdated(uri):
            return sdk.ResourceUpdated(uri)


def tell_legacy(change: Change, connections: Iterable[LegacyConnection]) -> None:
    """List changes go to everybody who listens, an update to those who subscribed to it."""
    for connection in connections:
        match change:
            case ToolsChanged():
                connection.tell("notifications/tools/list_changed", None)
            case PromptsChanged():
                connection.tell("notifications/prompts/list_changed", None)
            case ResourcesChanged():
                connection.tell("notifications/resources/list_changed", None)
            case ResourceUpdated(uri) if uri in connection.subscriptions:
                connection.tell("notifications/resources/updated", {"uri": uri})
