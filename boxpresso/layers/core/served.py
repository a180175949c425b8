"""Which layer type runs in the place of a class that a published net names, so that its module is not needed."""

from __future__ import annotations

from collections.abc import Sequence

# (module, class): the layer type; the modules are not imported.
SERVED = {
    ("roi_data_layer.layer", "RoIDataLayer"): "RoIData",
    ("rpn.proposal_layer", "ProposalLayer"): "Proposal",
    ("rpn.anchor_target_layer", "AnchorTargetLayer"): "AnchorTarget",
    ("rpn.proposal_target_layer", "ProposalTargetLayer"): "ProposalTarget",
    ("rotation.rproposal_layer", "ProposalLayer"): "RotateProposal",
    ("rotation.anchor_target_layer", "AnchorTargetLayer"): "RotateAnchorTarget",
    ("rotation.rproposal_target_layer", "ProposalTargetLayer"): "RotateProposalTarget",
    ("rotation.rlayer", "RoIDataLayer"): "RotateRoIData",
    ("roi_data_layer_with_instance.layer", "RoIDataLayer"): "RoIData",
    ("roi_data_layer.layer", "OHEMDataLayer"): "HardRegions",
    ("pylayer.proposal_layer", "ProposalLayer"): "MNCProposal",
    ("pylayer.anchor_target_layer", "AnchorTargetLayer"): "AnchorTarget",
    ("pylayer.proposal_target_layer", "ProposalTargetLayer"): "MNCProposalTarget",
    ("pylayer.mask_layer", "MaskLayer"): "MNCMask",
    ("pylayer.stage_bridge_layer", "StageBridgeLayer"): "MNCStageBridge",
    ("ron_layer.det_layer", "DetLayer"): "RONDetection",
    ("ron_layer.anchor_target_layer", "AnchorTargetLayer"): "RONAnchorTarget",
    ("ron_layer.det_target_layer", "DetTargetLayer"): "RONTarget",
    ("SSH.layers.proposal_layer", "ProposalLayer"): "SSHProposal",
    ("SSH.layers.anchor_target_layer", "AnchorTargetLayer"): "SSHAnchorTarget",
    ("layers.text_proposal_layer", "ProposalLayer"): "TextProposal",
    ("fast_rcnn.crop_angles", "CropAnglesLayer"): "CropAngles",
    ("maxout_layer.layer", "MaxoutLayer"): "Maxout",
    ("rpn.as_rois", "As_roisLayer"): "PyramidRegions",
    ("rpn.as_rois_mrcnn", "As_rois_MergeRcnnLayer"): "PyramidRegions",
    ("rpn.proposal_target_layer_mrcnn", "ProposalMergeRcnnTargetLayer"): "FPNProposalTarget",
    ("spatial_dropout", "SpatialDropoutLayer"): "SpatialDropout",
    ("pyloss", "EuclideanLossLayer"): "EuclideanLoss",
    ("caffe.CosineLossLayer", "CosineLossLayer"): "PairCosineLoss",
    ("caffe.layers.detectnet.clustering", "ClusterGroundtruth"): "ClusterGroundtruth",
    ("caffe.layers.detectnet.clustering", "ClusterDetections"): "ClusterDetections",
    ("caffe.layers.detectnet.mean_ap", "ScoreDetections"): "ScoreDetections",
    ("caffe.layers.detectnet.mean_ap", "mAP"): "PrecisionRecall",
    ("voc_layers", "VOCSegDataLayer"): "VOCSegData",
    ("voc_layers", "SBDDSegDataLayer"): "SBDDSegData",
    ("pascalcontext_layers", "PASCALContextSegDataLayer"): "PASCALContextSegData",
    ("nyud_layers", "NYUDSegDataLayer"): "NYUDSegData",
    ("siftflow_layers", "SIFTFlowSegDataLayer"): "SIFTFlowSegData",
}
PYRAMIDS = {"Proposal": "FPNProposal", "AnchorTarget": "FPNAnchorTarget", "ProposalTarget": "FPNProposalTarget"}


def served(module: str, layer: str, axes: Sequence[int], tops: int) -> str:
    """The layer type that runs in the place of a class. What its bottoms and tops tell apart has a type of its own.

    Parameters
    ----------
    module, layer
        Names among those of SERVED.
    axes
        How many axes each bottom has.
    tops
        The number of tops.

    Examples
    --------
    >>> served("rpn.proposal_layer", "ProposalLayer", [4] * 11, 1)  # of a feature pyramid
    'FPNProposal'
    """
    kind = SERVED[module, layer]
    if kind == "ProposalTarget" and tops == 7:
        return "MaskProposalTarget" if len(axes) == 3 else "ViewpointProposalTarget"
    if kind == "ProposalTarget" and tops == 8 and len(axes) == 3 and axes[2] == 2:
        return "InclinedProposalTarget"
    if module.startswith("pylayer."):
        return "MNCAnchorTarget" if kind == "AnchorTarget" and len(axes) == 5 else kind
    many = tops >= 8 if kind == "ProposalTarget" else len(axes) > 4
    return PYRAMIDS[kind] if kind in PYRAMIDS and many else kind
