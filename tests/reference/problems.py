"""What the random problems of several references share."""


def degenerate(rng, x):
    """Makes some columns constant and repeats some columns and samples."""
    p, n = x.shape
    if rng.random() < 0.2:                                      # constant columns
        x[rng.random(p) < 0.3] = rng.choice([0.0, 1.0, -2.5])
    if rng.random() < 0.2:                                      # duplicate columns
        x[rng.integers(p, size=p // 3)] = x[rng.integers(p)]
    if rng.random() < 0.1:                                      # duplicate samples
        x[:, rng.integers(n, size=n // 3)] = x[:, [rng.integers(n)]]
    return x
