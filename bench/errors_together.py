#!/usr/bin/env python3
"""What correlations between features are worth, on the validation stays of PhysioNet:

    PYTHONPATH=build/release/python /usr/bin/python3 bench/errors_together.py CALIBRATED.model physionet.csv EDICT

Copulas: half of the stays fit a correlation matrix of normal scores and the other half judges by how many nats a
value a Gaussian copula with it, or a Student-t copula, is ahead of independent features.

Contradictions: a mean arterial pressure outside of diastolic and systolic cannot be. How many of those, and of the
others, have a tail probability below 0.001, by themselves and with `predict --together`, by the program EDICT.

Needs NumPy, pandas and SciPy (Debian: python3-pandas, python3-scipy).
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import gammaln
from scipy.stats import norm, t as student_t

import edict
from richer_distributions import correlations, errors

PRESSURES = (("DiasABP", "MAP", "SysABP"), ("NIDiasABP", "NIMAP", "NISysABP"))


def positive_definite(r, least):
    values, vectors = np.linalg.eigh(r)
    near = (vectors * np.maximum(values, least)) @ vectors.T
    scale = np.sqrt(np.diag(near))
    return near / np.outer(scale, scale)


def copula_gain(scores, r, dof=np.inf):
    """Nats a value by which the copula is ahead of independence; scores are events × features."""
    events = {}
    for k, seen in enumerate(~np.isnan(scores)):
        events.setdefault(seen.tobytes(), []).append(k)
    gain = values = 0
    for seen, rows in events.items():
        at = np.flatnonzero(np.frombuffer(seen, bool))
        root, m, n = np.linalg.cholesky(r[np.ix_(at, at)]), len(at), scores[np.ix_(rows, at)]
        if np.isinf(dof):
            joint, alone = -0.5 * (np.linalg.solve(root, n.T) ** 2).sum(0), -0.5 * (n**2).sum(1)
        else:
            n = -np.sign(n) * student_t.ppf(norm.cdf(-np.abs(n)), dof)
            constant = gammaln((dof + m) / 2) - gammaln(dof / 2) - m / 2 * np.log(dof * np.pi)
            joint = constant - (dof + m) / 2 * np.log1p((np.linalg.solve(root, n.T) ** 2).sum(0) / dof)
            alone = student_t.logpdf(n, dof).sum(1)
        gain += (joint - np.log(np.diag(root)).sum() - alone).sum()
        values += len(rows) * m
    return gain / values


def print_copulas(model, data):
    wide = errors(model, data).pivot_table(index=["id", "time"], columns="feature", values="score")
    fits = pd.util.hash_array(wide.index.get_level_values("id").to_numpy(dtype=object)) % 2 == 0
    r, judged = correlations(wide.to_numpy()[fits].clip(-4, 4)), wide.to_numpy()[~fits]
    print(f"{fits.sum()} events fit, {len(judged)} judge; gain over independence in nats a value:")
    for least in (0.05, 0.02, 0.01, 0.005):
        print(f"  Gaussian, eigenvalues from {least} on: {copula_gain(judged, positive_definite(r, least)):+.4f}")
    for dof in (4, 8, 15, 30):
        print(f"  Student-t of {dof}: {copula_gain(judged, positive_definite(r, 0.02), dof):+.4f}")


def print_contradictions(program, model, data):
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder, "given.csv"), Path(folder, "out.csv")
        data.write_csv(given)
        told = {}
        for name, options in (("by itself", []), ("together", ["--together"])):
            subprocess.run([program, "predict", model, given, "--at", "events", *options, "--out", out], check=True)
            told[name] = pd.read_csv(out).set_index(["id", "time"])
    observed = told["together"].pivot_table(index=["id", "time"], columns="feature", values="observed")
    for low, mean, high in PRESSURES:
        three = observed[[low, mean, high]].dropna()
        cannot = (three[mean] < three[low]) | (three[mean] > three[high])
        print(f"{mean}: {cannot.sum()} of {len(three)} lie outside of {low} and {high}")
        for name, rows in told.items():
            tail = rows[rows["feature"] == mean]["tail_probability"].loc[three.index]
            print(f"  {name}: below 0.001 are {(tail[cannot] < 1e-3).mean():.1%} of these, "
                  f"{(tail[~cannot] < 1e-3).mean():.1%} of the others")


def main():
    model = edict.Model.load(sys.argv[1])
    data = edict.Dataset.read_csv(sys.argv[2], like=model)
    data = data[model.parts(data) == "validation"]
    print_copulas(model, data)
    print_contradictions(sys.argv[3], sys.argv[1], data)


if __name__ == "__main__":
    main()
