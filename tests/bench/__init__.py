"""The benchmark's own parts: how it reads responses, what it lets pass, what it makes of figures."""
