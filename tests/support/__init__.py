"""What tests of several kinds share: real processes, the real database server, its nginx front."""
