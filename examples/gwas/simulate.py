#!/usr/bin/env python3
"""Genotypes in linkage, a phenotype with a known answer, and errors in it. Needs NumPy.

    simulate.py FOLDER [--people 1000] [--variants 2000] [--causal 20] [--error gross|coded|corrupted|swapped|none]
                [--seed 1]

writes gwas.bed, gwas.bim, gwas.fam (PLINK 1), pheno.txt (FID IID BMI HEIGHT) and truth.json: the causal variants of
BMI, and the people whose BMI is wrong. HEIGHT has no errors.
"""
import argparse
import json
from pathlib import Path
from statistics import NormalDist

import numpy as np

CHROMOSOMES, SPACING = 5, 3000
NORMAL = NormalDist()
BED = np.array([3, 2, 0], np.uint8)     # the code of 0, 1 and 2 copies of the first allele


def genotypes(rng, people, variants, linkage="loose", block=20, rho=0.9):
    """Copies of the first allele, (variants, people), in blocks of linkage.

    loose: the chances of neighbours correlate at rho, and each variant has a frequency of its own; tight: the alleles
    of neighbours correlate at rho, and a block has one frequency.
    """
    out = np.zeros((variants, people), np.int8)
    for _ in range(2):                  # two haplotypes
        for j in range(variants):
            new = rng.standard_normal(people)
            if j % block == 0:
                chance = new
            elif linkage == "loose":
                chance = rho * chance + np.sqrt(1 - rho * rho) * new
            else:
                chance = np.where(rng.random(people) < rho, chance, new)
            out[j] += chance < NORMAL.inv_cdf(frequency(j if linkage == "loose" else j - j % block))
    return out


def frequency(j):
    """The frequency depends on the place only: training and new people share it."""
    return 0.05 + 0.45 * (((j + 1) * 0.6180339887) % 1)


def answer(rng, variants, causal):
    """The places of the causal variants and their effects."""
    return np.sort(rng.choice(variants, causal, replace=False)), rng.standard_normal(causal)


def values(places, effects, X, center=None, scale=None):
    """Genetic values, standardised, and what standardises those of other people."""
    g = effects @ X[places].astype(float)
    center, scale = (g.mean(), g.std()) if center is None else (center, scale)
    return (g - center) / scale, center, scale


def phenotype(rng, g, heritability=0.5):
    noise = rng.standard_normal(len(g))
    return 25 + 4 * (np.sqrt(heritability) * g + np.sqrt(1 - heritability) * noise)


def errors(rng, y, kind):
    """A copy of y with errors, and the places of the wrong values. Swapped: pairs of people are exchanged."""
    y, n = y.copy(), len(y)
    share = {"none": 0, "gross": 0.01, "coded": 0.05, "corrupted": 0.1, "swapped": 0.2}[kind]
    wrong = rng.permutation(n)[:2 * int(n * share / 2)]
    if kind == "gross":
        y[wrong] *= 10                                        # a decimal point at the wrong place
    elif kind == "coded":
        y[wrong] = -9                                         # a code for a missing value, read as a number
    elif kind == "corrupted":
        y[wrong] = 25 + 4 * (3 + 2 * rng.random(len(wrong)))  # too large, but not impossible
    elif kind == "swapped":
        y[wrong] = y[wrong.reshape(-1, 2)[:, ::-1].ravel()]
    return y, np.sort(wrong), wrong.reshape(-1, 2)


def write_plink(prefix, X, ids):
    """Writes PREFIX.bed, .bim and .fam: the format is a page of the PLINK 1 documentation."""
    variants, people = X.shape
    codes = np.zeros((variants, -(-people // 4) * 4), np.uint8)
    codes[:, :people] = BED[X]
    packed = codes[:, 0::4] | codes[:, 1::4] << 2 | codes[:, 2::4] << 4 | codes[:, 3::4] << 6
    Path(f"{prefix}.bed").write_bytes(bytes([0x6C, 0x1B, 1]) + packed.tobytes())
    chromosome, position = place(variants)
    with open(f"{prefix}.bim", "w") as bim:
        for j in range(variants):
            bim.write(f"{chromosome[j]}\trs{j + 1}\t0\t{position[j]}\tA\tG\n")
    with open(f"{prefix}.fam", "w") as fam:
        fam.writelines(f"{i}\t{i}\t0\t0\t0\t-9\n" for i in ids)


def place(variants):
    """The chromosome and the position of each variant."""
    each = -(-variants // CHROMOSOMES)
    at = np.arange(variants)
    return 1 + at // each, 10_000 + SPACING * (at % each)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--variants", type=int, default=2000)
    parser.add_argument("--causal", type=int, default=20)
    parser.add_argument("--error", default="swapped", choices=["none", "gross", "coded", "corrupted", "swapped"])
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    rng = np.random.default_rng(a.seed)
    X = genotypes(rng, a.people, a.variants)
    ids = [f"p{i + 1}" for i in range(a.people)]
    places, effects = answer(rng, a.variants, a.causal)
    bmi, wrong, pairs = errors(rng, phenotype(rng, values(places, effects, X)[0]), a.error)
    others, other_effects = answer(rng, a.variants, a.causal)
    height = 170 + 2 * phenotype(rng, values(others, other_effects, X)[0])
    write_plink(a.folder / "gwas", X, ids)
    with open(a.folder / "pheno.txt", "w") as file:
        file.write("FID IID BMI HEIGHT\n")
        file.writelines(f"{i} {i} {b:.6g} {h:.6g}\n" for i, b, h in zip(ids, bmi, height))
    truth = {"causal": [f"rs{j + 1}" for j in places], "wrong": [ids[i] for i in wrong],
             "pairs": [[ids[i], ids[j]] for i, j in pairs] if a.error == "swapped" else []}
    (a.folder / "truth.json").write_text(json.dumps(truth) + "\n")


if __name__ == "__main__":
    main()
