"""REST beside MCP: the same sessions, the same tools and the same checks, as plain HTTP with real statuses.

`table` says what there is; everything else reads it: `binding` makes it concrete for the workflow that is served,
`endpoint` answers requests by it, `openapi` and the page at `/docs` describe it. So what is documented is what is done.
"""
