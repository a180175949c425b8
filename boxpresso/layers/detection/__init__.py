"""Layers of boxes: priors, anchors, proposals, their targets and losses, suppression and evaluation.

Read detection_output.py first, then proposal.py. Boxes on the host are in data/boxes.py, in kernels in boxes.h and rotated.h;
rcnn.py has the boxes of the R-CNN family, whose widths count the last pixel, and suppress.py all suppression. order.py,
detection_choice.py, proposal_choice.py, pyramid_choice.py and yolo_choice.py choose boxes on a GPU without the host.
"""
