"""Benchmarks: each prints ratios measured in one run against one server. Run all with ``make bench``."""
