"""The workflow that the official MCP conformance suite plays against, one module per kind of thing it offers."""

from greenroom.workflow.conformance.workflow import ConformanceWorkflow

__all__ = ["ConformanceWorkflow"]
