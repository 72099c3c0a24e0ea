"""The three ways to talk to a workflow folder: the exact command, the assistant, the agent.

Above stands the stage, which knows this package only as a `Workflow`; below stand the engine that runs commands,
the router that finds them, and the language model port.
"""
