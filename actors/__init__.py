"""One actor per client session: the pure session core, its Trio shell, the turn, and the supervisor.

Above stands `transport`, which asks and waits; below stands `workflow`, which does what a turn is asked to do.
"""
