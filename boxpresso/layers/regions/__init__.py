"""Layers that pool features inside regions: ROIPooling, ROIAlign, rotated, deformable, position-sensitive ones.

Read roi_align.py and roi_align.cu first; region.h says what a region is, sample.h how a bilinear sample is taken.
"""
