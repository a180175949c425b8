"""Benchmarks beside other programs: `python -m benchmarks nets|train|regions|layers [--peers]`.

kernels.py, data.py and ranks.py measure what has no peer, and are run as files.
"""
