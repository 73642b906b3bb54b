#!/usr/bin/env python3
"""Mortality on PhysioNet 2012: a plain PyTorch script beside edict's estimators, on the same series.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/python_against_torch.py DATA.csv [options]

      --split validation   the part that is judged (or test); the training part alone is learnt from,
                           and a tenth of it, the same for everybody, chooses the epoch
      --rows torch,gru-d,edict
      --seeds 0            of weights and batches
      --json FILE          also write every figure there

DATA.csv is what `edict import physionet` writes. The PyTorch script is what somebody would write who
has a GRU-D and a table: read, standardise, pad batches, train with Adam, keep the best epoch. Its
network is bench/peer/gru_d_torch.py, which computes what `kind="gru-d"` computes (bench/compare checks
both to rounding); settings are those that edict chooses for these data. Everybody has one thread and
reads the file itself. Lines of code are those of the functions below, without their first line, empty
lines and comments. Prints a Markdown table.
"""

import argparse
import ast
import inspect
import json
import pathlib
import sys
import time

import numpy as np

PEER = pathlib.Path(__file__).resolve().parent / "peer"
EPOCHS, PATIENCE, BATCH, RATE, DECAY = 12, 4, 32, 1e-3, 0.01  # as edict.fit_settings has them
HIDDEN, DROPOUT, HOURS = 64, 0.2, 4.0


# ---- what a user writes --------------------------------------------------------------------------


def with_torch(path, learn, choose, judged, seed):
    """Probabilities of death for the judged ids, in their order."""
    import pandas as pd
    import torch
    from gru_d_torch import GruD

    torch.manual_seed(seed)
    frame = pd.read_csv(path, dtype={"id": str})
    statics = [name for name in frame if name.startswith("static:")]
    features = [name for name in frame if name not in ("id", "time", "label", *statics)]
    of_learners = frame["id"].isin(learn)
    mean, scale = frame.loc[of_learners, features].mean(), frame.loc[of_learners, features].std()
    frame[features] = (frame[features] - mean) / scale.replace(0, 1).fillna(1)
    first = frame[of_learners].groupby("id")[statics].first()
    frame[statics] = ((frame[statics] - first.mean()) / first.std().replace(0, 1)).fillna(0)
    series = {}
    for name, rows in frame.groupby("id"):
        values = torch.tensor(rows[features].to_numpy(), dtype=torch.float32)
        series[name] = (
            torch.tensor(rows["time"].to_numpy() / HOURS, dtype=torch.float32),
            torch.nan_to_num(values),
            (~torch.isnan(values)).float(),
            torch.tensor(rows[statics].iloc[0].to_numpy(dtype=np.float32)),
            int(rows["label"].iloc[0]),
        )

    def batch_of(names):
        chosen = [series[name] for name in names]
        longest = max(len(one[0]) for one in chosen)
        times = torch.stack([torch.nn.functional.pad(s[0], (0, longest - len(s[0]))) for s in chosen])
        values, mask = (
            torch.stack([torch.nn.functional.pad(s[k], (0, 0, 0, longest - len(s[0]))) for s in chosen])
            for k in (1, 2)
        )
        covariates = torch.stack([s[3] for s in chosen])
        labels = torch.tensor([s[4] for s in chosen])
        return (torch.zeros(len(chosen)), times, values, mask, covariates), labels

    def probabilities(names):
        model.eval()
        told = []
        with torch.no_grad():
            for k in range(0, len(names), 256):
                told.append(torch.softmax(model(*batch_of(names[k : k + 256])[0]), dim=1)[:, 1])
        return torch.cat(told).double().numpy()

    model = GruD(len(features), len(statics), classes=2, hidden=HIDDEN, dropout=DROPOUT)
    optimiser = torch.optim.AdamW(model.parameters(), RATE, weight_decay=DECAY)
    steps = EPOCHS * -(-len(learn) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps, pct_start=0.05)
    of_choice = np.array([series[name][4] for name in choose])
    best, kept, waited = np.inf, None, 0
    for _ in range(EPOCHS):
        model.train()
        order = [learn[i] for i in torch.randperm(len(learn))]
        for k in range(0, len(order), BATCH):
            inputs, labels = batch_of(order[k : k + BATCH])
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(model(*inputs), labels).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
        p = np.clip(probabilities(choose), 1e-7, 1 - 1e-7)
        loss = -np.mean(np.where(of_choice == 1, np.log(p), np.log(1 - p)))
        if loss < best:
            best, waited = loss, 0
            kept = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        else:
            waited += 1
            if waited == PATIENCE:
                break
    model.load_state_dict(kept)
    return probabilities(judged)


