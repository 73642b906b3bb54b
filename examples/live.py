"""A live stream: a thousand sensors as they report, each report held against what was expected of it.

    PYTHONPATH=build/release/python python3 examples/live.py

The cells are those of editors and Jupyter; docs/notebooks/live.md is the page they make.
"""

# %% [markdown]
# # A live stream
#
# A thousand sensors report in turns. Before each report the model says what it expects, then it absorbs
# the report. Twenty of them get stuck halfway; who notices?

# %%
import time

import numpy as np
import pandas as pd
from matplotlib import pyplot

import edict

data = edict.Dataset.from_frame(edict.waves(series=300), label="label")
model = edict.Model.train(
    data, epochs=30, hidden=32, batch=32, learning_rate=5e-3, step=0.25, progress=False
)
model

# %% [markdown]
# ## One stream
#
# A stream is the state of one sensor. It is asked at any later time, and asking changes nothing.

# %%
stream = edict.Stream(model)
stream.observe(0.3, {"level": 0.42})
stream.observe(1.1, {"level": 0.80, "flow": -0.3})
soon = stream.predict([1.5, 3.0, 8.0])
lower, upper = soon.interval(0.9)
pd.DataFrame({
    "time": soon.times[0], "level": soon.mean[0, :, 0], "from": lower[0, :, 0], "to": upper[0, :, 0],
})  # fmt: skip

# %% [markdown]
# ## A thousand
#
# `Streams` serves many in one call: predict all, then absorb all.

# %%
rng = np.random.default_rng(0)
count, rounds = 1000, 20
sensors = edict.Streams(model, [f"sensor{i:03}" for i in range(count)], guard="edgr")
phase = rng.uniform(0, 2 * np.pi, count)
broken = rng.choice(count, 20, replace=False)  # these stick to a value from the middle on
tails = np.empty((rounds, count))

seconds = 0.0
for k in range(rounds):
    now = 0.5 * (k + 1)
    angle = 0.6 * now + phase
    readings = np.stack([np.sin(angle), 0.5 * np.cos(angle)], axis=1)
    readings += 0.05 * rng.normal(size=readings.shape)
    if k >= rounds // 2:
        readings[broken, 0] = 1.5
    begin = time.perf_counter()
    expected = sensors.predict(now)
    sensors.observe(now, readings)
    seconds += time.perf_counter() - begin
    # How far in the tails was the reading?
    below = expected.cdf(readings[:, None, :])[:, 0, 0]
    tails[k] = 2 * np.minimum(below, 1 - below)
print(f"{count * rounds / seconds:,.0f} reports a second, each predicted and absorbed")

# %% [markdown]
# ## Alarms
#
# An alarm is two reports so far in the tails that one in a thousand would be. The guard keeps what
# is implausible out of the state: without it a model soon expects the value that a sensor is stuck at.

# %%
strange = tails < 1e-3
found = np.flatnonzero(strange.sum(axis=0) >= 2)
print(f"{len(np.intersect1d(found, broken))} of {len(broken)} broken sensors found, "
      f"{len(np.setdiff1d(found, broken))} false alarms among {count - len(broken)}")

figure, axes = pyplot.subplots(figsize=(8, 3), layout="constrained")
sound = np.setdiff1d(np.arange(count), broken)
for who, name, colour in ((broken, "stuck from the middle on", "#b3400e"), (sound, "sound", "#1f4e79")):
    axes.plot(0.5 * np.arange(1, rounds + 1), 100 * strange[:, who].mean(axis=1), "o-", color=colour, label=name)
axes.set(xlabel="time", ylabel="alarming reports, %")
axes.legend(frameon=False)
figure

# %% [markdown]
# ## A process may end
#
# The state of a sensor is a few hundred bytes at most; another process goes on from them.

# %%
kept = sensors.state("sensor007")
other = edict.Streams(model, ["sensor007"])
other.restore("sensor007", kept)
same = np.array_equal(other.predict(20.0).mean[0], sensors.predict(20.0).mean[7])
print(f"{len(kept)} bytes; the same forecast from them: {same}")
