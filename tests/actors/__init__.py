"""Session actors: the pure core as a table, the Trio shell on a mock clock, threads for real."""
