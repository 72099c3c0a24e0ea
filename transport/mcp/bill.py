"""The bill as MCP shows it: every act with the entry that a client is listed. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import mcp.types as t

from greenroom.transport import bill
from greenroom.transport.bill import MAX_REPORTED, StageOptions, option_schemas
from greenroom.transport.mcp import wire
from greenroom.workflow.values import Tool

__all__ = ["MAX_REPORTED", "Act", "StageOptions", "make_bill", "option_schemas"]


@attrs.frozen
class Act(bill.Act):
    listed: t.Tool = attrs.field(init=False)

    @listed.default
    def _entry(self) -> t.Tool:
        return wire.tool(self.tool, self.input_schema)


def make_bill(workflow_tools: Iterable[Tool], house_tools: Iterable[Tool], max_timeout: float) -> dict[str, Act]:
    return bill.make_bill(Act, workflow_tools, house_tools, max_timeout)
