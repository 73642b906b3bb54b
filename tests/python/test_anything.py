"""Whatever is given is taken or refused in one line: tables of odd columns, arguments of odd types."""

import datetime
import decimal
import pickle
import random
import warnings

import numpy as np
import pandas as pd
import pytest

import edict
from edict import Dataset, Model, Stream, Streams


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


COLUMNS = [
    [1, 2, 3, 4, 5, 6], [1.0, np.nan, 3, np.inf, 5, 6], ["a", "b", "a", "b", "c", None], ["1", "2", "x", "4", "5", "6"],
    ["1,5", "2,5", "3", "", "NA", "7"], [True, False] * 3, [None] * 6, [np.nan] * 6, ["5 mg", "6 mg", "7 g", "8", "9", "1"],
    ["120/80"] * 6, ["<0.1", ">5", "3", "4", "5", "6"], ["yes", "no"] * 3, ["\0", "a", "b", "c", "d", "e"],
    ["\ud800", "a", "b", "c", "d", "e"], ["é", "漢", "🙂", "", "", "x"], [-999, 1, 2, 3, 4, 5], [1e308, -1e308, 0, 1, 2, 3],
    ["01.03.2024", "02.03.2024", "13.03.2024", "1.4.2024", "1.5.2024", "1.6.2024"], ["03/04/2024"] * 6,
    pd.date_range("2024", periods=6), pd.date_range("2024", periods=6, tz="Europe/Berlin"),
    pd.to_datetime(["2024-01-01", None] * 3), pd.to_timedelta([1, 2, 3, 4, 5, None], unit="h"),
    pd.period_range("2024", periods=6, freq="M"), pd.interval_range(0, 6), pd.Categorical(["u", "v", "u", "w", "u", None]),
    pd.Categorical([1, 2, 1, 2, 3, 1]), pd.array([1, None, 3, 4, 5, 6], "Int64"), pd.array([True, None] * 3, "boolean"),
    pd.array(["a", None, "c", "a", "b", "c"], "string"), pd.arrays.SparseArray([0, 0, 1.0, 2, 0, 0]), np.arange(6) * 1j,
    np.array([2**63 + i for i in range(6)], np.uint64), np.array([1709294400000000000 + i for i in range(6)]),
    np.array(["2024-01-01"] * 6, "M8[Y]"), np.arange(6).astype(">i4"), np.arange(6).astype("f2"), np.array([b"a", b"b"] * 3),
    np.ma.masked_array(np.arange(6), [0, 1] * 3), objects([1, "a", 2.5, None, True, b"x"]),
    objects([[1], [2], {}, (), set(), None]), objects([decimal.Decimal(1)] * 6), objects([pd.NaT] * 6),
    objects([datetime.date(2024, 1, i + 1) for i in range(6)]), objects([pd.NA, 1, 2, 3, 4, 5]),
    objects([datetime.datetime(2024, 1, 1)] * 5 + [pd.Timestamp("2024", tz="UTC")]),
]  # fmt: skip
NAMES = [*"xyxyxyz", "label", "group", "feature", "value", " ", "", "x=1", "none", 0, 1.5, None, ("a", "b"), "long" * 50]
ARGUMENTS = [
    None, "auto", "id", "x", "label", "none", 0, "nope", ["x", "y"], [], "", "first", "h", 3.5, np.nan, True, {"x": -999},
    pd.Timestamp("2024"), object, b"x", np.int64(3), ["x", "x"], {"x"}, pd.NaT, np.array(["x"]),
]  # fmt: skip
MOMENTS = [1, [1, 2], "x", None, pd.Timestamp("2024-06-01"), [pd.Timedelta("1h")], np.inf, [], np.nan, True, object]


@pytest.fixture(scope="module")
def known():
    frame = edict.waves(series=40).rename(columns={"level": "x", "flow": "y"})
    return Model.train(Dataset.from_frame(frame, label="label"), epochs=1, hidden=4, batch=16, step=0.5, threads=1)


def some(rng, names, share):
    return {name: rng.choice(ARGUMENTS) for name in names if rng.random() < share}


def table_of(rng):
    columns = {name: rng.choice(COLUMNS) for name in rng.sample(NAMES, rng.randint(1, 5))}
    columns["id"] = rng.choice([*COLUMNS, *[[1, 1, 2, 2, 3, 3]] * 100])
    columns["time"] = rng.choice([*COLUMNS, *[[0.0, 1, 0, 1, 0, 1]] * 100])
    return columns if rng.random() < 0.2 else pd.DataFrame(columns)


