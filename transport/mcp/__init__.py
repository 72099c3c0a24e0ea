"""The MCP endpoint, both eras of the protocol on one path. The only package that imports the SDK.

The SDK's kernel holds the protocol's rules (method table, version negotiation, envelope ladder, result shapes,
sealed request state); this package owns HTTP, streams and sessions. `endpoint` is the door, `modern` and
`legacy` serve one era each, `handlers` is what the kernel calls, `conversation` carries an order to a session
actor and back, `wire` translates values.
"""
