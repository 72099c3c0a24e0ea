"""Settings and the command line."""
