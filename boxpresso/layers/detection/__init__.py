"""Layers of boxes: priors, anchors, proposals, their targets and losses, suppression and evaluation.

Read detection_output.py first, then proposal.py. Boxes on the host are in data/boxes.py, in kernels in boxes.h and rotated.h;
rcnn.py has the boxes of the R-CNN family, whose widths count the last pixel, and suppress.py all suppression. order.py
has the best of many in order, choice.py what all choices of boxes share, and each kind a file of its own beside its kernels
(detection_choice.py and its like).
"""
