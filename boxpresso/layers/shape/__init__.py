"""Layers that move, repeat, choose or resample elements without weights: Permute, Concat, Slice, Reshape, Tile, Interp.

Read permute.py first; core/strided.py is the one kernel that most of them call.
"""
