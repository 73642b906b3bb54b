"""Times read_csv against pandas.read_csv on one file, after checking that both read the same.

    csv_against_pandas.py READ_CSV_BENCH FILE [REPEATS]

READ_CSV_BENCH is the built program of that name; FILE any dataset in wide form (with --generate the
program writes one). pandas gets its default settings: quick but not always correctly rounded
numbers, so the sums are compared to 1e-12. Times are the best processor times of a single read.
"""

import json
import math
import subprocess
import sys
import time

import pandas

RESERVED = ("id", "time", "label", "group")


def features_of(frame):
    return frame[[c for c in frame if c not in RESERVED and not c.startswith("static:")]]


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    program, path = sys.argv[1:3]
    repeats = int(sys.argv[3]) if len(sys.argv) == 4 else 5
    ours = json.loads(subprocess.run([program, path, str(repeats)], check=True,
                                     capture_output=True, text=True).stdout)

    best = math.inf
    for _ in range(repeats):
        start = time.process_time()
        frame = pandas.read_csv(path, dtype={"id": str})
        best = min(best, time.process_time() - start)
    features = features_of(frame)
    expected = {
        "series": frame["id"].nunique(),
        "observations": int(features.count().sum()),
        "time_sum": float(frame["time"][features.notna().any(axis=1)].sum()),
        "value_sum": float(features.sum().sum()),
    }
    for key, value in expected.items():
        if not math.isclose(ours[key], value, rel_tol=1e-12, abs_tol=1e-9):
            sys.exit(f"{key}: {ours[key]} here, {value} in pandas: nothing to time")
    print(f"same {', '.join(expected)}")
    print(f"pandas {best:.4f} s, edict {ours['seconds']:.4f} s, ratio {best / ours['seconds']:.1f}")


if __name__ == "__main__":
    main()
