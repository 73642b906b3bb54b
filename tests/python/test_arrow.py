"""Tables through __arrow_c_stream__, from a producer that is written out here."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_void_p, py_object

import numpy as np
import pandas as pd
import pytest

import edict
from edict import Dataset
from edict.arrow import ArrowArray, ArrowArrayStream, ArrowSchema


class Producer:
    """Columns as (name, format, buffers, length, offset, dictionary) in one or more batches."""

    def __init__(self, batches):
        self.batches = batches
        self.kept = []
        self.released = 0

    def keep(self, thing):
        self.kept.append(thing)
        return thing

    def fill_schema(self, schema, name, kind, children=(), dictionary=None):
        schema.format, schema.name = self.keep(kind.encode()), self.keep(name.encode())
        schema.n_children = len(children)
        pointers = self.keep((POINTER(ArrowSchema) * max(1, len(children)))())
        for i, child in enumerate(children):
            own = self.keep(ArrowSchema())
            self.fill_schema(own, child["name"], child["format"], (), child.get("dictionary"))
            pointers[i] = ctypes.pointer(own)
        schema.children = pointers
        if dictionary:
            own = self.keep(ArrowSchema())
            self.fill_schema(own, "", dictionary["format"])
            schema.dictionary = ctypes.pointer(own)
        schema.release = self.keep(CFUNCTYPE(None, POINTER(ArrowSchema))(self.release))

    def fill_array(self, array, column=None, children=(), length=0):
        buffers = column["buffers"] if column else [None]
        array.length = column["length"] if column else length
        array.offset = column.get("offset", 0) if column else 0
        array.null_count = -1
        array.n_buffers, array.n_children = len(buffers), len(children)
        pointers = self.keep((c_void_p * len(buffers))())
        for i, buffer in enumerate(buffers):
            pointers[i] = None if buffer is None else self.keep(np.ascontiguousarray(buffer)).ctypes.data
        array.buffers = pointers
        nested = self.keep((POINTER(ArrowArray) * max(1, len(children)))())
        for i, child in enumerate(children):
            own = self.keep(ArrowArray())
            self.fill_array(own, child)
            nested[i] = ctypes.pointer(own)
        array.children = nested
        if column and column.get("dictionary"):
            own = self.keep(ArrowArray())
            self.fill_array(own, column["dictionary"])
            array.dictionary = ctypes.pointer(own)
        array.release = self.keep(CFUNCTYPE(None, POINTER(ArrowArray))(self.release))

    def release(self, _):
        self.released += 1

    def __arrow_c_stream__(self, requested_schema=None):
        stream = self.keep(ArrowArrayStream())
        left = list(self.batches)

        def get_schema(_, out):
            self.fill_schema(out.contents, "", "+s", self.batches[0])
            return 0

        def get_next(_, out):
            if left:
                batch = left.pop(0)
                self.fill_array(out.contents, None, batch, batch[0]["length"])
            return 0

        fields = dict(ArrowArrayStream._fields_)
        stream.get_schema = self.keep(fields["get_schema"](get_schema))
        stream.get_next = self.keep(fields["get_next"](get_next))
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = py_object, [c_void_p, c_char_p, c_void_p]
        return capsule(ctypes.addressof(stream), b"arrow_array_stream", None)


def bits(values):
    return np.packbits(np.asarray(values, dtype=np.uint8), bitorder="little")


def column(name, format, values, buffers, valid=None, **more):
    first = None if valid is None else bits(valid)
    return dict(name=name, format=format, buffers=[first, *buffers], length=values, **more)


def texts(name, words, format="u"):
    data = "".join(words).encode()
    offsets = np.cumsum([0] + [len(w.encode()) for w in words])
    kind = np.int32 if format == "u" else np.int64
    return column(name, format, len(words), [offsets.astype(kind), np.frombuffer(data, np.uint8)])


def viewed(name, words):
    long = "".join(w for w in words if len(w.encode()) > 12).encode()
    views, at = b"", 0
    for word in words:
        raw = word.encode()
        views += len(raw).to_bytes(4, "little")
        if len(raw) <= 12:
            views += raw.ljust(12, b"\0")
        else:
            views += raw[:4] + (0).to_bytes(4, "little") + at.to_bytes(4, "little")
            at += len(raw)
    return column(name, "vu", len(words), [np.frombuffer(views, np.uint8), np.frombuffer(long or b"\0", np.uint8)])


IDS = ["a", "a", "a patient with a long name", "ü"]
EXPECTED = pd.DataFrame({
    "id": IDS, "time": [0.0, 1.5, 0.0, 2.0], "x": [1.0, np.nan, 3.0, 4.0], "n": [1.0, 2, np.nan, 4],
    "label": ["u", "u", "v", None],
})


@pytest.mark.parametrize("ids", [texts("id", IDS), texts("id", IDS, "U"), viewed("id", IDS)],
                         ids=["utf8", "large_utf8", "string_view"])
def test_numbers_texts_and_categories(ids):
    label = column("label", "c", 4, [np.array([0, 0, 1, 0], np.int8)], [1, 1, 1, 0],
                   dictionary=texts("", ["u", "v"]))
    producer = Producer([[
        ids,
        column("time", "f", 4, [np.array([0, 1.5, 0, 2], np.float32)]),
        # An offset of two: what is before it belongs to another slice.
        column("x", "g", 4, [np.array([9, 9, 1.0, 0, 3, 4])], [0, 0, 1, 0, 1, 1], offset=2),
        column("n", "l", 4, [np.array([1, 2, 0, 4], np.int64)], [1, 1, 0, 1]),
        label,
    ]])  # fmt: skip
    data = Dataset.from_arrow(producer, label="label")
    expected = Dataset.from_frame(EXPECTED, label="label")
    assert data.fingerprint == expected.fingerprint
    assert producer.released >= 2  # the batch and the schema


def test_batches_follow_each_other_and_date_times_keep_their_zone():
    moments = pd.to_datetime(["2024-03-01 12:00", "2024-03-01 13:30"]).asi8 // 1000
    batch = lambda i: [  # noqa: E731
        texts("id", ["p"]),
        column("time", "tsu:Europe/Berlin", 1, [moments[i : i + 1]]),
        column("x", "b", 1, [bits([i])]),
    ]
    data = Dataset.from_arrow(Producer([batch(0), batch(1)]))
    assert data.times.tolist() == [0.0, 1.5]
    assert data.arrays["value"].tolist() == [0.0, 1.0]
    assert str(data.to_frame()["time"].iloc[0]) == "2024-03-01 13:00:00+01:00"


def test_what_cannot_be_read_is_named():
    odd = Producer([[texts("id", ["p"]), column("z", "+l", 1, [np.zeros(2, np.int32)])]])
    with pytest.raises(edict.Error, match="column 'z' has the Arrow type '\\+l'"):
        Dataset.from_arrow(odd)
    with pytest.raises(edict.Error, match="no __arrow_c_stream__"):
        Dataset.from_arrow([1, 2])


def test_whole_numbers_with_gaps_stay_whole():
    ids = np.array([2**60 + 1, 2**60 + 2, 2**60 + 1], np.int64)
    producer = Producer([[
        column("id", "l", 3, [ids], [1, 1, 1]),
        column("time", "g", 3, [np.array([0.0, 1, 2])]),
        # What stands where a value is missing may be anything.
        column("x", "L", 3, [np.array([1, 2**64 - 1, 3], np.uint64)], [1, 0, 1]),
        column("on", "b", 3, [bits([1, 1, 0])], [1, 0, 1]),
        column("label", "i", 3, [np.array([7, 8, 99], np.int32)], [1, 1, 0]),
    ]])  # fmt: skip
    data = Dataset.from_arrow(producer, label="label")
    assert data.ids == [2**60 + 1, 2**60 + 2] and data.labels.tolist() == [7, 8]
    assert sorted(data.arrays["value"].tolist()) == [0, 1, 1, 3]


@pytest.mark.parametrize("format, unit", [("tss:", "s"), ("tsm:", "ms"), ("tsu:", "us"), ("tsn:", "ns"), ("tdm", "ms")])
def test_moments_of_every_resolution(format, unit):
    when = pd.to_datetime(["2024-03-01 12:00", "2024-03-01 13:30"])
    raw = when.to_numpy().astype(f"M8[{unit}]").astype(np.int64)
    gone = np.append(raw, 2**62)
    producer = Producer([[texts("id", ["p"] * 3), column("time", format, 3, [gone], [1, 1, 0]), column("x", "g", 3, [np.ones(3)], [1, 1, 0])]])
    assert Dataset.from_arrow(producer).to_frame()["time"].tolist() == list(when)


@pytest.mark.parametrize("format, factor", [("tDs", 1), ("tDm", 10**3), ("tDu", 10**6), ("tDn", 10**9)])
def test_durations(format, factor):
    producer = Producer([[texts("id", ["p"] * 2), column("time", format, 2, [np.array([0, 5400 * factor], np.int64)]), column("x", "g", 2, [np.ones(2)])]])
    data = Dataset.from_arrow(producer)
    assert data.times.tolist() == [0, 1.5] and data.time_axis.durations


@pytest.mark.parametrize("format", ["tss:", "tsu:UTC", "tdm", "tDs"])
def test_a_moment_that_would_wrap_is_refused(format):
    producer = Producer([[texts("id", ["p"]), column("time", format, 1, [np.array([2**61], np.int64)]), column("x", "g", 1, [np.ones(1)])]])
    with pytest.raises(edict.Error, match="column 'time': .* is out of range; times lie between 1678 and 2262"):
        Dataset.from_arrow(producer)


def test_a_text_that_is_missing_is_not_looked_at():
    label = viewed("label", ["fast", "fast"])
    label["buffers"][0] = bits([1, 0])
    label["buffers"][1] = label["buffers"][1].copy()
    label["buffers"][1][16:] = 255  # a length and an offset that lead nowhere
    producer = Producer([[texts("id", ["p", "q"]), column("time", "g", 2, [np.zeros(2)]), column("x", "g", 2, [np.ones(2)]), label]])
    assert Dataset.from_arrow(producer, label="label").labels.tolist() == ["fast", None]