def calls_on_data(rng, known, data):
    yield lambda: data.to_frame()
    yield lambda: data.to_frame("long")
    yield lambda: (repr(data), data._repr_html_(), data.summary(), data.labels, data.groups, data.last_times)
    yield lambda: pickle.loads(pickle.dumps(data)).fingerprint == data.fingerprint
    yield lambda: data[rng.choice([0, "a", [0], [True] * len(data), slice(None, None, -1), None, 1.5, [], [0, 0], {"a"}])]
    yield lambda: data.with_labels(rng.choice([rng.choice(COLUMNS), list("abcdef")[: len(data)], None, "abc", {}]))
    yield lambda: data.before(rng.choice(MOMENTS))
    yield lambda: known.impute(data, deviations=True)
    yield lambda: calls_on_forecast(rng, known.predict(data, **{rng.choice(["at", "ahead"]): rng.choice(MOMENTS)}))


def calls_on_forecast(rng, forecast):
    limits = [1, "x", None, (0, 1), {"x": 1}, {"z": 1}, [1, 2], [1, 2, 3], pd.Series({"x": 1}), np.nan]
    for call in (
        forecast.to_frame, lambda: forecast.probability(**{rng.choice(["above", "below", "within"]): rng.choice(limits)}),
        lambda: forecast.quantile(rng.choice([0.5, [0.1, 0.9], 0, "x", None, []])),
        lambda: forecast.select(rng.choice([0, "a", [], [0], None, 99]), rng.choice([0, "x", [], None, "zz"])),
    ):  # fmt: skip
        taken_or_refused(call)


def calls(rng, known):
    frame = table_of(rng)
    roles = ("id", "time", "label", "group", "static", "unit", "origin", "duplicates", "missing", "decimal")
    given = some(rng, roles, 0.03)
    yield lambda: Dataset.from_frame(frame, **given, **some(rng, ["features"], 0.05))
    yield lambda: Dataset.from_frame(frame, like=known, **given)
    yield lambda: Dataset.from_long(frame, **given)
    yield lambda: known.impute(frame)
    yield lambda: known.predict(frame, ahead=[1.0])
    values = [{"x": 1}, {"x": "1"}, {"z": 1}, None, [1], {}, {"x": None}, {"x": [1, 2]}, pd.Series({"x": 1.0})]
    yield lambda: Stream(known).observe(rng.choice(MOMENTS), rng.choice(values))
    rows = [[[1, 2], [3, 4]], {"x": [1, 2]}, pd.DataFrame({"x": [1, 2]}, index=["b", "a"]), None, [[1]], np.zeros((2, 2), complex)]
    which = [None, ["a", "b"], "a", [0], [5], {"a"}, slice(None), [True, False], 3.5]
    yield lambda: Streams(known, ["a", "b"]).observe(rng.choice(MOMENTS), rng.choice(rows), rng.choice(which))
    arrays = [[[0, 1], [0]], [rng.choice(COLUMNS)], None, "x", [[]], 5]
    own = some(rng, ("ids", "features", "labels", "groups", "static", "unit", "origin"), 0.1)
    yield lambda: Dataset.from_arrays(rng.choice(arrays), rng.choice([[[[1], [2]], [[3]]], *arrays]), **own)
    cubes = [np.zeros((2, 3, 1)), rng.choice(COLUMNS), None, [[[1]]], np.zeros((0, 0, 0)), np.zeros((2, 0, 1)), "x"]
    yield lambda: Dataset.from_numpy3d(rng.choice(cubes), rng.choice([None, [0, 1, 2], rng.choice(COLUMNS)]), **own)


def taken_or_refused(call):
    """What the call gives; None where it is refused by one line of ours."""
    try:
        return call()
    except (edict.Error, TypeError, IndexError) as error:
        raised = error.__traceback__
        while raised.tb_next is not None:
            raised = raised.tb_next
        assert "/edict/" in raised.tb_frame.f_code.co_filename, error
        said = str(error)
        assert said and ("\n" not in said or "problems" in said), said
        assert not any(raw in said for raw in ("object is not", "has no len", "unsupported operand", "has no attribute")), said
        return None


@pytest.mark.parametrize("seed", range(4))
def test_it_is_taken_or_refused_in_a_line(known, seed):
    rng = random.Random(seed)
    taken = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(120):
            for call in calls(rng, known):
                made = taken_or_refused(call)
                if isinstance(made, Dataset):
                    taken += 1
                    for own in calls_on_data(rng, known, made):
                        taken_or_refused(own)
    assert taken > 20  # a test of refusals alone would say little
