"""Whole fits on the GPU against the same program on all cores, and against a straightforward PyTorch version.

    python3 bench/devices.py LIBRARY_FOLDER [--n 10000 --p 10000 --mu 1000] [--method roofs|roofs-bayes] [--no-cpu]
    [--no-torch]

The data (the paper's setting: 30% corrupted, no intercept, not standardised) lies in host memory as one array; every
fit gets it as one block. Prints one JSON object: seconds of each, and ratios.
"""
import argparse
import ctypes as C
import json
import sys
import time
from pathlib import Path

import numpy as np

I64, DBL, TEXT, I32 = C.c_int64, C.c_double, C.c_char_p, C.c_int32


class Settings(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("method", TEXT), ("mu", I64), ("batch", I64), ("passes", I64),
                ("max_iter", I64), ("clean_ratio", DBL), ("reserve", DBL), ("lambda_", DBL), ("eta", DBL), ("tol", DBL),
                ("reading", I64), ("storage", I64), ("intercept", I64), ("standardize", I64), ("threads", I64),
                ("max_memory", I64), ("device", I64)]


class Error(C.Structure):
    _fields_ = [("status", I32), ("feature", I64), ("text", C.c_char * 1000), ("reserved", I64 * 8)]


class Block(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("count", I64), ("n", I64), ("values", C.c_void_p),
                ("feature_stride", I64), ("sample_stride", I64), ("names", C.c_void_p), ("starts", C.c_void_p),
                ("samples", C.c_void_p), ("dtype", I32), ("index", I32)]


class Feature(C.Structure):
    _fields_ = [("index", I64), ("name", TEXT), ("coef", DBL), ("probability", DBL)]


class Result(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("method", TEXT), ("n", I64), ("features_seen", I64),
                ("constant", I64), ("selected", I64),
                ("features", C.POINTER(Feature)), ("intercept", DBL), ("trusted", I64), ("trust", C.POINTER(C.c_ubyte)),
                ("clean", C.POINTER(DBL)), ("residual", C.POINTER(DBL)), ("quantiles", I64),
                ("quantile", C.POINTER(DBL)), ("cut", DBL),
                ("rounds", I64), ("batches", I64), ("history", C.c_void_p), ("stop", I32), ("reserved", I32)]


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
    settings, error, estimator = Settings(), Error(), C.c_void_p()
    library.roofs_settings_init_sized(C.byref(settings), C.c_size_t(C.sizeof(settings)))
    settings.mu, settings.method, settings.threads = mu, method.encode(), threads
    settings.device = {"cpu": 0, "cuda": 1, "auto": 2}[device]
    settings.intercept = settings.standardize = 0
    block = Block(count=len(X), n=len(y), dtype=int(X.dtype == np.float32), values=X.ctypes.data, feature_stride=len(y),
                  sample_stride=1)

    def call(status):
        if status:
            raise RuntimeError(error.text.decode())
    begin = time.perf_counter()
    call(library.roofs_create(C.byref(estimator), C.byref(settings), y.ctypes.data_as(C.c_void_p), I64(len(y)),
                              C.byref(error)))
    call(library.roofs_consume(estimator, C.byref(block), C.byref(error)))
    call(library.roofs_finish(estimator, C.byref(error)))
    seconds = time.perf_counter() - begin
    view = Result()
    call(library.roofs_view_sized(estimator, C.byref(view), C.c_size_t(C.sizeof(view)), C.byref(error)))
    coef = {view.features[k].index: view.features[k].coef for k in range(view.selected)}
    trust = np.ctypeslib.as_array(view.trust, (view.n,)).copy()
    rounds = view.rounds
    library.roofs_destroy(estimator)
    return seconds, coef, trust, rounds


def apart(a, b):
    """Largest difference of coefficients over the largest coefficient; infinite where the features differ."""
    if a.keys() != b.keys():
        return float("inf")
    return max(abs(a[k] - b[k]) for k in a) / max(abs(v) for v in a.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for name, value in (("n", 10000), ("p", 10000), ("mu", 1000), ("repeats", 3), ("cpu-repeats", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--method", default="roofs")
    parser.add_argument("--no-cpu", action="store_true")
    parser.add_argument("--no-torch", action="store_true")
    args = parser.parse_args()
    library = C.CDLL(str(args.folder / "libroofs.so"))
    library.roofs_destroy.argtypes = [C.c_void_p]
    X, y = data(args.n, args.p, args.mu)
    out = {"method": args.method, "n": args.n, "p": args.p, "mu": args.mu}
    # the first one warms up
    runs = [fit(library, X, y, args.mu, args.method, "cuda") for _ in range(args.repeats + 1)]
    out["cuda_seconds"] = sorted(run[0] for run in runs[1:] or runs)
    out["rounds"] = runs[-1][3]
    out["same_bits"] = runs[0][1] == runs[-1][1]
    cuda = min(out["cuda_seconds"])
    if not args.no_cpu:
        cpu = [fit(library, X, y, args.mu, args.method, "cpu") for _ in range(args.cpu_repeats)]
        out["cpu_seconds"] = sorted(run[0] for run in cpu)
        out["times_cpu"] = min(out["cpu_seconds"]) / cuda
        out["coefficients_apart"] = apart(cpu[0][1], runs[-1][1])
        out["same_trust"] = bool((cpu[0][2] == runs[-1][2]).all())
        out["cpu_rounds"] = cpu[0][3]
    if not args.no_torch and args.method == "roofs":
        sys.path.insert(0, str(Path(__file__).parent))
        import torch
        import torch_roofs
        seconds = []
        for _ in range(3):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            index, coef, trusted, rounds = torch_roofs.fit(X, y, args.mu)
            torch.cuda.synchronize()
            seconds.append(time.perf_counter() - begin)
        out["torch_seconds"] = sorted(seconds[1:])
        out["times_torch"] = min(out["torch_seconds"]) / cuda
        out["torch_rounds"] = rounds
        out["torch_apart"] = apart(runs[-1][1], dict(zip(index.tolist(), coef.tolist())))
    print(json.dumps(out), flush=True)


if __name__ == "__main__":
    main()
