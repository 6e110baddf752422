"""The table of docs/theory.md: the bounds of `roofs inspect --theory` beside the real error, on simulated data.

    python3 bench/theory.py [build/roofs]
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = str(Path(sys.argv[1] if len(sys.argv) > 1 else "build/roofs").resolve())
SEEDS, FEATURES, EFFECTS, NOISE_VARIANCE = 20, 50, 5, 0.1
CELLS = [(n, corruption, method) for method in ("roofs", "roofs-bayes") for n in (1000, 10000)
         for corruption in (0, 0.01, 0.05, 0.1, 0.2)]


def run(*args):
    return subprocess.run([PROGRAM, *map(str, args)], check=True, capture_output=True, text=True).stdout


def theory_of(folder, n, corruption, method, seed):
    run("simulate", "-o", folder, "--n", n, "--p", FEATURES, "--mu", EFFECTS, "--corruption", corruption,
        "--noise-var", NOISE_VARIANCE, "--seed", seed, "--quiet")
    x, y, model = f"{folder}/X.npy", f"{folder}/y.npy", f"{folder}/model.json"
    run("fit", "--y", y, x, "--mu", EFFECTS, "--method", method, "-o", model, "--quiet", "--threads", 1)
    return json.loads(run("inspect", model, "--theory", "--y", y, x, "--truth", folder, "--noise",
                          NOISE_VARIANCE ** 0.5, "--corruption", corruption, "--json"))["theory"]


def mean_of(values):
    """Mean over the fits to which a bound applies, and their number."""
    there = [v for v in values if v is not None]
    return f"{sum(there) / len(there):.2f} ({len(there)})" if there else "- (0)"


def fails(found):
    """How many bounds are below the real error although all that they assume is true."""
    truth = found["truth"]
    if truth["missed_features"]:
        return 0
    bounds = [found["bound"]["value"], None if truth["corrupt_trusted"] else found["published"]["value"]]
    return sum(b is not None and b < truth["error"] for b in bounds)


def main():
    wrong = 0
    print(f"| method | samples | corrupt | real error | `bound` (fits of {SEEDS}) | `paper` (fits of {SEEDS}) |")
    print("|---|---|---|---|---|---|")
    for n, corruption, method in CELLS:
        with tempfile.TemporaryDirectory() as folder:
            found = [theory_of(f"{folder}/{seed}", n, corruption, method, seed) for seed in range(1, SEEDS + 1)]
        wrong += sum(map(fails, found))
        error = sum(f["truth"]["error"] for f in found) / SEEDS
        bound, theorem = (mean_of([f[key]["value"] for f in found]) for key in ("bound", "published"))
        print(f"| `{method}` | {n} | {corruption:.0%} | {error:.3f} | {bound} | {theorem} |", flush=True)
    print(f"\nBounds below the real error, where what they assume is true: {wrong}")


if __name__ == "__main__":
    main()
