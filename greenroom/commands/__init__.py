"""What each command does: one module per command, or per few that belong together.

Above all layers, so each may import what it needs. Heavy things are imported inside functions: help, a mistake and a
bad configuration are answered at once.
"""
