"""Reading hostile documents in a process of their own, with limits."""
