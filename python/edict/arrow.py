"""Tables through the Arrow C stream interface, read without pyarrow.

A producer hands over a capsule with a pointer to ``ArrowArrayStream``; the structures are those of
the Arrow C data interface. Numbers are copied once; texts become Python strings.
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from typing import Any, Iterator, Optional

import numpy as np
import numpy.typing as npt

from . import compat
from .moments import in_nanoseconds
from ._native import Error


class ArrowSchema(Structure):
    """Of a column, or of the table."""

    pass


class ArrowArray(Structure):
    """The values of a column, or of the columns."""

    pass


class ArrowArrayStream(Structure):
    """Tables one after the other."""

    pass


ArrowSchema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))),
    ("dictionary", POINTER(ArrowSchema)),
    ("release", CFUNCTYPE(None, POINTER(ArrowSchema))),
    ("private_data", c_void_p),
]
ArrowArray._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)),
    ("release", CFUNCTYPE(None, POINTER(ArrowArray))),
    ("private_data", c_void_p),
]
ArrowArrayStream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowSchema))),
    ("get_next", CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowArray))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(ArrowArrayStream))),
    ("release", CFUNCTYPE(None, POINTER(ArrowArrayStream))),
    ("private_data", c_void_p),
]

_NUMBERS = {
    "c": np.int8, "C": np.uint8, "s": np.int16, "S": np.uint16, "i": np.int32, "I": np.uint32,
    "l": np.int64, "L": np.uint64, "e": np.float16, "f": np.float32, "g": np.float64,
}  # fmt: skip
_NAT = np.iinfo(np.int64).min  # what numpy takes for a missing moment
_RESOLUTION = {"s": "s", "m": "ms", "u": "us", "n": "ns"}


class Table(dict[str, Any]):
    """Columns by name; its length is that of the columns."""

    rows = 0

    def __len__(self) -> int:
        return self.rows


def read_stream(source: Any) -> Table:
    """All columns of an object with ``__arrow_c_stream__``."""
    if not hasattr(source, "__arrow_c_stream__"):
        raise Error(f"a {type(source).__name__} has no __arrow_c_stream__; try from_frame")
    capsule = source.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
    stream = ctypes.cast(pointer(capsule, b"arrow_array_stream"), POINTER(ArrowArrayStream))
    schema = ArrowSchema()
    _checked(stream, stream.contents.get_schema(stream, ctypes.byref(schema)))
    try:
        if schema.format != b"+s":
            raise Error("the Arrow stream is no table; give one with columns")
        names = [schema.children[j].contents.name.decode() for j in range(schema.n_children)]
        pieces: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in names}
        rows = 0
        for batch in _batches(stream):
            rows += batch.length
            empty = _missing(batch)
            if empty is not None and empty.any():
                raise Error("the Arrow stream has rows that are missing as a whole; leave them out")
            for j, name in enumerate(names):
                child = batch.children[j].contents
                field = schema.children[j].contents
                values = _column(field, child, name)
                pieces[name].append(values[batch.offset : batch.offset + batch.length])
        table = Table({
            name: _joined(parts, schema.children[j].contents)
            for j, (name, parts) in enumerate(pieces.items())
        })  # fmt: skip
        table.rows = rows
        return table
    finally:
        schema.release(ctypes.byref(schema))


def _checked(stream: Any, code: int) -> None:
    if code:
        text = stream.contents.get_last_error(stream) or b"no message"
        raise Error(f"the Arrow stream failed: {text.decode(errors='replace')}")


def _batches(stream: Any) -> Iterator[ArrowArray]:
    while True:
        batch = ArrowArray()
        _checked(stream, stream.contents.get_next(stream, ctypes.byref(batch)))
        if not batch.release:
            return
        try:
            yield batch
        finally:
            batch.release(ctypes.byref(batch))


def _buffer(array: ArrowArray, place: int, dtype: Any, count: int) -> npt.NDArray[Any]:
    pointer = array.buffers[place] if place < array.n_buffers else None
    if not pointer or count == 0:
        if count and array.null_count not in (-1, array.length):
            raise Error("the Arrow stream has a column without its values; the producer is at fault")
        return np.zeros(count, dtype)
    size = count * np.dtype(dtype).itemsize
    memory = memoryview((ctypes.c_char * size).from_address(pointer))
    result: npt.NDArray[Any] = np.frombuffer(memory, dtype=dtype, count=count)
    return result


def _bits(array: ArrowArray, place: int) -> npt.NDArray[np.bool_]:
    end = array.offset + array.length
    bytes_ = _buffer(array, place, np.uint8, (end + 7) // 8)
    return np.unpackbits(bytes_, bitorder="little")[array.offset : end].astype(bool)


def _missing(array: ArrowArray) -> Optional[npt.NDArray[np.bool_]]:
    if array.null_count == 0 or array.n_buffers == 0 or not array.buffers[0]:
        return None
    return ~_bits(array, 0)


def _column(field: ArrowSchema, array: ArrowArray, name: str) -> npt.NDArray[Any]:
    """A copy of the values; NaN, NaT or None where they are missing, and whole numbers masked."""
    kind = field.format.decode()
    missing = _missing(array)
    if kind == "n":
        return np.full(array.length, np.nan)
    values = _values(field, array, name, missing)
    if missing is None:
        return values
    if values.dtype.kind in "fO":
        values[missing] = np.nan if values.dtype.kind == "f" else None
        return values
    if values.dtype.kind in "mM":
        values[missing] = np.array("NaT", dtype=values.dtype)
        return values
    masked: Any = np.ma  # has no types
    hidden: npt.NDArray[Any] = masked.masked_array(values, mask=missing | masked.getmaskarray(values))
    return hidden


def _values(
    field: ArrowSchema, array: ArrowArray, name: str, missing: Optional[npt.NDArray[np.bool_]]
) -> npt.NDArray[Any]:
    """A copy of the values, with anything where they are missing."""
    kind = field.format.decode()
    end = array.offset + array.length

    def whole_numbers(dtype: Any) -> npt.NDArray[Any]:
        raw = _buffer(array, 1, dtype, end)[array.offset :].astype(np.int64)
        if missing is not None:
            raw[missing] = _NAT
        return raw

    if field.dictionary:
        words = _column(field.dictionary.contents, array.dictionary.contents, name)
        places = _buffer(array, 1, _NUMBERS[kind], end)[array.offset :].astype(np.int64)
        if missing is not None:
            places = np.where(missing, 0, places)
        return words[places] if words.size else np.full(places.shape, None, dtype=object)
    if kind == "b":
        return _bits(array, 1)
    if kind in _NUMBERS:
        return np.array(_buffer(array, 1, _NUMBERS[kind], end)[array.offset :])
    what = f"column {name!r}"
    if kind[:2] == "ts" and kind[2:3] in _RESOLUTION:
        return in_nanoseconds(whole_numbers(np.int64).view(f"M8[{_RESOLUTION[kind[2]]}]"), what)
    if kind[:2] == "tD" and kind[2:3] in _RESOLUTION:
        return in_nanoseconds(whole_numbers(np.int64).view(f"m8[{_RESOLUTION[kind[2]]}]"), what)
    if kind == "tdD":
        return in_nanoseconds(whole_numbers(np.int32).view("M8[D]"), what)
    if kind == "tdm":
        return in_nanoseconds(whole_numbers(np.int64).view("M8[ms]"), what)
    if kind in ("u", "U"):
        return _texts(array, np.int32 if kind == "u" else np.int64, missing)
    if kind == "vu":
        return _viewed_texts(array, missing)
    raise Error(f"column {name!r} has the Arrow type {kind!r}, which is not read; cast it")


def _texts(
    array: ArrowArray, offset_type: Any, missing: Optional[npt.NDArray[np.bool_]]
) -> npt.NDArray[Any]:
    offsets = _buffer(array, 1, offset_type, array.offset + array.length + 1)[array.offset :]
    size = int(offsets[-1]) if offsets.size else 0
    content = ctypes.string_at(array.buffers[2], size) if size else b""
    bounds: Any = offsets.tolist()
    result = np.full(array.length, None, dtype=object)
    for i in np.flatnonzero(np.ones(array.length, bool) if missing is None else ~missing):
        result[i] = content[bounds[i] : bounds[i + 1]].decode(errors="replace")
    return result


def _viewed_texts(array: ArrowArray, missing: Optional[npt.NDArray[np.bool_]]) -> npt.NDArray[Any]:
    """Views of 16 bytes: the length, then up to 12 bytes, or a prefix, a buffer and an offset."""
    views = _buffer(array, 1, np.int32, 4 * (array.offset + array.length)).reshape(-1, 4)
    result = np.full(array.length, None, dtype=object)
    # The view of what is missing may be anything.
    for i in np.flatnonzero(np.ones(array.length, bool) if missing is None else ~missing):
        view = views[array.offset + i]
        length = int(view[0])
        if length <= 12:
            held = view[1:].tobytes()[:length]
        else:
            held = ctypes.string_at(array.buffers[2 + int(view[2])] + int(view[3]), length)
        result[i] = held.decode(errors="replace")
    return result


def _joined(parts: list[npt.NDArray[Any]], field: ArrowSchema) -> Any:
    masked = any(isinstance(part, np.ma.MaskedArray) for part in parts)
    join: Any = np.ma.concatenate if masked else np.concatenate
    values = join(parts) if parts else np.empty(0)
    kind = field.format.decode()
    if kind.startswith("ts") and kind[4:]:  # moments in UTC, to be shown in a zone
        pd = compat.pandas()
        return pd.Series(pd.DatetimeIndex(values).tz_localize("UTC").tz_convert(kind[4:]))
    return values
