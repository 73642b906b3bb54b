#!/usr/bin/env python3
"""What twenty lines of scikit-learn reach on in-hospital death of PhysioNet 2012, so that
`edict benchmark` stands beside an honest competitor.

    edict benchmark --tasks death --from downloads --out field
    edict import physionet --from downloads --out physionet.csv
    bench/field_competitors.py physionet.csv --folds field/death/folds.csv --out competitors.csv
    edict benchmark --tasks death --from downloads --beside competitors.csv --out field

Both read the same statistics of every stay: of each feature minimum, maximum, mean, last, first,
number, deviation and the mean after 36 h, and the covariates. Gradient boosting takes missing ones
as they are; the MLP sees their ranks (quantile-normalised) and is the mean of five seeds. The folds
are those of `edict benchmark`; without --folds they are by a hash of the id.

Needs NumPy, pandas and scikit-learn (Debian: python3-pandas, python3-sklearn).
"""

import argparse
import csv
import hashlib

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

FOLDS = 5
LATE = 36.0  # hours


def statistics(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ids, what is read of every stay, and whether it ended in death."""
    described = [name for name in table if name.startswith("static:")]
    features = [c for c in table if c not in ("id", "time", "label") and c not in described]
    table = table.sort_values(["id", "time"])
    stays = table.groupby("id")
    values = stays[features]
    parts = [values.min(), values.max(), values.mean(), values.last(), values.first(),
             values.count(), values.std(),
             table[table["time"] >= LATE].groupby("id")[features].mean().reindex(stays.size().index),
             stays[described].first()]
    return (np.array(stays.size().index), np.hstack([p.to_numpy(float) for p in parts]),
            stays["label"].first().to_numpy(int))


def boosting(train: np.ndarray, labels: np.ndarray, judged: np.ndarray) -> np.ndarray:
    model = HistGradientBoostingClassifier(max_iter=300, learning_rate=0.04, max_leaf_nodes=15,
                                           early_stopping=True, random_state=0)
    return model.fit(train, labels).predict_proba(judged)[:, 1]


def mlp(train: np.ndarray, labels: np.ndarray, judged: np.ndarray) -> np.ndarray:
    votes = []
    for seed in range(5):
        model = make_pipeline(
            QuantileTransformer(output_distribution="normal", random_state=0),
            SimpleImputer(strategy="constant", fill_value=0.0, add_indicator=True,
                          keep_empty_features=True),
            MLPClassifier((64,), alpha=1.0, early_stopping=True, random_state=seed))
        votes.append(model.fit(train, labels).predict_proba(judged)[:, 1])
    return np.mean(votes, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", help="PhysioNet as `edict import physionet` writes it")
    parser.add_argument("--out", required=True, help="the table task,method,metric,value")
    parser.add_argument("--folds", help="the table id,fold that `edict benchmark` writes")
    options = parser.parse_args()
    ids, inputs, labels = statistics(pd.read_csv(options.data))
    if options.folds:
        table = pd.read_csv(options.folds)
        fold = pd.Series(ids).map(table.set_index("id")["fold"] - 1).fillna(-1).to_numpy(int)
        ids, inputs, labels, fold = (part[fold >= 0] for part in (ids, inputs, labels, fold))
    else:
        fold = np.array([hashlib.sha256(str(i).encode()).digest()[0] % FOLDS for i in ids])
    rows = []
    for name, method in (("gradient boosting on statistics", boosting),
                         ("MLP on statistics, five seeds", mlp)):
        scores = []
        for k in range(FOLDS):
            p = method(inputs[fold != k], labels[fold != k], inputs[fold == k])
            y = labels[fold == k]
            scores.append((roc_auc_score(y, p), average_precision_score(y, p), log_loss(y, p)))
        for metric, own in zip(("auroc", "auprc", "log loss"), np.array(scores).T):
            print(f"{name}: {metric} {own.mean():.4f} ± {own.std():.4f}")
            rows.append(("death", name, metric, f"{own.mean():.6f}"))
    with open(options.out, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("task", "method", "metric", "value"))
        # A comma would be a cell of its own there.
        writer.writerows((t, m.replace(",", ";"), k, v) for t, m, k, v in rows)


if __name__ == "__main__":
    main()
