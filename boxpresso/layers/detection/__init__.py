"""Layers that make and judge boxes: priors, anchors, proposals, their targets and losses, suppression and evaluation.

Read detection_output.py first, then proposal.py; boxes.py and rcnn.py are the two ways of counting a box's size.
"""
