#!/usr/bin/env python3
"""Would a richer distribution pay? Two answers that need no new network:

    PYTHONPATH=build/release/python /usr/bin/python3 bench/richer_distributions.py MODEL DATA.csv

Correlated features: edict's joint distribution of what is observed at one moment is a Student-t with a
diagonal scale. Its scale matrix gets constant correlations instead, estimated from the errors of half of
the validation series (all of them, or as a few factors and a diagonal), and the other half judges by
how many nats a value the joint density rises.

Mixtures: the standardised errors of each feature are fitted by one Student-t and by a mixture of two of
common centre on one half; the other half judges by how many nats a value the second is ahead.

Needs NumPy, pandas and SciPy (Debian: python3-pandas, python3-scipy).
"""

import sys

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.stats import norm, t as student_t

import edict
from edict._native import address, check, lib
from edict.forecast import empty_arrays
from edict.guard import GuardPointer

FEWEST = 50  # observations of a pair, or of a feature, below which nothing is estimated


def errors(model, data):
    """Every observation with its error in scales, degrees of freedom and normal score."""
    arrays = empty_arrays(data.observations)
    rest = [np.empty(data.observations) for _ in range(3)]
    check(lib.edict_model_surprise(model._handle, data._handle, np.inf, GuardPointer(None).address, 0, None,
                                   *(address(a) for a in (*arrays, *rest))))
    frame = data.to_frame("long")[["id", "time", "feature", "value"]]
    frame["error"] = (frame["value"] - arrays[0]) / arrays[3]
    frame["dof"] = arrays[4]
    frame["score"] = np.sign(frame["error"]) * norm.isf(np.maximum(rest[2], 1e-12) / 2)
    return frame


def correlations(scores):
    """Of normal scores, events × features, pair by pair."""
    seen = ~np.isnan(scores)
    filled = np.where(seen, scores, 0.0)
    pairs = seen.T.astype(float) @ seen
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (filled.T @ filled) / np.sqrt((filled**2).T @ seen * (seen.T @ filled**2))
    r = np.where(pairs >= FEWEST, r, 0.0)
    np.fill_diagonal(r, 1.0)
    return r


def factors(r, rank):
    """The nearest of so many factors and a diagonal; None: only made positive definite."""
    values, vectors = np.linalg.eigh(r)
    keep = values > 0.02 if rank is None else np.arange(len(values)) >= len(values) - rank
    low = (vectors[:, keep] * np.maximum(values[keep], 0)) @ vectors[:, keep].T
    if rank is None:
        low += 0.02 * np.eye(len(r))
        scale = np.sqrt(np.diag(low))
        return low / np.outer(scale, scale)
    np.fill_diagonal(low, 1.0)
    lowest = np.linalg.eigvalsh(low)[0]
    return low if lowest > 0.02 else (low + (0.02 - lowest) * np.eye(len(r))) / (1.02 - lowest)


def joint_gain(events, dof, r):
    """Nats a value by which the joint Student-t with these correlations is ahead of the diagonal one."""
    gain, values = 0.0, 0
    for row, d in zip(events, dof):
        at = np.flatnonzero(~np.isnan(row))
        z, m = row[at], len(at)
        part = r[np.ix_(at, at)]
        _, determinant = np.linalg.slogdet(part)
        turned = z @ np.linalg.solve(part, z)
        gain += -0.5 * determinant - 0.5 * (d + m) * (np.log1p(turned / d) - np.log1p(z @ z / d))
        values += m
    return gain / values


def mixture_gain(fit, judged):
    """Nats a value, and values, by which a mixture of two is ahead of one."""
    def one(p, x):
        return student_t.logpdf(x, 2.1 + np.exp(p[0]), scale=np.exp(p[1]))

    def two(p, x):
        share = 1 / (1 + np.exp(-p[4]))
        return np.logaddexp(np.log(share) + one(p[:2], x), np.log1p(-share) + one(p[2:4], x))

    def best(density, start):
        return minimize(lambda p: -density(np.clip(p, -6, 6), fit).mean(), start, method="Nelder-Mead",
                        options={"maxiter": 600}).x.clip(-6, 6)

    alone = best(one, [1.0, 0.0])
    both = best(two, [alone[0], alone[1] - 1.0, alone[0], alone[1] + 0.5, 0.0])
    return two(both, judged).mean() - one(alone, judged).mean()


def main():
    model = edict.Model.load(sys.argv[1])
    data = edict.Dataset.read_csv(sys.argv[2], like=model)
    data = data[model.parts(data) == "validation"]
    frame = errors(model, data)
    half = pd.util.hash_array(frame["id"].to_numpy(dtype=object)) % 2 == 0
    wide = frame.pivot_table(index=["id", "time"], columns="feature", values=["error", "score"])
    dof = frame.groupby(["id", "time"])["dof"].first()
    fits = pd.util.hash_array(wide.index.get_level_values("id").to_numpy(dtype=object)) % 2 == 0
    r = correlations(wide["score"].to_numpy()[fits])
    events, dof = wide["error"].to_numpy()[~fits], dof.to_numpy()[~fits]
    print(f"{fits.sum()} events fit, {len(events)} judge; gain of the joint density in nats a value:")
    for rank in (1, 2, 3, 5, 8, None):
        print(f"  {'all correlations' if rank is None else f'{rank} factors'}: {joint_gain(events, dof, factors(r, rank)):+.4f}")
    names = list(wide["score"].columns)
    strongest = sorted(((abs(r[i, j]), i, j) for i in range(len(r)) for j in range(i)), reverse=True)[:6]
    print("  strongest: " + ", ".join(f"{names[j]} and {names[i]} {r[i, j]:+.2f}" for _, i, j in strongest))
    total = values = 0
    for name, own in frame.groupby("feature"):
        fit, judged = own["error"][half[own.index]].to_numpy(), own["error"][~half[own.index]].to_numpy()
        if min(len(fit), len(judged)) < 20 * FEWEST:
            continue
        gain = mixture_gain(fit, judged)
        total, values = total + gain * len(judged), values + len(judged)
        print(f"  {name}: mixture of two {gain:+.4f} ({len(judged)} values)")
    print(f"mixtures, all of these: {total / values:+.4f} nats a value")


if __name__ == "__main__":
    main()
