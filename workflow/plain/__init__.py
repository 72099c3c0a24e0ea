"""Plain Python as a workflow: functions are commands, classes are contexts, type hints and docstrings the schema.

`load` builds the same definition from a module that the engine builds from a folder; whatever comes after that, from
finding a command to the agent, does not know the difference. Nothing is imported here, because `greenroom` itself
offers `progress` from this package, and must stay cheap to import.
"""
