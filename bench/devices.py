"""Times fits on the GPU, on all cores of the CPU, and in PyTorch.

    python3 bench/devices.py LIBRARY_FOLDER [--n 10000 --p 10000 --mu 1000] [--method roofs|roofs-bayes]
                             [--no-cuda] [--no-cpu] [--no-torch] [--python]

LIBRARY_FOLDER holds libroofs.so.1 and libroofs_cuda.so. The data has the paper's setting: 30% corrupted, no intercept,
not standardised. It is one array in host memory, and every fit gets it as one block. Prints one JSON object with the
seconds of each fit and their ratios. --python also times the installed Python package on the GPU, which gets the same
array (in Fortran order, as it sees it).
"""
import argparse
import ctypes as C
import json
import re
import sys
import time
from pathlib import Path

import numpy as np

HEADER = Path(__file__).resolve().parent.parent / "include/roofs/roofs.h"
SCALARS = {"size_t": C.c_size_t, "int64_t": C.c_int64, "int32_t": C.c_int32, "double": C.c_double, "char": C.c_char}


def struct(name, header=HEADER.read_text()):
    """The ctypes struct of a C struct, from its declaration in roofs.h. Pointers are void pointers, enums are int."""
    body = re.search(rf"typedef struct {name} \{{(.*?)\}} {name};", header, flags=re.S)[1]
    fields = []
    for declaration in re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(";")[:-1]:
        kind, field, length = re.fullmatch(r"\s*(.+?)(\w+)(?:\[(\d+)\])?", declaration, flags=re.S).groups()
        ctype = C.c_void_p if "*" in kind else SCALARS.get(kind.strip(), C.c_int)
        fields.append((field, ctype * int(length) if length else ctype))
    return type(name, (C.Structure,), {"_fields_": fields})


Settings, Error, Block, Feature, Result = (
    struct(f"roofs_{name}") for name in ("settings", "error", "block", "feature", "result"))


def load(folder):
    found = sorted(folder.glob("libroofs.so*"))
    if not found:
        sys.exit(f"{folder} has no libroofs.so.1; pass the folder of a build")
    library = C.CDLL(str(found[0]))
    library.roofs_destroy.argtypes = [C.c_void_p]
    return library


