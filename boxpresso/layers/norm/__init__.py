"""Layers that normalise, and the affine maps that follow them: BatchNorm, LRN, MVN, Normalize, Scale, Bias, Softmax.

Read batch_norm.py first.
"""
