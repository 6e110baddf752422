#!/usr/bin/env python3
"""Writes a large study: genotypes in the format of PLINK 1, and phenotypes of which one in twenty is coded -9.

    python3 bench/genotypes.py 100000 1000000 FOLDER     25 GB, about two minutes
    roofs fit FOLDER/g.bed --y FOLDER/y.txt --mu 1000 --passes 1 --groups off --profile -o model.json

Variants are independent, with allele frequencies from .05 to .5, and one value in 500 is missing. A hundred of them
have an effect, and explain about half of the variance.
"""
import sys
from pathlib import Path

import numpy as np

COPIES = np.array([2.0, np.nan, 1.0, 0.0])      # of the first allele, by the code of PLINK 1
FREQUENCIES = np.linspace(0.05, 0.5, 32)


def bytes_of(rng, frequency):
    """65,536 bytes of four genotypes each, to draw from."""
    copies = rng.binomial(2, frequency, (65536, 4))
    codes = np.where(rng.random(copies.shape) < 0.002, 1, np.array([3, 2, 0])[copies])
    return (codes << np.array([0, 2, 4, 6])).sum(axis=1).astype(np.uint8)


def decode(packed, n):
    codes = (packed[:, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3
    return COPIES[codes.reshape(-1)[:n]]


def main(n, p, folder):
    rng = np.random.default_rng(1)
    tables = [bytes_of(rng, f) for f in FREQUENCIES]
    step, last = max(1, p // 100), n % 4
    y = 0.7 * rng.standard_normal(n)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "g.bed", "wb") as out:
        out.write(b"\x6c\x1b\x01")
        for j in range(p):
            packed = tables[j * 7 % len(tables)][rng.integers(0, 65536, (n + 3) // 4, np.uint16)]
            if last:
                packed[-1] &= (1 << 2 * last) - 1       # no people behind the last one
            if j % step == step // 2:
                x = decode(packed, n)
                y += (0.14 if j // step % 2 else -0.14) * np.where(np.isnan(x), np.nanmean(x), x)
            out.write(packed.tobytes())
    y[rng.random(n) < 0.05] = -9
    np.savetxt(folder / "y.txt", y)
    with open(folder / "g.bim", "w") as out:
        out.writelines(f"{1 + 22 * j // p}\trs{j}\t0\t{100 * j + 1}\tA\tG\n" for j in range(p))
    with open(folder / "g.fam", "w") as out:
        out.writelines(f"F{i} I{i} 0 0 1 -9\n" for i in range(n))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
