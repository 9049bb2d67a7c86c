"""The commands as processes: what they print where, and how they end."""
