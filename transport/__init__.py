"""HTTP in, HTTP out: the Quart-Trio app, the MCP endpoint, framing, health, and the serving entry point.

Below stands `actors`, which is only ever asked; nothing here keeps the state of a session.
"""
