"""Fields of forks' solvers that no part of the training reads: those that change what is learned are refused, of those that
change what is written there is a warning."""

from __future__ import annotations

import warnings

from ..proto import SolverParameter
from ..proto.errors import ModelError
from ..proto.unread import other_values

# They change the rates, the gradients or the weights.
REFUSED = (
    "rampup_interval", "min_lr", "momentum_policy", "weight_decay_policy", "larc", "start_lr_policy", "warmup_iter",
    "local_lr_auto", "disabled_update", "gan_solver", "clip_weights", "clamp_weights_lower", "clamp_weights_upper",
    "apply_fixbit",
)  # fmt: skip
# They change what a test reports, or what a snapshot holds and when it is written.
PASSED_OVER = (
    "snapshot_diff", "test_average", "test_offset", "test_before_snapshot", "test_and_snapshot_last_epochs",
    "apply_fixbit_test_on_init", "store_blobs_in_old_format", "solver_data_type",
)  # fmt: skip
# Without a meaning by themselves: of those above, or of an lr_policy that is refused by its name; or they choose a device.
OF_OTHERS = (
    "rampup_lr", "max_momentum", "momentum_power", "weight_decay_power", "max_weight_decay", "larc_policy", "larc_eta",
    "larc_turbo", "warm_up_iters", "warm_up_factor", "warm_up_method", "warm_up_power", "max_lr", "stagelr", "stageiter",
    "warmup_start_lr", "local_gw_ratio", "fixwidth", "richness", "engine", "data_type", "device", "device_id", "group_id",
    "layer_wise_reduce", "log_avg_gradient_norm",
)  # fmt: skip


def check_forks(param: SolverParameter) -> None:
    """Raises ModelError for a field that would train otherwise, and warns of one that is passed over."""
    for name, _ in other_values(param, REFUSED):
        raise ModelError(f"solver: {name} of a fork of Caffe is not supported; remove it")
    for name, _ in other_values(param, PASSED_OVER):
        warnings.warn(f"solver: {name} is not supported, and is passed over", stacklevel=2)
