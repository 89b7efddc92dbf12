"""Partner: services that speak the IFTTT service protocol (PROTOCOLS.md 3); we are the engine that asks them."""