def with_gru_d(path, learn, choose, judged, seed):
    import edict
    from edict.sklearn import EdictClassifier

    data = edict.Dataset.read_csv(path)
    settings = dict(kind="gru-d", seed=seed, data_seed=1, n_jobs=1)
    classifier = EdictClassifier(**settings).fit(data[learn + choose])
    return classifier.predict_proba(data[judged])[:, 1]


def with_edict(path, learn, choose, judged, seed):
    import edict
    from edict.sklearn import EdictClassifier

    data = edict.Dataset.read_csv(path)
    classifier = EdictClassifier(seed=seed, data_seed=1, n_jobs=1).fit(data[learn + choose])
    return classifier.predict_proba(data[judged])[:, 1]


# ---- side by side --------------------------------------------------------------------------------

ROWS = {
    "torch": ("GRU-D, plain PyTorch", with_torch),
    "gru-d": ('`EdictClassifier(kind="gru-d")`', with_gru_d),
    "edict": ("`EdictClassifier()`, which also forecasts", with_edict),
}


def lines_of(source):
    """Lines with code, without a function's first line and documentation."""
    tree = ast.parse(source)
    documented = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node):
            documented |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    code = enumerate(source.splitlines(), 1)
    return sum(bool(line.split("#")[0].strip()) and n not in documented for n, line in code) - 1


def calibration_error(p, died, bins=10):
    """The mean distance of what was told from what happened, in bins of equal width."""
    place = np.minimum((p * bins).astype(int), bins - 1)
    return sum(
        abs(p[place == b].sum() - died[place == b].sum()) for b in range(bins) if (place == b).any()
    ) / len(p)


def main():
    from sklearn.metrics import average_precision_score, roc_auc_score

    import edict

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data")
    parser.add_argument("--split", default="validation", choices=["validation", "test"])
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--json")
    options = parser.parse_args()
    sys.path.insert(0, str(PEER))

    # The parts are those of the command line; an estimator then chooses its epoch by a tenth of what
    # it is given, and PyTorch is given the same tenth. Another data.seed, since by the first one all
    # of these are training series.
    data = edict.Dataset.read_csv(options.data)
    quick = dict(kind="gru-d", epochs=1, hidden=2, threads=1, progress=False)
    parts = edict.Model.train(data, **quick).parts(data)
    ids = np.array(data.ids)
    train, judged = data[parts == "train"], ids[parts == options.split].tolist()
    shares = dict(data_seed=1, data_train=0.9, data_validation=0.1 - 1e-12)
    inner = edict.Model.train(train, **shares, **quick).parts(train)
    learn, choose = (np.array(train.ids)[inner == part].tolist() for part in ("train", "validation"))
    died = (data[judged].labels == 1).astype(int)
    print(f"{len(learn)} stays teach, {len(choose)} choose the epoch, {len(judged)} are judged "
          f"({options.split}), {died.sum()} of whom died", flush=True)

    if "torch" in options.rows.split(","):
        import torch

        torch.set_num_threads(1)
    figures = []
    for row in options.rows.split(","):
        for seed in map(int, options.seeds.split(",")):
            begin, processor = time.perf_counter(), time.process_time()
            p = ROWS[row][1](options.data, learn, choose, judged, seed)
            figures.append(dict(
                row=row, seed=seed, lines=lines_of(inspect.getsource(ROWS[row][1])),
                seconds=time.perf_counter() - begin, processor=time.process_time() - processor,
                auroc=roc_auc_score(died, p), auprc=average_precision_score(died, p),
                brier=float(np.mean((p - died) ** 2)), ece=float(calibration_error(p, died)),
            ))  # fmt: skip
            print(figures[-1], flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")

    network = lines_of((PEER / "gru_d_torch.py").read_text()) + 1
    print("\n| | lines | processor time | AUROC | AUPRC | Brier | ECE |\n|---|--:|--:|--:|--:|--:|--:|")
    for row in options.rows.split(","):
        own = [f for f in figures if f["row"] == row]
        mean = {key: np.mean([f[key] for f in own]) for key in own[0] if key != "row"}
        lines = f"{own[0]['lines']}" + (f" + {network} (the network)" if row == "torch" else "")
        print(f"| {ROWS[row][0]} | {lines} | {mean['processor']:.0f} s | {mean['auroc']:.3f} | "
              f"{mean['auprc']:.3f} | {mean['brier']:.4f} | {mean['ece']:.3f} |")


if __name__ == "__main__":
    main()
