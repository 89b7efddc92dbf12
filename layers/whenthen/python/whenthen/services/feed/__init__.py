"""Feeds: RSS 0.90 to 2.0, RSS 1.0 (RDF), Atom and JSON Feed (PROTOCOLS.md 2)."""
