"""PhysioNet 2012 from import to a calibrated forecast and a risk of death.

    edict import physionet --from DIR --out physionet.csv       (docs/how-to/datasets.md)
    PYTHONPATH=build/release/python python3 examples/physionet.py physionet.csv [SETTING=VALUE …]

The cells are those of editors and Jupyter; docs/notebooks/physionet.md is the page they make.
"""

# %% [markdown]
# # PhysioNet 2012: from import to calibrated forecast and risk
#
# 48 hours of some eight thousand stays in intensive care: vital signs every hour or so, laboratory values
# every few hours, nothing at the same time for long. The data are free, but not ours to copy; this page
# holds figures of the whole only. `edict import physionet --from DIR --out physionet.csv` makes one table
# of the thousands of files that were downloaded (docs/how-to/datasets.md).

# %%
import sys
import time

import numpy as np
import pandas as pd
from matplotlib import pyplot

import edict

data = edict.Dataset.read_csv(sys.argv[1])
print(data)

# %% [markdown]
# ## Training
#
# Which series teach, which choose the epoch and which are for the end follows from their ids, here as on
# the command line. This page judges on the validation part: the test part is looked at once, at the end
# of all choices, and this is not the end. (The validation part also chose the epoch, among six.) A small
# model for a few epochs, so that it takes a minute; without the two settings it is larger and takes three.

# %%
settings = dict(hidden=64, epochs=6)
settings.update(word.split("=") for word in sys.argv[2:])  # none on this page
begin = time.process_time()
model = edict.Model.train(data, threads=1, progress=False, **settings)
parts = model.parts(data)
validation = data[parts == "validation"]
print(f"{model}: {len(model.epochs)} epochs in {time.process_time() - begin:.0f} s of one core")
pd.DataFrame({"part": ["train", "validation", "test"]}).assign(
    stays=lambda table: [int((parts == part).sum()) for part in table["part"]]
)

# %% [markdown]
# ## A calibrated forecast
#
# Does an interval of 90 % hold nine of ten? Interpolation is asked at hidden observations of the first 36
# hours, extrapolation after these, given nothing of them. Of a perfect model both lines are the diagonal.

# %%
scores = model.evaluate(data, "validation", threads=1)
figure, axes = pyplot.subplots(figsize=(5, 4), layout="constrained")
axes.plot([0, 1], [0, 1], color="#999999", linewidth=1)
for task, colour in (("interpolation", "#1f4e79"), ("extrapolation", "#b3400e")):
    held = [level["mean"] for level in scores[task]["coverage"]]
    axes.plot(scores[task]["level"], held, "o-", markersize=3, color=colour, label=task)
axes.set(xlabel="level of the interval", ylabel="share of the observations that it held")
axes.legend(frameon=False)
figure

# %%
pd.DataFrame(
    [
        (
            task, scores[task]["observations"], scores[task]["mse"]["mean"],
            scores[task]["nll"]["mean"], scores[task]["crps"]["mean"], scores[task]["ece"],
        )
        for task in ("interpolation", "extrapolation")
    ],
    columns=["task", "observations", "MSE", "NLL", "CRPS", "calibration error"],
)  # fmt: skip

# %% [markdown]
# How fast does uncertainty grow? The predictive deviation of some features after the last observation, in
# units of their deviation in the training part; the mean of all validation stays. Most stays are observed
# to the end, so that the later hours lie beyond everything that was ever seen; that creatinine is
# forecast with more confidence the later is a fault of such a model.

# %%
hours = np.array([0.25, 1, 2, 4, 8, 16, 24])
forecast = model.predict(validation, ahead=hours, threads=1)
scale = np.array(model.info["scale"])
width = np.sqrt(forecast.variance).mean(axis=0) / scale
chosen = [name for name in ("HR", "MAP", "Temp", "Creatinine", "Lactate") if name in model.features]
chosen = chosen or model.features[:5]
figure, axes = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
for name in chosen:
    axes.plot(hours, width[:, model.features.index(name)], "o-", markersize=3, label=name)
axes.set(xlabel="hours ahead", ylabel="predictive deviation", ylim=(0, None))
axes.legend(frameon=False, ncols=2)
figure

# %% [markdown]
# ## The risk of death
#
# A classifier on top of the same model: it reads the state after 48 hours and a summary of the stay.

# %%
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

begin = time.process_time()
classifier = model.classify(data, readout_members=5, threads=1, progress=False)
seconds = time.process_time() - begin
died = (validation.labels == classifier.classes[1]).astype(int)
risk = classifier.class_probabilities(validation, threads=1)[:, 1]
pd.DataFrame({
    "stays": [len(died)], "deaths": [died.sum()], "AUROC": [roc_auc_score(died, risk)],
    "AUPRC": [average_precision_score(died, risk)], "Brier": [brier_score_loss(died, risk)],
    "seconds": [round(seconds)],
})  # fmt: skip

# %% [markdown]
# Is a risk of 20 % one death in five? Ten groups of stays by the risk that was told; the bars are two
# standard errors.

# %%
groups = np.array_split(np.argsort(risk, kind="stable"), 10)
told = np.array([risk[g].mean() for g in groups])
happened = np.array([died[g].mean() for g in groups])
error = np.sqrt(happened * (1 - happened) / [len(g) for g in groups])
figure, axes = pyplot.subplots(figsize=(5, 4), layout="constrained")
axes.plot([0, told.max()], [0, told.max()], color="#999999", linewidth=1)
axes.errorbar(told, happened, 2 * error, fmt="o", color="#1f4e79", markersize=4, linewidth=1)
axes.set(xlabel="risk of death that was told", ylabel="share that died")
figure

# %% [markdown]
# How early is it known? The same, asked during the stay.

# %%
moments = [6.0, 12.0, 24.0, 36.0, 48.0]
over_time = classifier.class_probabilities(validation, at=moments, threads=1)[:, :, 1]
pd.DataFrame({
    "hour": moments, "AUROC": [roc_auc_score(died, over_time[:, k]) for k in range(len(moments))],
})  # fmt: skip
