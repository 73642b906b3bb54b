#!/usr/bin/env python3
"""Alarms a stream and day, predictive against plain thresholds, at the same sensitivity.

  PYTHONPATH=build/release/python bench/serve_alarms.py MODEL DATA.csv [--feature MAP --below 65]

On the validation series of the model. A predictive alarm is raised where P(beyond the limit within
`--within`) is at least p, as the rule `crosses` of `edict serve` has it; a plain one where the newest
value is beyond a limit that is moved towards the safe side. While the condition holds it is raised
again every `--within`, so that an alarm that always stands is no bargain. An onset is a value beyond
the limit whose predecessor was not; it is warned of if an alarm was raised within `--within` before
it. Both limits are swept, and compared where they warn of the same share of onsets.
"""
import argparse

import numpy as np

import edict


def swept(series, limits, on, within):
    """(share of onsets warned of, alarms a day) for every limit."""
    table = []
    for limit in limits:
        alarms = warned = onsets = 0
        days = 0.0
        for one in series:
            raised = []
            for now, standing in zip(one["times"], on(one, limit)):
                if standing and (not raised or now - raised[-1] >= within):
                    raised.append(now)
            raised = np.array(raised)
            alarms += len(raised)
            days += one["days"]
            for onset in one["onsets"]:
                onsets += 1
                warned += bool(((raised < onset) & (raised >= onset - within - 1e-9)).any())
        table.append((warned / max(1, onsets), alarms / days))
    return table, onsets, days


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--feature", default="MAP")
    parser.add_argument("--below", type=float, default=65)
    parser.add_argument("--within", type=float, default=1.0, help="in the model's unit")
    parser.add_argument("--day", type=float, default=24.0, help="in the model's unit")
    parser.add_argument("--series", type=int, default=400)
    arguments = parser.parse_args()
    model = edict.Model.load(arguments.model)
    data = edict.Dataset.read_csv(arguments.data)
    chosen = np.flatnonzero(model.parts(data) == "validation")[:arguments.series]
    j = model.features.index(arguments.feature)
    frame = data[chosen].to_frame("wide")
    names = [c for c in frame.columns if c in model.features]
    ahead = arguments.within * np.arange(1, 17) / 16
    series = []
    for _, rows in frame.groupby("id", sort=False):
        stream = edict.Stream(model)
        times = rows["time"].to_numpy(float)
        values = rows[names].to_numpy(float)
        own = rows[arguments.feature].to_numpy(float)
        probability = np.zeros(len(times))
        for e, now in enumerate(times):
            seen = {n: v for n, v in zip(names, values[e]) if np.isfinite(v)}
            if seen:
                stream.observe(now, seen)
            told = stream.predict(now + ahead)
            probability[e] = told.probability(below=arguments.below)[0, :, j].max()
        newest = np.full(len(times), np.nan)
        last, onsets = np.nan, []
        for e in range(len(times)):
            if np.isfinite(own[e]):
                if own[e] < arguments.below and last >= arguments.below:
                    onsets.append(times[e])
                last = own[e]
            newest[e] = last
        if np.isfinite(newest).any():
            series.append({"times": times, "probability": probability, "newest": newest, "onsets": onsets,
                           "days": (times[-1] - times[0]) / arguments.day})
    predictive, onsets, days = swept(series, np.linspace(0.02, 0.9, 89),
                                     lambda one, p: one["probability"] >= p, arguments.within)
    plain, _, _ = swept(series, arguments.below + np.arange(0, 40, 0.5),
                        lambda one, limit: one["newest"] < limit, arguments.within)
    print(f"{len(series)} validation series with {arguments.feature}, {days:.0f} days, {onsets} "
          f"onsets of {arguments.feature} < {arguments.below:g}")
    print("warned of   predictive alarms/day   plain alarms/day")
    for share in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9):
        rates = []
        for table in (predictive, plain):
            reached = [rate for sensitivity, rate in table if sensitivity >= share]
            rates.append(f"{min(reached):.2f}" if reached else "never")
        print(f"{share:9.0%}   {rates[0]:>21}   {rates[1]:>16}")


if __name__ == "__main__":
    main()
