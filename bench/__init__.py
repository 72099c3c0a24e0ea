"""Scripts that measure. Run one with `python -m bench.<folder>.<name>`; none is part of the tests."""