def data(n, p, mu, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((p, n))
    beta = np.zeros(p)
    beta[rng.permutation(p)[:mu]] = rng.random(mu)
    beta /= np.linalg.norm(beta)
    y = beta @ X
    bad = rng.permutation(n)[:round(0.3 * n)]
    y[bad] += 5 * np.abs(y).max() * rng.uniform(-1, 1, len(bad))
    return X, y + np.sqrt(0.1) * rng.standard_normal(n)


def fit(library, X, y, mu, method, device, threads=0):
    """(seconds, {feature: coefficient}, trusted samples, rounds)"""
    settings, error, estimator, view = Settings(), Error(), C.c_void_p(), Result()
    block = Block(count=len(X), n=len(y), dtype=int(X.dtype == np.float32), values=X.ctypes.data,
                  feature_stride=len(y), sample_stride=1)
    texts = {"mu": mu, "method": method, "device": device, "threads": threads, "intercept": 0, "standardize": 0}

    def call(function, *arguments):
        if function(*arguments, C.byref(error)):
            raise RuntimeError(error.text.decode())
    library.roofs_settings_init_sized(C.byref(settings), C.c_size_t(C.sizeof(settings)))
    for name, value in texts.items():
        call(library.roofs_settings_set, C.byref(settings), name.encode(), str(value).encode())
    begin = time.perf_counter()
    call(library.roofs_create, C.byref(estimator), C.byref(settings), y.ctypes.data_as(C.c_void_p), C.c_int64(len(y)))
    call(library.roofs_consume, estimator, C.byref(block))
    call(library.roofs_finish, estimator)
    seconds = time.perf_counter() - begin
    call(library.roofs_view_sized, estimator, C.byref(view), C.c_size_t(C.sizeof(view)))
    features = (Feature * view.selected).from_address(view.features)
    coef = {feature.index: feature.coef for feature in features}
    trust = np.array((C.c_ubyte * view.n).from_address(view.trust))
    rounds = view.rounds
    library.roofs_destroy(estimator)
    return seconds, coef, trust, rounds


def difference(a, b):
    """Largest difference of coefficients over the largest coefficient; infinite if the features differ."""
    if a.keys() != b.keys():
        return float("inf")
    return max(abs(a[k] - b[k]) for k in a) / max(abs(v) for v in a.values())


def torch_fits(X, y, mu):
    """Seconds of two fits after a first one that is not timed, {feature: coefficient}, rounds."""
    sys.path.insert(0, str(Path(__file__).parent))
    import torch
    import torch_roofs
    seconds = []
    for _ in range(3):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        index, coef, _, rounds = torch_roofs.fit(X, y, mu)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    return sorted(seconds[1:]), dict(zip(index.tolist(), coef.tolist())), rounds


def python_fits(X, y, mu, method, repeats):
    """Seconds of fits through the Python package, after a first one that is not timed, {feature: coefficient}."""
    from roofs import RoOFSRegressor
    seconds = []
    for _ in range(repeats + 1):
        model = RoOFSRegressor(mu, method=method, device="cuda", fit_intercept=False, standardize=False, passes=1)
        begin = time.perf_counter()
        model.fit(X.T, y)
        seconds.append(time.perf_counter() - begin)
    return sorted(seconds[1:]), dict(zip(model.kept_indices_.tolist(), model.kept_coefs_.tolist()))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for name, value in (("n", 10000), ("p", 10000), ("mu", 1000), ("repeats", 3), ("cpu-repeats", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--method", default="roofs")
    for name in ("cuda", "cpu", "torch"):
        parser.add_argument(f"--no-{name}", action="store_true")
    parser.add_argument("--python", action="store_true")
    return parser.parse_args()


def main():
    args = parse_arguments()
    library = load(args.folder)
    X, y = data(args.n, args.p, args.mu)
    out = {"method": args.method, "n": args.n, "p": args.p, "mu": args.mu}
    if not args.no_cuda:
        cuda = [fit(library, X, y, args.mu, args.method, "cuda") for _ in range(args.repeats + 1)]
        timed = cuda[1:] or cuda   # the first fit also starts the GPU
        out["cuda_seconds"] = sorted(each[0] for each in timed)
        out["rounds"] = cuda[-1][3]
        out["same_bits"] = cuda[0][1] == cuda[-1][1]
    if args.python and not args.no_cuda:
        out["python_seconds"], coef = python_fits(X, y, args.mu, args.method, args.repeats)
        out["python_times_c"] = min(out["python_seconds"]) / min(out["cuda_seconds"])
        out["python_apart"] = difference(coef, cuda[-1][1])
    if not args.no_cpu:
        cpu = [fit(library, X, y, args.mu, args.method, "cpu") for _ in range(args.cpu_repeats)]
        out["cpu_seconds"] = sorted(each[0] for each in cpu)
        out["cpu_rounds"] = cpu[0][3]
    if not (args.no_cuda or args.no_cpu):
        out["times_cpu"] = min(out["cpu_seconds"]) / min(out["cuda_seconds"])
        out["coefficients_apart"] = difference(cpu[0][1], cuda[-1][1])
        out["same_trust"] = bool((cpu[0][2] == cuda[-1][2]).all())
    if not (args.no_cuda or args.no_torch) and args.method == "roofs":
        out["torch_seconds"], coef, out["torch_rounds"] = torch_fits(X, y, args.mu)
        out["times_torch"] = min(out["torch_seconds"]) / min(out["cuda_seconds"])
        out["torch_apart"] = difference(cuda[-1][1], coef)
    print(json.dumps(out), flush=True)


if __name__ == "__main__":
    main()
