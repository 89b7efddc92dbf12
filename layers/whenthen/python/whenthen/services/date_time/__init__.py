"""Date & Time: what happens by the clock, the calendar and the sun."""
