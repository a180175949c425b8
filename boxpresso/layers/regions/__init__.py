"""Layers that pool features inside regions: ROIPooling, ROIAlign, rotated, deformable, position-sensitive ones.

Read region_base.py, roi_align.py and roi_align.cu first; region.h says what a region is and in which layouts features lie,
sample.h how a bilinear sample is taken, bins.h and grid.h how a region is cut, tiles.h how a GPU makes gradients of maps with
thousands of blocks and without atomics. `*_base.py` and the headers are what several
layers of this room share.
"""
