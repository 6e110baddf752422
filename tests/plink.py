"""Writes files of PLINK 1, value by value: nothing is shared with the reader that they test."""
import numpy as np

MISSING = -1
CODES = {2: 0b00, MISSING: 0b01, 1: 0b10, 0: 0b11}   # copies of A1


def write_bed(path, genotypes):
    """`genotypes`: people x variants, copies of A1."""
    people, variants = genotypes.shape
    content = bytearray(b"\x6c\x1b\x01")
    for j in range(variants):
        row = bytearray((people + 3) // 4)
        for i in range(people):
            row[i // 4] |= CODES[int(genotypes[i, j])] << 2 * (i % 4)
        content += row
    path.write_bytes(bytes(content))


def people_of(count):
    return [(f"F{i // 2}", f"I{i}") for i in range(count)]


def variants_of(count, chromosomes=3):
    return [(1 + j * chromosomes // count, f"rs{j}", 1000 + 10 * j, "A", "G") for j in range(count)]


def write(prefix, genotypes, people=None, variants=None, phenotype=None):
    """Writes PREFIX.bed, .bim and .fam; returns the path of the first."""
    n, p = genotypes.shape
    people, variants = people or people_of(n), variants or variants_of(p)
    phenotype = [-9] * n if phenotype is None else phenotype
    paths = [prefix.with_name(prefix.name + ending) for ending in (".bed", ".bim", ".fam")]
    write_bed(paths[0], genotypes)
    paths[1].write_text("".join(f"{c}\t{name}\t0\t{at}\t{a}\t{b}\n" for c, name, at, a, b in variants))
    paths[2].write_text("".join(f"{f} {i} 0 0 1 {y}\n" for (f, i), y in zip(people, phenotype)))
    return paths[0]


def write_table(path, people, columns, header=True, sep="\t"):
    """FID, IID and columns of values; `columns`: name -> values."""
    lines = [sep.join(["FID", "IID", *columns])] if header else []
    lines += [sep.join([f, i, *(str(values[k]) for values in columns.values())]) for k, (f, i) in enumerate(people)]
    path.write_text("\n".join(lines) + "\n")
    return path


def draw(people=203, variants=120, missing=0.03, seed=1):
    """Genotypes with and without missing values, and a response with a tenth of gross errors."""
    r = np.random.default_rng(seed)
    complete = r.binomial(2, r.uniform(0.1, 0.5, variants), (people, variants))
    causal = [5, 50, 90] if variants > 90 else [0, 1, 2]
    y = complete[:, causal] @ [1.0, -1.0, 2.0] + r.normal(0, 0.3, people)
    y[: people // 10] += 40
    holes = np.where(r.random(complete.shape) < missing, MISSING, complete)
    return complete, holes, y


def filled(genotypes):
    """As numbers: a missing value is the mean of the others of its variant, or 0 if there are none."""
    x = genotypes.astype(float)
    for j in range(x.shape[1]):
        present = genotypes[:, j] != MISSING
        x[~present, j] = genotypes[present, j].sum() / present.sum() if present.any() else 0
    return x
