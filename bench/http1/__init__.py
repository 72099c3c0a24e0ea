"""What a request costs before any work is done: our own connections beside Hypercorn's."""
