"""Looking after kept conversations: as functions, from the command line, over HTTP."""
