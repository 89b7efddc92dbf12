"""Calendar: events of an iCalendar feed (RFC 5545), when they start and when they are new."""
