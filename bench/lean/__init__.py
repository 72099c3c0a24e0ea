"""What the endpoint itself costs, without a socket."""
