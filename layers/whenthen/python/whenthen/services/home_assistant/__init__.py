"""Home Assistant: its services, webhooks and states (REST API), in your own network or on the internet."""
