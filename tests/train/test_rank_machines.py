"""Ranks on two machines: two network namespaces with a cable between them, and hydra that reaches the other one.

The ranks share no network but that cable, and MPICH is told not to pass through memory (NOLOCAL, UCX_TLS), as between machines. In ssh's place
a script enters the other namespace.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT
from ranked import NET, mpirun, with_records

from boxpresso import Net
from boxpresso.proto import parse_net

SOLVER = (
    'net: "net.prototxt" base_lr: 0.01 lr_policy: "fixed" momentum: 0.9 random_seed: 5 max_iter: 6 display: 0 '
    'snapshot_prefix: "out" snapshot: 6 solver_mode: CPU'
)
SSH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
exec ip netns exec "PREFIX-$host" sh -c "$*"
"""


def ip(*words: object) -> None:
    subprocess.run(["ip", *map(str, words)], check=True, capture_output=True)


@pytest.fixture
def machines():
    """The addresses of two namespaces, by their names."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("two network namespaces need root and the command ip (Debian: iproute2)")
    prefix = f"boxpresso{os.getpid()}"
    addresses = ("10.87.0.1", "10.87.0.2")
    names = [f"{prefix}-{address}" for address in addresses]
    try:
        for name in names:
            try:
                ip("netns", "add", name)
            except subprocess.CalledProcessError as error:
                pytest.skip(f"this machine lets no network namespace be made: {error.stderr.decode().strip()}")
        ip("link", "add", "cable0", "netns", names[0], "type", "veth", "peer", "name", "cable1", "netns", names[1])
        for number, (name, address) in enumerate(zip(names, addresses)):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", f"cable{number}")
            for link in ("lo", f"cable{number}"):
                ip("-n", name, "link", "set", link, "up")
        yield prefix, addresses
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def crossed(name: str) -> int:
    """The bytes that came into a namespace by the cable."""
    text = subprocess.run(
        ["ip", "netns", "exec", name, "cat", "/proc/net/dev"], check=True, capture_output=True, text=True
    )
    (line,) = [line for line in text.stdout.splitlines() if "cable" in line]
    return int(line.split(":")[1].split()[0])


def train(folder: Path, *before: str) -> bytes:
    """The weights of a training, which `before` begins."""
    (folder / "out_iter_6.caffemodel").unlink(missing_ok=True)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "MPIR_CVAR_NOLOCAL": "1",
        "UCX_TLS": "tcp,self",
        "BOXPRESSO_THREADS": "1",
    }
    done = subprocess.run(
        [*before, sys.executable, "-m", "boxpresso", "train", "--solver", "solver.prototxt"], cwd=folder, env=environment,
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / "out_iter_6.caffemodel").read_bytes()


@pytest.mark.sweep
def test_two_machines_learn_what_two_ranks_of_one_learn(tmp_path, machines):
    prefix, addresses = machines
    program, *_ = mpirun()
    if "HYDRA" not in subprocess.run([program, "--version"], capture_output=True, text=True).stdout.upper():
        pytest.skip("the command is for MPICH's hydra: pip install mpich")
    folder = with_records(tmp_path)
    text = NET.replace("SOURCE", str(folder / "records")).replace("BATCH", "4")
    (folder / "net.prototxt").write_text(text)
    (folder / "solver.prototxt").write_text(SOLVER)
    ssh = folder / "ssh"
    ssh.write_text(SSH.replace("PREFIX", prefix))
    ssh.chmod(0o755)
    first, second = (f"{prefix}-{address}" for address in addresses)
    before = crossed(second)
    hydra = (
        program,
        "-launcher",
        "ssh",
        "-launcher-exec",
        str(ssh),
        "-hosts",
        ",".join(addresses),
        "-ppn",
        "1",
        "-n",
        "2",
    )
    apart = train(folder, "ip", "netns", "exec", first, *hydra)
    params = Net(parse_net(text), device="cpu").params
    gradients = 4 * sum(blob.data.size for blobs in params.values() for blob in blobs)
    assert crossed(second) - before > 3 * gradients  # of six steps
    assert apart == train(folder, program, "-n", "2")
    assert apart != train(folder)
