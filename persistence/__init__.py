"""What outlives a turn. Records are plain values; what a turn answered is opaque at this level."""
