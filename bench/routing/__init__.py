"""Where routing's table comes from, how its confidence was calibrated, and how good it is."""
