#!/usr/bin/env python3
"""The cost model of docs/scaling.md, and the runs it is checked against.

    scaling.py measure [--build DIR]       2 ranks against 2 threads, weak scaling, memory, constants
    scaling.py check NAME=VALUE...         predictions beside runs of 1-4 ranks; inside bench/namespaces, across limited links
    scaling.py plot OUT.svg                the model up to 1024 ranks, for three networks

Times mean something on a quiet machine only."""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTH, SHORT_SUM, GATHER_MOST = 32, 4096, 65536

# Seconds per value and pass over it, seconds per sample and round (residual, sort); seconds per message and step, bytes per second.
MACHINE = {"value": 3.0e-10, "sample": 6.0e-8}
NETWORKS = {"one machine": (1.5e-6, 5e9), "InfiniBand": (2e-6, 1.2e10), "10 Gbit Ethernet": (25e-6, 1.2e9)}


# ---- the model ---------------------------------------------------------------------------------

def sum_bytes(count, ranks):
    """What a rank sends for a sum of `count` numbers."""
    if count * ranks <= SHORT_SUM:
        return 8 * count * (ranks - 1)
    return 2 * 8 * math.ceil(count / ranks) * (ranks - 1)


def message(size, ranks, network):
    """Seconds of one sum or gather of which each rank sends `size` bytes in all."""
    latency, bandwidth = network
    return 0 if ranks == 1 else latency * math.ceil(math.log2(ranks)) + size / bandwidth


def trust_bytes(n, ranks):
    """The trust set: residuals where they are few, else counts (three looks at 256 tau, each a selection of 16 digits)."""
    if n <= GATHER_MOST:
        return 8 * n / ranks * (ranks - 1), 1
    looks = 3
    return looks * 16 * sum_bytes(512 * 16, ranks), looks * 21 + 18


def batch(n, mu, new, ranks, rounds, network, machine=None):
    """(seconds, bytes sent per rank) of one batch of `new` features, method roofs."""
    machine = machine or MACHINE
    own = n / ranks
    seconds = 3 * new * own * machine["value"] + message(48 * new * (ranks - 1), ranks, network)
    sent = (48 * new + 24) * (ranks - 1)
    for k in range(rounds):
        columns = mu + new if k == 0 else mu
        blocks, work = math.ceil(columns / WIDTH), 2 * WIDTH * own * machine["value"]
        meet = message(sum_bytes(WIDTH, ranks), ranks, network)
        seconds += 2 * columns * own * machine["value"] + (blocks - 1) * max(0, meet - work) + meet
        size, messages = trust_bytes(n, ranks)
        seconds += own * machine["sample"] + messages * message(size / messages, ranks, network)
        seconds += 4 * message(8 * (ranks - 1), ranks, network)
        sent += 8 * columns * (ranks - 1) if ranks * WIDTH <= SHORT_SUM else blocks * sum_bytes(WIDTH, ranks)
        sent += size + 32 * (ranks - 1)
    return seconds, sent


def memory(n, mu, new, ranks, reserve=0, size=8):
    """Bytes of features per rank."""
    return (mu * (1 + reserve) + new) * n / ranks * size


# ---- runs ------------------------------------------------------------------------------------

def environment():
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def fit(build, folder, mu, new, ranks=1, threads=1, launcher=()):
    """What a fit told: its summary, and what rank 0 sent."""
    line = ["fit", "--json", "-q", "--method", "roofs", "--mu", mu, "--batch", new, "--threads", threads, "--y", folder / "y.npy", folder / "X.npy"]
    if ranks == 0:
        command = [build / "roofs", *line]
    else:
        command = ["mpirun", *(launcher or ("--oversubscribe",)), "-n", ranks, build / "roofs-mpi", "--traffic", *line]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True, env=environment())
    return json.loads(done.stdout), json.loads(done.stderr.splitlines()[-1]) if ranks else {}


def simulate(build, folder, n, p, mu):
    subprocess.run(list(map(str, [build / "roofs", "simulate", "-q", "-o", folder, "--n", n, "--p", p, "--mu", mu, "--corruption", 0.1])), check=True)
    return folder


