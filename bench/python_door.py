#!/usr/bin/env python3
"""What Python costs on top of the library.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/python_door.py [MODEL DATA.csv]

With a model and data (say PhysioNet's) the streams and predictions are theirs; else those of a small
model. Everything runs on one thread; times are those of the processor.
"""

import ctypes
import sys
import time

import numpy as np
import pandas as pd

import edict
from edict._native import address, lib


def best(function, repeat=5):
    """The least processor seconds of some calls: what else the machine does only adds."""
    times = []
    for _ in range(repeat):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return min(times)


def frames():
    rng = np.random.default_rng(0)
    rows, width = 1_000_000, 10
    wide = pd.DataFrame(rng.normal(size=(rows, width)), columns=[f"x{j}" for j in range(width)])
    wide["id"] = np.repeat(np.char.add("patient", np.arange(10_000).astype(str)), rows // 10_000).astype(object)
    wide["time"] = np.tile(np.arange(rows // 10_000), 10_000).astype(float)
    print(f"from_frame, 10^7 observations in {rows} rows, texts as ids: {best(lambda: edict.Dataset.from_frame(wide), 3):.2f} s")
    wide["time"] = pd.Timestamp("2024-01-01", tz="Europe/Berlin") + pd.to_timedelta(wide["time"], unit="min")
    print(f"  the same with date-times in a zone: {best(lambda: edict.Dataset.from_frame(wide), 3):.2f} s")
    shuffled = wide.sample(frac=1, random_state=0)
    print(f"  the same, rows shuffled: {best(lambda: edict.Dataset.from_frame(shuffled), 3):.2f} s")
    del shuffled
    n = 10_000_000
    long = pd.DataFrame({
        "id": np.repeat(np.arange(10_000), n // 10_000),
        "time": np.tile(np.arange(n // 10_000) // 10, 10_000).astype(float),
        "feature": pd.Categorical(np.tile([f"x{j}" for j in range(10)], n // 10)),
        "value": rng.normal(size=n),
    })
    print(f"from_long, 10^7 rows: {best(lambda: edict.Dataset.from_long(long), 2):.2f} s")


def predictions(model, data):
    """Python's share of a prediction of a million rows."""
    features = len(model.features)
    part = data[: max(1, min(len(data), 1_000_000 // (features * 50)))]
    times = np.linspace(0, float(np.nanmax(part.last_times)), max(1, 1_000_000 // (features * len(part))))
    shape = (len(part), times.size, features)

    def native():
        arrays = [np.empty(shape) for _ in range(5)]  # a caller in C needs them too
        lib.edict_model_predict(model._handle, part._handle, times.size, address(times), 0, np.inf, None, 1,
                                None, *(address(a) for a in arrays), None)

    inside, whole = [], []
    for _ in range(9):  # taking turns, since the machine's speed changes
        inside.append(best(native, 1))
        whole.append(best(lambda: model.predict(part, at=times, threads=1), 1))
    print(f"predict, {np.prod(shape)} rows: {min(whole):.3f} s, in the library {min(inside):.3f} s "
          f"({100 * (min(whole) / min(inside) - 1):+.1f} %)")


def streams(model, data):
    stream = edict.Stream(model)
    name = model.features[0]
    mean = model.info["mean"]
    count = 20_000
    clock = 0.0
    gap = 1e-3 * float(np.nanmedian(np.diff(data[0].times)) if data[0].events > 1 else 1.0)

    def observe():
        nonlocal clock
        for _ in range(count):
            clock += gap
            stream.observe(clock, {name: mean[0]})

    arguments, moment = stream._arguments, stream._time
    function = lib.edict_streams_observe

    def native():
        nonlocal clock
        for _ in range(count):
            clock += gap
            moment.value = clock
            function(*arguments)

    nothing = (arguments[0], 0, *arguments[2:])

    def empty():
        for _ in range(count):
            function(*nothing)

    whole, call, border = (1e6 * best(f) / count for f in (observe, native, empty))
    print(f"Stream.observe: {whole:.2f} µs, of which Python {whole - call:.2f} and crossing the border {border:.2f}")

    many = edict.Streams(model, 10_000)
    a = data.arrays
    rng = np.random.default_rng(0)
    # Events as they are in the data: which features were observed together.
    matrix = np.full((10_000, len(model.features)), np.nan)
    events = rng.integers(0, data.events, 10_000)
    for row, e in enumerate(events):
        k = slice(a["first_observation"][e], a["first_observation"][e + 1])
        matrix[row, a["feature"][k]] = a["value"][k]
    observations = int(np.isfinite(matrix).sum())
    step = float(np.median(np.concatenate([np.diff(data[i].times) for i in range(min(50, len(data))) if data[i].events > 1])))
    now = 0.0

    def batch():
        nonlocal now
        now += step
        many.observe(now, matrix)

    seconds = best(batch, 4)
    print(f"Streams of 10,000: {10_000 / seconds:,.0f} events/s, {observations / seconds:,.0f} observations/s "
          f"({observations / 10_000:.1f} an event, {step:g} apart), one core")


def main():
    if len(sys.argv) == 3:
        model, data = edict.Model.load(sys.argv[1]), edict.Dataset.read_csv(sys.argv[2])
    else:
        data = edict.Dataset.from_frame(edict.waves(series=2000), label="label")
        model = edict.Model.train(data, epochs=1, hidden=32, progress=False)
    print(f"{model}, hidden {model.hidden}, {lib.edict_version().decode()}")
    predictions(model, data)
    streams(model, data)
    frames()


if __name__ == "__main__":
    main()
