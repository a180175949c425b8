"""The verb time: how long each layer takes, forward and backward."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from . import arguments

NAME = "time"
SHORT = "time each layer, forward and backward"
TEXT = """\
Time each layer, forward and backward, as `caffe time` does, with random inputs.
Data layers give random values too, unless --data read opens their data. A net
without a loss gets its gradients as if its prototxt said
`force_backward: true`.
"""
EPILOG: str | None = None


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    arguments.model(parser, weights=False)
    text = "how often to run it (default: 50)"
    parser.add_argument("--iterations", metavar="N", type=arguments.positive, default=50, help=text)
    both = parser.add_mutually_exclusive_group()
    both.add_argument("--backward", action="store_true", default=True, help="time both passes (the default)")
    both.add_argument("--forward-only", dest="backward", action="store_false", help="time the forward pass alone")
    arguments.phase(parser)
    arguments.data(parser)
    arguments.device(parser)


def run(args: Namespace) -> int:
    """Prints what `caffe time` prints: the average times of each layer, and of the net."""
    from ..net.timing import time_net, timing_net

    net = timing_net(
        args.model, args.weights, backward=args.backward, device=args.device, phase=args.phase, level=args.level,
        stages=args.stage, **arguments.of_data(args), **arguments.of_net(args),
    )  # fmt: skip
    if net.sources and net.sources.types:
        print(f"Without data: {', '.join(net.sources.types)} (--data read opens it)")
    kind = "forward-backward" if args.backward else "forward"
    print(f"*** Benchmark begins *** ({net.device.describe()})")
    print(f"Testing for {args.iterations} iterations.", flush=True)

    def show(i: int, seconds: float) -> None:
        print(f"Iteration: {i} {kind} time: {1000 * seconds:.4g} ms.", flush=True)

    times = time_net(net, args.iterations, backward=args.backward, report=show)
    each = 1000 / args.iterations
    width = max(map(len, times.names), default=0)
    print("Average time per layer:")
    for name, ahead, back in zip(times.names, times.forward, times.backward):
        print(f"{name:>{width}}\tforward: {ahead * each:.4g} ms.")
        if args.backward:
            print(f"{name:>{width}}\tbackward: {back * each:.4g} ms.")
    ahead, back = (sum(values) * each for values in zip(*times.passes))
    print(f"Average Forward pass: {ahead:.4g} ms.")
    if args.backward:
        print(f"Average Backward pass: {back:.4g} ms.")
        print(f"Average Forward-Backward: {times.total * each:.4g} ms.")
    print(f"Total Time: {1000 * times.total:.4g} ms.")
    print("*** Benchmark ends ***")
    return 0