def best(runs, *arguments, **more):
    return min((fit(*arguments, **more) for _ in range(runs)), key=lambda told: told[0]["fit_seconds"])


def measure(build, folder):
    n, p, mu, new = 200_000, 400, 100, 100
    whole = simulate(build, folder / "whole", n, p, mu)
    threads = best(3, build, whole, mu, new, ranks=0, threads=2)[0]["fit_seconds"]
    split, _ = best(3, build, whole, mu, new, ranks=2)
    print(f"2 ranks against 2 threads: {threads / split['fit_seconds']:.1%} of the speed ({threads:.2f} s, {split['fit_seconds']:.2f} s)")
    bound = memory(n, mu, new, 2)
    print(f"peak memory of rank 0: {split['peak_bytes'] / 2**20:.0f} MiB, features {bound / 2**20:.0f} MiB: {split['peak_bytes'] / bound:.1%}")
    half = simulate(build, folder / "half", n // 2, p, mu)
    one, _ = best(3, build, half, mu, new, ranks=1)
    per_round = [told["fit_seconds"] / told["rounds"] for told in (one, split)]
    print(f"weak scaling, 1 to 2 ranks, per round: {per_round[0] / per_round[1]:.1%}")
    columns = sum((mu + new) if k == 0 else mu for k in range(one["rounds"]))
    print(f"value: {one['fit_seconds'] / (2 * columns * n / 2):.3g} s")
    small = simulate(build, folder / "small", 64, 40, 4)
    for ranks in (2, 4):
        _, sent = best(3, build, small, 4, 10, ranks=ranks)
        each = sent["wait_seconds"] / (sent["sums"] + sent["gathers"])
        print(f"latency, {ranks} ranks: {each / math.ceil(math.log2(ranks)):.3g} s per message and step")


def check(build, folder, latency, bandwidth, value, sample, launcher):
    n, p, mu, new = 40_000, 200, 50, 50
    data = simulate(build, folder / "data", n, p, mu)
    machine = {"value": value, "sample": sample}
    for ranks in (1, 2, 3, 4):
        told, sent = best(3, build, data, mu, new, ranks=ranks, launcher=launcher)
        batches = math.ceil(p / new)
        seconds, size = batch(n, mu, new, ranks, max(1, round(told["rounds"] / batches)), (latency, bandwidth), machine)
        print(f"{ranks} ranks: {told['fit_seconds']:.3f} s, predicted {seconds * batches:.3f} s; "
              f"{sent['sum_bytes'] + sent['gather_bytes']:,} bytes sent, predicted {size * batches:,.0f}")


def plot(out):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    ranks = [2 ** k for k in range(11)]
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for name, network in NETWORKS.items():
        times = [batch(10 ** 8, 2000, 100, r, 20, network)[0] for r in ranks]
        axes.loglog(ranks, [times[0] / t for t in times], marker="o", markersize=3, label=name)
    axes.loglog(ranks, ranks, color="grey", linewidth=0.8, label="ideal")
    axes.set(xlabel="ranks", ylabel="speed, 1 rank = 1", title="model: n = 10^8, mu = 2000, batches of 100, 20 rounds")
    axes.legend()
    figure.tight_layout()
    figure.savefig(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("measure", "check", "plot"))
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--launcher", default="", help="options of mpirun, for example those of bench/namespaces")
    args = parser.parse_args()
    if args.what == "plot":
        return plot(args.rest[0])
    given = {"latency": 1.5e-6, "bandwidth": 5e9, **MACHINE, **{k: float(v) for k, v in (word.split("=") for word in args.rest)}}
    with tempfile.TemporaryDirectory() as folder:
        if args.what == "measure":
            return measure(args.build.resolve(), Path(folder))
        return check(args.build.resolve(), Path(folder), given["latency"], given["bandwidth"], given["value"], given["sample"],
                     args.launcher.split())


if __name__ == "__main__":
    sys.exit(main())
