"""The location service: places that phones enter and leave, told by OwnTracks."""
