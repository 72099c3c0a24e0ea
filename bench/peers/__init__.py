"""The servers that are measured beside ours: what they are, how they are installed, how they are started."""
