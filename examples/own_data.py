"""Own data in ten minutes: from a table with date-times to forecasts, risks and classes.

    PYTHONPATH=build/release/python python3 examples/own_data.py

The cells are those of editors and Jupyter; docs/notebooks/own_data.md is the page they make.
"""

# %% [markdown]
# # Own data in ten minutes
#
# Sensors that report when they like, and never all at once. What will they show in two hours, how sure
# is that, and which of them will cross a limit? All that is needed is a table: who, when, and what was
# seen, with nothing where nothing was seen.

# %%
import numpy as np
import pandas as pd

import edict

frame = edict.waves(series=300, events=15, dates=True)  # or pd.read_parquet, pd.read_sql, …
frame.head(5)

# %% [markdown]
# ## The data
#
# Rows come in any order. Date-times may have a zone; here the clocks change during the first night.
# They are counted in hours from each sensor's first report.

# %%
data = edict.Dataset.from_frame(frame, id="id", time="time", label="label")
data

# %% [markdown]
# ## Training
#
# Settings are chosen to fit the data; each has a reason. Any of them is a keyword. Part of the series
# is held back: a tenth chooses the best epoch, a fifth is for the end.

# %%
choices = edict.fit_settings(data)
pd.DataFrame([(c.key, c.value, c.why) for c in choices[:6]], columns=["setting", "value", "why"])

# %%
model = edict.Model.train(data, epochs=40, hidden=32, batch=32, learning_rate=5e-3, progress=False)
best = min(model.epochs, key=lambda epoch: epoch["validation_nll"])
print(f"{model}: best of {len(model.epochs)} epochs is {best['epoch']}")

# %% [markdown]
# ## How good is it?
#
# On the series that training never saw: does a 90 % interval hold nine of ten? Interpolation is
# asked at hidden observations among those that it sees, extrapolation in the last quarter of the time,
# of which it sees nothing.

# %%
scores = model.evaluate(data, "test")
rows = []
for task in ("interpolation", "extrapolation"):
    at = int(np.argmin(np.abs(np.array(scores[task]["level"]) - 0.9)))
    rows.append((
        task, scores[task]["observations"], scores[task]["mse"]["mean"],
        scores[task]["level"][at], scores[task]["coverage"][at]["mean"], scores[task]["ece"],
    ))  # fmt: skip
pd.DataFrame(rows, columns=["task", "observations", "MSE", "level", "held", "calibration error"])

# %% [markdown]
# ## A forecast
#
# Dark is the noise of the data, light what the model's own uncertainty adds. It is small where a sensor
# has just reported, and grows with the time since then.

# %%
test = data[model.parts(data) == "test"]
last = test.last_times[0]
model.predict(test[0], at=np.linspace(0, last + 5, 200)).plot(data=test)

# %% [markdown]
# ## Who will cross the limit?
#
# Each sensor is asked from its own last report on: how likely is a level above 0.8?

# %%
hours = [0.5, 1.0, 2.0, 4.0]
risk = model.predict(test, ahead=hours).probability(above={"level": 0.8})[:, :, 0]
table = pd.DataFrame(risk.round(2), columns=[f"in {h:g} h" for h in hours])
table.insert(0, "sensor", test.ids)
table.iloc[np.argsort(-risk.max(axis=1))[:5]]

# %% [markdown]
# ## What nobody expected
#
# Every report beside what was expected of it a moment before, the strangest first. Here one was spoilt.

# %%
spoilt = frame.copy()
spoilt.loc[spoilt.index[777], "level"] = 4.0
found = model.surprise(edict.Dataset.from_frame(spoilt, label="label"), top=3)
found[["id", "time", "feature", "value", "mean", "z"]]

# %% [markdown]
# ## Classes, with scikit-learn
#
# A dataset is X: no windows, no padding. Folds, searches, pipelines and calibration are scikit-learn's own.

# %%
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from edict.sklearn import EdictClassifier, EdictEncoder

settings = dict(epochs=20, hidden=32, batch=32, learning_rate=5e-3, n_jobs=1)
classifier = EdictClassifier(classify_epochs=40, classify_learning_rate=1e-2, **settings)
pipe = make_pipeline(EdictEncoder(**settings), LogisticRegression(max_iter=1000))
for name, estimator in (("classifier", classifier), ("states into a regression", pipe)):
    scores = cross_val_score(estimator, data, data.labels, cv=2)
    print(f"{name}: accuracy {scores.mean():.2f} in two folds")

# %% [markdown]
# ## Keeping it
#
# The file is the command line's own: `edict predict sensors.model new.csv --ahead 2` works on it, and a
# file of new data is read as the training data were.

# %%
import pathlib
import tempfile

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    model.save(folder / "sensors.model")
    frame[frame["id"] < "wave003"].to_csv(folder / "new.csv", index=False)
    again = edict.Model.load(folder / "sensors.model")
    forecast = again.predict(folder / "new.csv", ahead=[2.0])
forecast.to_frame()[["id", "time", "feature", "mean"]]
