"""Method roofs in plain PyTorch on a GPU, to compare `--device cuda` with.

The data is in host memory, one row per feature. Each batch is uploaded; kept features stay on the GPU.
"""
import torch


def eq5(sorted_r):
    """The largest tau of eq. (5): see docs/method-roofs.md."""
    n = len(sorted_r)
    half = (n + 1) // 2
    squares = sorted_r * sorted_r
    sums = torch.cumsum(squares, 0)
    tau = torch.arange(half + 1, n + 1, device=sorted_r.device)
    smallest = tau - half
    mean = sums[smallest - 1] / smallest
    above = torch.searchsorted(squares, mean).clamp(1, n - 1)
    closer = squares[above] - mean < mean - squares[above - 1]
    other = torch.where(closer, above + 1, above)
    fits = sorted_r[tau - 1] <= 2.0 * tau * sorted_r[other - 1] / other
    return int(tau[fits].max()) if bool(fits.any()) else min(half + 1, n)


def fit(X, y, mu, batch=100, eta=0.1, tol=1e-3, max_iter=100, device="cuda"):
    """X: array of p features x n samples in host memory. Returns (indices, coefficients, trusted samples, rounds)."""
    n = len(y)
    y = torch.as_tensor(y, device=device)
    kept = torch.empty((0, n), dtype=torch.float64, device=device)
    index = torch.empty(0, dtype=torch.int64, device=device)
    beta = torch.empty(0, dtype=torch.float64, device=device)
    trusted = torch.ones(n, dtype=torch.bool, device=device)
    rounds = 0
    scale = y.abs().max()
    for first in range(0, len(X), batch):
        new = torch.as_tensor(X[first:first + batch]).to(device)
        kept = torch.cat([kept, new])
        index = torch.cat([index, torch.arange(first, first + len(new), device=device)])
        beta = torch.cat([beta, torch.zeros(len(new), dtype=torch.float64, device=device)])
        before = torch.zeros(n, dtype=torch.float64, device=device)
        for _ in range(max_iter):
            residual = y - beta @ kept
            gradient = kept @ (residual * trusted)
            beta = beta + eta / trusted.sum() * gradient
            if len(beta) > mu:
                stay = torch.sort(torch.topk(beta.abs(), mu).indices).values
                kept, index, beta = kept[stay], index[stay], beta[stay]
            r = (y - beta @ kept).abs()
            sorted_r, place = torch.sort(r, stable=True)
            tau = eq5(sorted_r / scale)
            trusted = torch.zeros(n, dtype=torch.bool, device=device)
            trusted[place[:tau]] = True
            moved = torch.linalg.vector_norm((r - before)[trusted]) / tau
            before = r
            rounds += 1
            if moved <= tol:
                break
    return index.cpu().numpy(), beta.cpu().numpy(), trusted.cpu().numpy(), rounds
