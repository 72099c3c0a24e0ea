"""The real MCP clients that people connect with, each run against a real server on a real socket.

Not a test suite of the protocol (that is the conformance run) and not unit tests: pytest collects nothing
here. It answers one question per client: does this program, at this version, list our tools, show progress
while a call runs, and get the result?

`run` is the command, `catalogue` the clients, `install` what they need, `server` the server under test;
`report` is what every client's script prints. The other modules and the `.mjs` files are those scripts.
"""
