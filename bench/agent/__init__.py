"""What a turn of the agent costs when the model is not the bottleneck, and what the server costs before its first."""
