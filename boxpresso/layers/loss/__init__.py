"""Layers that compare a prediction with its target: losses and Accuracy.

Read euclidean_loss.py first, then softmax_with_loss.py; normalized_sum.py is the sum that losses share, core/normalizer.py what
it is divided by.
"""
