#!/usr/bin/env python3
"""The cost model of docs/scaling.md, and the measurements that check it. Run it on a machine without other load.

    scaling.py measure                          2 ranks and 2 threads, weak scaling, memory, constants of the model
    scaling.py check [NAME=VALUE...]            compares predictions with fits on 1 to 4 ranks; bench/namespaces runs
                                                it across slow links
    scaling.py plot OUT.svg [NAME=VALUE...]     the model up to 1024 ranks, for three networks

NAME: value, arrival, sample, crowd (see MACHINE), rate (bytes per second between two ranks).
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# Constants of src/linalg/columns_split.c, src/linalg/vector.c, mpi/comm_mpi.c, src/robust/order_statistics.c and
# src/robust/trust_search.c.
WIDTH, BLOCK_VALUES, GATHER_MOST, SHORT_SUM, GRID, WAYS, FEW = 32, 1 << 18, 65536, 4096, 64, 16, 32

# Measured by `measure`. Seconds per value that a round reads (it reads each twice), per value that arrives, and per
# sample and round (sort, residual). crowd: how many times slower a rank is when another one shares its memory.
MACHINE = {"value": 3.1e-10, "arrival": 1.5e-9, "sample": 2.4e-8, "crowd": 1.7}
NETWORKS = {"one machine": (0.44e-6, 5e9), "InfiniBand": (2e-6, 1.2e10), "10 Gbit Ethernet": (25e-6, 1.2e9)}


# ---- the model ---------------------------------------------------------------------------------

class Cost:
    """Seconds of a fit; bytes and messages that a rank sends."""

    def __init__(self, ranks, network):
        self.ranks, (self.latency, self.rate) = ranks, network
        self.seconds = self.bytes = self.messages = 0

    def _message(self, size, steps):
        self.bytes += size
        self.messages += 1
        return 0 if self.ranks == 1 else steps * self.latency * math.ceil(math.log2(self.ranks)) + size / self.rate

    def _sum(self, count):
        if count * self.ranks <= SHORT_SUM:
            return self._message(8 * count * (self.ranks - 1), 1)
        return self._message(16 * math.ceil(count / self.ranks) * (self.ranks - 1), 2)

    def sum(self, count):
        self.seconds += self._sum(count)

    def gather(self, size):
        self.seconds += self._message(size * (self.ranks - 1), 1)

    def sum_during(self, count, work):
        """A sum during `work` seconds of computation."""
        self.seconds += work + max(0, self._sum(count) - work)


def block_width(own):
    return min(WIDTH, 4 * max(1, math.ceil(BLOCK_VALUES // (own + 1) / 4)))


def trust_set(cost, n, ranks):
    """Eq. (5). The number of steps depends on the residuals. These counts are for normally distributed ones."""
    if n <= GATHER_MOST:
        cost.gather(8 * n / ranks)
        return

    def select(places, lists):
        for each in lists:
            cost.sum(WAYS * each)
        cost.gather(8)
        cost.gather(8 * places * (1 + FEW / 2 / ranks))
    select(3, [3] * (5 + math.ceil(math.log2(n / FEW) / 4)))
    taus = n / 2   # candidates
    while taus >= 1:
        grid = min(GRID, taus)
        select(2 * grid, [2, grid / 2, grid])
        for _ in range(3):
            cost.sum(grid)
        cost.gather(16 * grid)
        taus /= GRID
    cost.sum(1)
    cost.gather(8)


def predict(n, p, mu, new, ranks, rounds, network, machine, cores=None):
    """The cost of a fit by method roofs with `rounds` rounds per batch. The ranks share one machine with `cores` cores;
    None: each has a machine of its own."""
    own, cost = n / ranks, Cost(ranks, network)
    slower = 1 if not cores or ranks == 1 else machine["crowd"] * max(1, ranks / cores)
    for _ in range(2):   # the median and the spread of y
        cost.gather(8 * own if n <= GATHER_MOST else 8 * 3 * FEW)
    value, arrival, sample = (machine[name] * slower for name in ("value", "arrival", "sample"))
    for seen in range(0, p, new):
        cost.seconds += new * own * arrival
        cost.gather(48 * new)
        for _ in range(3):
            cost.gather(8)
        for k in range(rounds):
            columns = min(seen, mu) + new if k == 0 else min(seen + new, mu)
            width = block_width(own)
            work = 2 * width * own * value
            for _ in range(math.ceil(columns / width) - 1 if ranks > 1 else 0):
                cost.sum_during(width, work)
            cost.sum(width)
            cost.seconds += work if ranks > 1 else 2 * columns * own * value
            cost.seconds += own * sample
            trust_set(cost, n, ranks)
            for _ in range(4):   # norms, the intercept, how far the residuals moved, the monitor
                cost.gather(8)
    return cost


# ---- measurements ----------------------------------------------------------------------------

def command(build, folder, mu, new, rounds, ranks=1, threads=1, launcher=(), method="roofs"):
    line = ["fit", "--json", "-q", "--method", method, "--mu", mu, "--batch", new, "--tol", 0, "--max-iter", rounds,
            "--threads", threads, "--y", folder / "y.npy", folder / "X.npy"]
    program = [build / "roofs"] if ranks == 0 else ["mpirun", *(launcher or ("--oversubscribe",)), "-n", ranks,
                                                    build / "roofs-mpi", "--traffic"]
    return list(map(str, [*program, *line]))


def start(line):
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def summary(process):
    """The summary of a fit, and the traffic of rank 0."""
    out, err = process.communicate()
    if process.returncode:
        sys.exit(err)
    traffic = [json.loads(line) for line in err.splitlines() if line.startswith('{"sums"')]
    return {**json.loads(out), **(traffic[-1] if traffic else {})}


def fit(*arguments, **more):
    return summary(start(command(*arguments, **more)))


def simulate(build, folder, n, p, mu):
    line = [build / "roofs", "simulate", "-q", "-o", folder, "--n", n, "--p", p, "--mu", mu, "--corruption", 0.1]
    subprocess.run(list(map(str, line)), check=True)
    return folder


def seconds(runs):
    return statistics.median(run["fit_seconds"] for run in runs)


def compare(build, whole, half, mu, new, rounds, method, repeats):
    """Alternates the kinds of fits, so that changes in the speed of the machine affect all of them."""
    threads, split, alone, beside = [], [], [], []
    for _ in range(repeats):
        threads.append(fit(build, whole, mu, new, rounds, ranks=0, threads=2, method=method))
        split.append(fit(build, whole, mu, new, rounds, ranks=2, method=method))
        alone.append(fit(build, half, mu, new, rounds, method=method))
        pair = [start(["taskset", "-c", core, *command(build, half, mu, new, rounds, ranks=0, method=method)])
                for core in ("0", "1")]
        beside.append(max((summary(process) for process in pair), key=lambda run: run["fit_seconds"]))
    print(f"{method}: 2 ranks against 2 threads: {seconds(threads) / seconds(split):.0%} of the speed "
          f"({seconds(threads):.2f} s, {seconds(split):.2f} s)")
    print(f"{method}: weak scaling, 1 to 2 ranks: {seconds(alone) / seconds(split):.0%}; two independent processes at "
          f"the same time: {seconds(alone) / seconds(beside):.0%}; 2 ranks against those: "
          f"{seconds(beside) / seconds(split):.0%}", flush=True)
    return split[-1], seconds(beside) / seconds(alone)


def constants(build, half, n, p):
    """Least squares for seconds = value x 2 x values read + arrival x values + sample x samples x rounds, on fits of
    one rank."""
    import numpy as np
    rows, times = [], []
    for mu, new, rounds in ((1000, 100, 1), (1000, 100, 4), (100, 100, 1), (100, 100, 6), (20, 100, 8)):
        fits = [fit(build, half, mu, new, rounds) for _ in range(3)]
        read = sum(min(seen, mu) + new if k == 0 else min(seen + new, mu) for seen in range(0, p, new)
                   for k in range(rounds))
        rows.append([2 * read * n, p * n, n * rounds * p / new])
        times.append(seconds(fits))
    rows, times = np.array(rows), np.array(times)
    found = np.linalg.lstsq(rows / times[:, None], np.ones(len(times)), rcond=None)[0]
    print(" ".join(f"{name}={number:.3g}" for name, number in zip(("value", "arrival", "sample"), found)),
          f"(largest error of these {np.abs(rows @ found / times - 1).max():.0%})")


def latency(build, folder, ranks, launcher=()):
    """Seconds per message and step, from a fit that hardly computes."""
    small = folder / "small"
    if not small.exists():
        simulate(build, small, 64, 40, 4)
    runs = [fit(build, small, 4, 10, 8, ranks=ranks, launcher=launcher) for _ in range(3)]
    each = min(run["wait_seconds"] / (run["sums"] + run["gathers"]) for run in runs)
    return each / math.ceil(math.log2(ranks))


def measure(build, folder, repeats):
    n, p, mu, new = 200_000, 1200, 1000, 100
    whole, half = simulate(build, folder / "whole", n, p, mu), simulate(build, folder / "half", n // 2, p, mu)
    split, crowd = compare(build, whole, half, mu, new, 3, "roofs", repeats)
    compare(build, whole, half, mu, new, 2, "roofs-bayes", repeats)
    bound = 8 * (mu + new) * n / 2
    print(f"peak memory of rank 0: {split['peak_bytes'] / 2**20:.0f} MiB, features {bound / 2**20:.0f} MiB: "
          f"{split['peak_bytes'] / bound:.1%}", flush=True)
    print(f"crowd={crowd:.3g}", flush=True)
    constants(build, half, n // 2, p)
    for ranks in (2, 4):
        print(f"latency, {ranks} ranks: {latency(build, folder, ranks):.3g} s per message and step")


def check(build, folder, machine, rate, launcher):
    cores = len(os.sched_getaffinity(0))
    for n, p, mu, new, rounds in ((40_000, 200, 50, 50, 8), (200_000, 200, 50, 50, 8)):
        data = simulate(build, folder / f"data{n}", n, p, mu)
        for ranks in (1, 2, 3, 4):
            run = min((fit(build, data, mu, new, rounds, ranks=ranks, launcher=launcher) for _ in range(3)),
                      key=lambda run: run["fit_seconds"])
            each = latency(build, folder, ranks, launcher) if ranks > 1 else 0
            cost = predict(n, p, mu, new, ranks, rounds, (each, rate), machine, cores)
            print(f"n={n}, {ranks} ranks: {run['fit_seconds']:.3f} s, predicted {cost.seconds:.3f} s "
                  f"({cost.seconds / run['fit_seconds']:.2f}); "
                  f"{run['sum_bytes'] + run['gather_bytes']:,} bytes in {run['sums'] + run['gathers']} messages, "
                  f"predicted {cost.bytes:,.0f} in {cost.messages if ranks > 1 else 0}; {each * 1e6:.1f} us per "
                  f"message and step", flush=True)


def plot(out, machine):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    ranks = [2 ** k for k in range(11)]
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for (n, p, mu), dashes in (((10 ** 8, 2500, 2000), "-"), ((10 ** 6, 1500, 1000), "--")):
        for (name, network), colour in zip(NETWORKS.items(), ("tab:blue", "tab:green", "tab:orange")):
            times = [predict(n, p, mu, 100, r, 10, network, machine).seconds for r in ranks]
            share = [100 * times[0] / t / r for t, r in zip(times, ranks)]
            axes.semilogx(ranks, share, dashes, color=colour, marker="o", markersize=3,
                          label=f"n = {n:.0e}, mu = {mu}, {name}")
            print(f"n = {n}, {name}, 1024 ranks: {share[-1]:.0f}% of 1024 times the speed of one")
    axes.set(xlabel="ranks", ylabel="speed per rank, % of one rank's",
             title="The model: batches of 100, 10 rounds each", ylim=(0, 103), xticks=ranks)
    axes.set_xticklabels(ranks)
    axes.minorticks_off()
    axes.grid(axis="y", color="0.9")
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("measure", "check", "plot"))
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--launcher", default="", help="options of mpirun, for example those of bench/namespaces")
    args = parser.parse_args()
    given = {**MACHINE, "rate": 5e9, **{k: float(v) for k, v in (word.split("=") for word in args.rest if "=" in word)}}
    if args.what == "plot":
        return plot(args.rest[0], given)
    with tempfile.TemporaryDirectory() as folder:
        if args.what == "measure":
            return measure(args.build.resolve(), Path(folder), args.repeats)
        return check(args.build.resolve(), Path(folder), given, given["rate"], args.launcher.split())


if __name__ == "__main__":
    sys.exit(main())
