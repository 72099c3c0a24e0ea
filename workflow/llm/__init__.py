"""Language models: the port that workflows use, and its one implementation, a child process that runs litellm.

`port` has the values and the protocol, `errors` what can go wrong, `process` the implementation. Nothing is
imported here: the child process comes through this package too, and must not pay for what it does not use.
"""
