"""Benchmarks: what a tick costs and how exact it is, measured side by side in one process."""
