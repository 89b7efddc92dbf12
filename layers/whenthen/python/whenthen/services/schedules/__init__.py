"""When things happen by the clock: slots in time zones, and what to do about those that were missed (R7)."""
