"""The tests, by layer; helpers that several layers need stand beside this file."""
