"""A thousand sensors as they report: each reading is held against what was expected of it.

    PYTHONPATH=build/release/python python3 examples/live.py
"""

import time

import numpy as np

import edict

data = edict.Dataset.from_frame(edict.waves(series=300), label="label")
model = edict.Model.train(data, epochs=30, hidden=32, batch=32, learning_rate=5e-3, step=0.25)

rng = np.random.default_rng(0)
count, rounds = 1000, 20
sensors = edict.Streams(model, [f"sensor{i:03}" for i in range(count)])
phase = rng.uniform(0, 2 * np.pi, count)
broken = rng.choice(count, 20, replace=False)  # these stick to a value from the middle on
alarms = np.zeros(count, dtype=int)

seconds = 0.0
for k in range(1, rounds + 1):
    now = 0.5 * k
    angle = 0.6 * now + phase
    readings = np.stack([np.sin(angle), 0.5 * np.cos(angle)], axis=1)
    readings += 0.05 * rng.normal(size=readings.shape)
    if k > rounds // 2:
        readings[broken, 0] = 1.5
    begin = time.perf_counter()
    expected = sensors.predict(now)
    sensors.observe(now, readings)
    seconds += time.perf_counter() - begin
    # How far in the tails was the reading? Early readings surprise nobody: the bands are wide.
    tail = 2 * np.minimum(expected.cdf(readings[:, None, :]), 1 - expected.cdf(readings[:, None, :]))
    alarms += tail[:, 0, 0] < 1e-3

found = np.flatnonzero(alarms >= 2)
print(f"{count * rounds / seconds:,.0f} readings a second, each predicted and absorbed")
print(f"{len(np.intersect1d(found, broken))} of {len(broken)} broken sensors found, "
      f"{len(np.setdiff1d(found, broken))} false alarms among {count - len(broken)}")
kept = sensors.state("sensor007")
print(f"the state of one sensor is {len(kept)} bytes")
