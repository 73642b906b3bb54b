"""Times read_csv against pandas.read_csv, after checking that both read the same.

    csv_against_pandas.py READ_CSV_BENCH FILE [REPEATS]

READ_CSV_BENCH is the built program of that name; FILE any dataset in wide form (with --generate the
program writes one). The file is read as it is and then as tables of other kinds that are made of it:
with semicolons and decimal commas, with dates, with NA in the gaps, with a column of texts, packed,
and in long form. pandas is told all that edict has to recognise. It gets its default settings: quick
but not always correctly rounded numbers, so the sums are compared to 1e-12. Times are the best
processor times of a single read.
"""

import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas

RESERVED = ("id", "time", "label", "group")


def features_of(frame):
    return frame[[c for c in frame if c not in RESERVED and not c.startswith("static:")]]


def ours(program, path, repeats):
    return json.loads(subprocess.run([program, str(path), str(repeats)], check=True,
                                     capture_output=True, text=True).stdout)


def best_of_pandas(path, repeats, **settings):
    best = math.inf
    for _ in range(repeats):
        start = time.process_time()
        frame = pandas.read_csv(path, **{"dtype": {"id": str}, **settings})
        best = min(best, time.process_time() - start)
    return best, frame


def compare(name, program, path, repeats, expected, **settings):
    got = ours(program, path, repeats)
    for key, value in expected.items():
        if not math.isclose(got[key], value, rel_tol=1e-12, abs_tol=1e-9):
            sys.exit(f"{name}: {key}: {got[key]} here, {value} in pandas: nothing to time")
    seconds, _ = best_of_pandas(path, repeats, **settings)
    print(f"{name:22} pandas {seconds:.4f} s, edict {got['seconds']:.4f} s, "
          f"ratio {seconds / got['seconds']:.1f}", flush=True)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    program, path = sys.argv[1:3]
    repeats = int(sys.argv[3]) if len(sys.argv) == 4 else 5
    frame = pandas.read_csv(path, dtype={"id": str})
    features = features_of(frame)
    same = {
        "series": frame["id"].nunique(),
        "observations": int(features.count().sum()),
        "value_sum": float(features.sum().sum()),
    }
    times = {"time_sum": float(frame["time"][features.notna().any(axis=1)].sum())}
    compare("as it is", program, path, repeats, {**same, **times})

    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "other.csv"
        frame.to_csv(other, index=False, sep=";", decimal=",")
        compare("; and decimal comma", program, other, repeats, {**same, **times}, sep=";",
                decimal=",")

        frame.to_csv(other, index=False, na_rep="NA")
        compare("NA in the gaps", program, other, repeats, {**same, **times})

        dated = frame.copy()
        dated["time"] = (pandas.Timestamp("2024-03-01")
                         + pandas.to_timedelta((frame["time"] * 60).round(), unit="min"))
        dated["time"] = dated["time"].dt.strftime("%Y-%m-%d %H:%M:%S")
        # Rounding may put two events on one minute; then there is nothing to compare.
        dated = dated[~dated.duplicated(["id", "time"])]
        values = features_of(dated)
        dated.to_csv(other, index=False)
        compare("dates", program, other, repeats,
                {"observations": int(values.count().sum()), "value_sum": float(values.sum().sum())},
                parse_dates=["time"])

        texts = frame.copy()
        texts["rhythm"] = ["sinus" if i % 3 else "AF" for i in range(len(frame))]
        texts.to_csv(other, index=False)
        compare("a column of texts", program, other, repeats,
                {"observations": same["observations"] + 2 * len(frame),
                 "value_sum": same["value_sum"] + len(frame)})

        packed = Path(folder) / "other.csv.gz"
        frame.to_csv(packed, index=False)
        compare("gzip", program, packed, repeats, {**same, **times})

        columns = list(features)
        long = frame[["id", "time", *columns]].melt(["id", "time"], var_name="feature").dropna()
        long.to_csv(other, index=False)
        compare("long form, any order", program, other, repeats, same)


if __name__ == "__main__":
    main()
