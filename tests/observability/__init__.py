"""What an operator sees: the door, sessions and streams, figures, spans."""
