"""Layers that feed a net, or write what it computed: records, image lists, HDF5, regions of a data set, constants.

Read batches.py first, then data.py.
"""
