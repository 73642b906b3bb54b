"""The shared library: where it is, what its functions take, and how its errors become exceptions.

Everything else in this package goes through here. Every call releases the interpreter's lock, as
ctypes does for any foreign function.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import sys
import threading
import warnings
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t
from ctypes import c_uint64, c_void_p
from pathlib import Path
from typing import Any, Callable, Iterable, Optional, Sequence

import numpy.typing as npt

API = 5  # the version of edict.h that this package was written for
_HERE = os.path.dirname(__file__)
SONAME = "libedict.so.1"  # what the loader of a system knows it by


class Error(ValueError):
    """What was given cannot be used: one line that says what, where, and what to do."""


class MissingFile(Error, FileNotFoundError):
    """A file that is not there."""

    def __str__(self) -> str:
        return str(self.args[0])  # and not what an OSError makes of its number

    @staticmethod
    def instead_of(error: Error, path: Any) -> Error:
        """Of an error of reading a file: this one, where there is no such file."""
        if os.path.exists(path):
            return error
        found = MissingFile(str(error))
        found.errno, found.filename = errno.ENOENT, os.fspath(path)
        return found


class MachineError(OSError):
    """Nothing that was given is at fault: a full or failing disk, no more files or threads. The same may
    succeed later."""


class InternalError(RuntimeError):
    """A defect of edict itself."""


class Interrupted(Exception):
    """The library was told to stop. Callers of this package see the KeyboardInterrupt behind it."""

    def __init__(self, model: Optional[Any] = None) -> None:
        super().__init__("interrupted")
        self.model = model  # of training: the best of the whole epochs, if any


def _library_path(here: Path = Path(__file__).parent) -> str:
    """A package that pip installed has the library beside it, a build tree two folders up, and that of
    a system has it where the loader looks."""
    name = "libedict.so"
    candidates = [here / name, here.parent.parent / name]
    # The sources themselves: the build trees beside them, the release build first.
    builds = here.parent.parent / "build"
    candidates += [builds / "release" / name, *sorted(builds.glob(f"*/{name}"))]
    if os.environ.get("EDICT_LIBRARY"):
        candidates = [Path(os.environ["EDICT_LIBRARY"])]
    for candidate in candidates:
        if candidate.exists():
            return str(candidate)
    if not os.environ.get("EDICT_LIBRARY"):
        try:
            return ctypes.CDLL(SONAME)._name
        except OSError:
            pass  # neither there
    raise ImportError(
        f"{name} was not found; build edict (cmake --build --preset release), install the package "
        "with pip or Debian's libedict1, or set EDICT_LIBRARY to its path"
    )


class DatasetSize(Structure):
    """edict_dataset_size."""

    _fields_ = [
        (name, c_int64)
        for name in (
            "series", "events", "observations", "features", "statics", "classes", "groups",
        )
    ]  # fmt: skip


class ModelSize(Structure):
    """edict_model_size."""

    _fields_ = [
        ("features", c_int64),
        ("statics", c_int64),
        ("classes", c_int64),
        ("hidden", c_int64),
        ("parameters", c_int64),
        ("distribution", c_int32),
        ("reserved", c_int32),
        ("fingerprint", c_uint64),
    ]


class GuardStruct(Structure):
    """edict_guard."""

    _fields_ = [("kind", c_int32), ("deviation", c_int32), ("eta", c_double)]


class TrainingStruct(Structure):
    """edict_training."""

    _fields_ = [
        ("toml", c_char_p),
        ("assignments", c_int64),
        ("assignment", POINTER(c_char_p)),
        ("members", c_int64),
        ("start", c_void_p),
        ("budget", c_double),
        ("out_path", c_char_p),
        ("resume", c_int32),
        ("threads", c_int32),
    ]


class Progress(Structure):
    """How far a long call has come."""

    fraction: float
    epoch: int
    epochs: int
    nll: float
    cross_entropy: float
    epochs_done: int
    best_epoch: int
    validation_nll: float
    validation_mse: float
    validation_cross_entropy: float
    validation_accuracy: float

    _fields_ = [
        ("fraction", c_double),
        ("epoch", c_int64),
        ("epochs", c_int64),
        ("batch", c_int64),
        ("batches", c_int64),
        ("nll", c_double),
        ("cross_entropy", c_double),
        ("epochs_done", c_int64),
        ("best_epoch", c_int64),
        ("validation_nll", c_double),
        ("validation_mse", c_double),
        ("validation_cross_entropy", c_double),
        ("validation_accuracy", c_double),
    ]


class _HandleOf:
    """What ctypes takes for a handle of one kind: nothing else reaches the library."""

    def __init__(self, kind: str, optional: bool = False) -> None:
        self._kind = kind
        self._optional = optional

    def from_param(self, given: Any) -> c_void_p:
        if given is None and self._optional:
            return c_void_p()
        if not isinstance(given, Handle) or given.kind != self._kind or not given.pointer:
            kind = given.kind if isinstance(given, Handle) else type(given).__name__
            raise TypeError(f"a handle of a {self._kind} is needed, not of a {kind}")
        return c_void_p(given.pointer)


# Arrays cross as plain addresses: c_void_p takes an integer, and None is NULL.
_P = c_void_p
_BYTES, _BUILDER = _HandleOf("bytes"), _HandleOf("builder")
_CONTROL = _HandleOf("control", optional=True)
_DATASET, _MODEL, _STREAMS = _HandleOf("dataset"), _HandleOf("model"), _HandleOf("streams")
_LIKE = _HandleOf("model", optional=True)
_TEXTS = POINTER(c_char_p)
_OUT = POINTER(c_void_p)

_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "edict_version": (c_char_p, []),
    "edict_api": (c_int, []),
    "edict_last_error": (c_char_p, []),
    "edict_bytes_data": (c_void_p, [_BYTES]),
    "edict_bytes_size": (c_size_t, [_BYTES]),
    "edict_bytes_free": (None, [_P]),
    "edict_settings": (c_int, [_OUT]),
    "edict_control_new": (c_int, [_OUT]),
    "edict_control_read": (None, [_CONTROL, _P, c_size_t]),
    "edict_control_stop": (None, [_CONTROL]),
    "edict_control_free": (None, [_P]),
    "edict_builder_new": (c_int, [c_int64, _TEXTS, c_int64, _TEXTS, _OUT]),
    "edict_builder_rows": (c_int, [_BUILDER, c_int64, _P, _P, _P, _P]),
    "edict_builder_observations": (c_int, [_BUILDER, c_int64, _P, _P, _P, _P]),
    "edict_builder_labels": (c_int, [_BUILDER, c_int64, _TEXTS, _P]),
    "edict_builder_groups": (c_int, [_BUILDER, c_int64, _TEXTS, _P]),
    "edict_builder_statics": (c_int, [_BUILDER, c_int64, _TEXTS, _P]),
    "edict_builder_dates": (c_int, [_BUILDER, c_char_p, c_int, _P, c_int, c_int]),
    "edict_builder_unit": (c_int, [_BUILDER, c_char_p]),
    "edict_builder_reading": (c_int, [_BUILDER, c_char_p]),
    "edict_builder_dataset": (c_int, [_BUILDER, c_int, _OUT]),
    "edict_builder_free": (None, [_P]),
    "edict_read_dates": (c_int, [c_int64, _TEXTS, _P, _P]),
    "edict_read_cells": (c_int, [c_int64, _TEXTS, c_char_p, _P, _OUT]),
    "edict_find_codes": (c_int, [c_int64, _P, _OUT]),
    "edict_dataset_read": (c_int, [c_char_p, c_char_p, _LIKE, _OUT]),
    "edict_dataset_write": (c_int, [_DATASET, c_char_p]),
    "edict_dataset_sizes": (c_int, [_DATASET, _P, c_size_t]),
    "edict_dataset_fingerprint": (c_int, [_DATASET, _P]),
    "edict_dataset_names": (c_int, [_DATASET, c_int, _OUT]),
    "edict_dataset_arrays": (c_int, [_DATASET, *[_P] * 8]),
    "edict_dataset_dates": (c_int, [_DATASET, _P, _OUT]),
    "edict_dataset_reading": (c_int, [_DATASET, _OUT]),
    "edict_dataset_subset": (c_int, [_DATASET, c_int64, _P, c_double, _OUT]),
    "edict_dataset_relabel": (c_int, [_DATASET, c_int64, _TEXTS, _P, _OUT]),
    "edict_dataset_summary": (c_int, [_DATASET, _OUT]),
    "edict_dataset_free": (None, [_P]),
    "edict_fit_settings": (c_int, [_DATASET, c_int64, _TEXTS, _OUT]),
    "edict_train": (c_int, [_DATASET, POINTER(TrainingStruct), c_size_t, _CONTROL, _OUT]),
    "edict_cross_validate": (
        c_int, [_DATASET, POINTER(TrainingStruct), c_size_t, c_int64, _CONTROL, _OUT],
    ),
    "edict_calibrate": (c_int, [_MODEL, _DATASET, c_char_p, c_int, _OUT, _OUT]),
    "edict_classify": (c_int, [_MODEL, _DATASET, c_int64, _TEXTS, c_int64, _P, c_int, _CONTROL, _OUT]),
    "edict_model_load": (c_int, [c_char_p, _OUT]),
    "edict_model_save": (c_int, [_MODEL, c_char_p]),
    "edict_model_from_bytes": (c_int, [_P, c_size_t, _OUT]),
    "edict_model_to_bytes": (c_int, [_MODEL, _OUT]),
    "edict_model_sizes": (c_int, [_MODEL, _P, c_size_t]),
    "edict_model_info": (c_int, [_MODEL, _OUT]),
    "edict_model_match": (c_int, [_MODEL, _DATASET, _OUT]),
    "edict_model_parts": (c_int, [_MODEL, _DATASET, _P]),
    "edict_model_predict": (
        c_int,
        [_MODEL, _DATASET, c_int64, _P, c_int, c_double, _P, c_int, _CONTROL, *[_P] * 6],
    ),
    "edict_model_probabilities": (c_int, [_MODEL, _DATASET, c_int64, _P, _P, c_int, _CONTROL, _P]),
    "edict_model_encode": (c_int, [_MODEL, _DATASET, _P, c_int, _CONTROL, _P]),
    "edict_model_evaluate": (c_int, [_MODEL, _DATASET, c_char_p, c_int, _P, c_int, _CONTROL, _OUT]),
    "edict_model_surprise": (c_int, [_MODEL, _DATASET, c_double, _P, c_int, _CONTROL, *[_P] * 8]),
    "edict_model_impute": (c_int, [_MODEL, _DATASET, c_int64, _P, c_int, _P, c_int, _CONTROL, _P, _P]),
    "edict_model_free": (None, [_P]),
    "edict_quantile": (c_int, [c_int64, _P, _P, _P, _P, _P]),
    "edict_cdf": (c_int, [c_int64, _P, _P, _P, _P, _P]),
    "edict_streams_new": (c_int, [_MODEL, c_int64, _P, _P, _P, _OUT]),
    "edict_streams_add": (c_int, [_STREAMS, c_int64, _P, _P]),
    "edict_streams_count": (c_int64, [_STREAMS]),
    "edict_streams_observe": (c_int, [_STREAMS, c_int64, _P, _P, _P, _P, _P]),
    "edict_streams_observe_rows": (c_int, [_STREAMS, c_int64, _P, _P, _P]),
    "edict_streams_predict": (c_int, [_STREAMS, c_int64, _P, _P, _P, _P, _P, _P, _P]),
    "edict_streams_times": (c_int, [_STREAMS, _P]),
    "edict_streams_save": (c_int, [_STREAMS, c_int64, _OUT]),
    "edict_streams_restore": (c_int, [_STREAMS, c_int64, _P, c_size_t]),
    "edict_streams_free": (None, [_P]),
}


def _load() -> ctypes.CDLL:
    path = _library_path()
    library = ctypes.CDLL(path)
    for name, (result, arguments) in _SIGNATURES.items():
        try:
            function = getattr(library, name)
        except AttributeError as e:
            raise ImportError(f"{path} lacks {name}: it is older than this package") from e
        function.restype = result
        function.argtypes = arguments
    if library.edict_api() != API:
        raise ImportError(f"{path} has version {library.edict_api()} of edict.h, not {API}")
    return library


lib = _load()
_FREE: dict[str, Callable[[c_void_p], None]] = {
    kind: getattr(lib, f"edict_{kind}_free")
    for kind in ("bytes", "control", "builder", "dataset", "model", "streams")
}
version: str = lib.edict_version().decode()


# What the library calls otherwise than the arguments here are called.
_KEYWORDS = {"time_unit=": "unit=", "category=": "categories="}
_OPTIONS = re.compile(r"(?<![\w.])(?:time_unit|category)=")


def in_keywords(text: str) -> str:
    """A sentence of the library with its options by the names of the arguments here."""
    return _OPTIONS.sub(lambda found: _KEYWORDS[found[0]], text)


def raise_for(code: int) -> None:
    """The exception of a code that is not EDICT_OK; in the thread that made the call."""
    text = in_keywords(lib.edict_last_error().decode(errors="replace"))
    if code == 2:
        raise Error(text)
    if code == 3:
        raise Interrupted()
    if code == 4:
        raise MemoryError(text)
    if code == 5:
        raise MachineError(text)
    raise InternalError(text)


def warn(note: str) -> None:
    """Says something at the caller's line, which is the first outside of this package."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == _HERE:
        level, frame = level + 1, frame.f_back
    warnings.warn(in_keywords(note), stacklevel=level)


def check(code: int) -> None:
    """Raises the exception of a code that is not EDICT_OK."""
    if code:
        raise_for(code)


class Handle:
    """An object of the library, of one kind ("dataset", "model", …); freed with its owner."""

    def __init__(self, kind: str, pointer: int) -> None:
        self.kind = kind
        self.pointer: Optional[int] = pointer
        self._free: Callable[[c_void_p], None] = _FREE[kind]

    def __del__(self) -> None:
        pointer, self.pointer = self.pointer, None
        if pointer:
            self._free(c_void_p(pointer))


def made(name: str, function: Callable[..., int], *arguments: Any) -> Handle:
    """Calls a function that makes a handle of this name ("dataset", "model", …)."""
    out = c_void_p()
    code = function(*arguments, byref(out))
    check(code)
    assert out.value is not None
    return Handle(name, out.value)


def bytes_of(function: Callable[..., int], *arguments: Any) -> bytes:
    """Calls a function that makes edict_bytes."""
    return content_of(made("bytes", function, *arguments))


def content_of(handle: Handle) -> bytes:
    """What edict_bytes hold."""
    return ctypes.string_at(lib.edict_bytes_data(handle), lib.edict_bytes_size(handle))


def json_of(function: Callable[..., int], *arguments: Any) -> Any:
    """Calls a function that makes edict_bytes which hold JSON."""
    return json.loads(bytes_of(function, *arguments))


def texts(values: Iterable[str]) -> Any:
    """An array of C strings."""
    given = list(values)
    try:
        encoded = [value.encode() for value in given]
    except UnicodeEncodeError as e:
        raise Error(f"{e.object!r}: a text cannot contain half of a surrogate pair; correct it") from None
    for value in encoded:
        if b"\0" in value:
            raise Error(f"{value.decode()!r}: a name cannot contain a zero byte")
    return (c_char_p * len(encoded))(*encoded)


def address(array: Optional[npt.NDArray[Any]]) -> Optional[int]:
    """Where an array lies, NULL for none."""
    return None if array is None else array.ctypes.data


def bytes_like(content: Any, what: str) -> bytes:
    """The bytes of whatever has some."""
    try:
        return bytes(memoryview(content))
    except TypeError:
        raise TypeError(f"{what} is of type {type(content).__name__}; give bytes") from None


def buffer_of(content: Any, what: str) -> Any:
    """Bytes in memory as the library reads them; keep it for the call."""
    held = bytes_like(content, what)
    return ctypes.create_string_buffer(held, len(held))


def path_bytes(path: "str | os.PathLike[str]") -> bytes:
    """A path as the library takes it, whole or not at all."""
    try:
        result = os.fsencode(path)
    except TypeError:
        raise TypeError(f"a path is of type {type(path).__name__}; give a text or a pathlib.Path") from None
    if not result:
        raise Error("the path is empty; give the name of a file")
    if b"\0" in result:
        raise Error(f"{os.fsdecode(result)!r}: a path cannot contain a zero byte")
    return result


def text_bytes(text: "str | bytes", what: str) -> bytes:
    """A text as the library takes it, which ends at the first zero byte."""
    try:
        result = text.encode() if isinstance(text, str) else text
    except UnicodeEncodeError:
        raise Error(f"{what} contains half of a surrogate pair; correct it") from None
    if b"\0" in result:
        raise Error(f"{what} contains a zero byte; give a text without one")
    return result


class Control:
    """Progress of one long call, and the way to stop it."""

    def __init__(self) -> None:
        self.handle = made("control", lib.edict_control_new)

    def read(self) -> Progress:
        """How far the call has come."""
        progress = Progress()
        lib.edict_control_read(self.handle, ctypes.addressof(progress), ctypes.sizeof(progress))
        return progress

    def stop(self) -> None:
        """Asks the call to end; it does within about a second."""
        lib.edict_control_stop(self.handle)


def run_long(
    call: Callable[[Handle], Any], on_progress: Optional[Callable[[Progress], None]] = None
) -> Any:
    """``call(control)`` in a thread of its own, so that Ctrl-C is heard and progress can be shown.

    Signals reach the main thread only, and there only between two instructions of Python: the main
    thread must not be inside of the library. In other threads the call is made at once. What
    training has made by then is the ``model`` of the KeyboardInterrupt.
    """
    control = Control()
    if threading.current_thread() is not threading.main_thread() and on_progress is None:
        return call(control.handle)
    result: list[Any] = []
    failure: list[BaseException] = []
    # Not Thread.join: where a signal interrupts it, Python 3.11 takes the thread for ended.
    done = threading.Event()

    def work() -> None:
        try:
            result.append(call(control.handle))
        except BaseException as e:  # raised again by the thread that waits
            failure.append(e)
        finally:
            done.set()

    threading.Thread(target=work, name="edict", daemon=True).start()
    try:
        while not done.wait(0.1):
            if on_progress is not None:
                on_progress(control.read())
        if on_progress is not None:
            on_progress(control.read())
    except BaseException as e:
        control.stop()
        done.wait()
        made_so_far = [f.model for f in failure if isinstance(f, Interrupted)] or result or [None]
        # Not an exception of our own: only the exact type lets a script end as Ctrl-C ends scripts.
        e.model = made_so_far[0]  # type: ignore[attr-defined]
        raise
    if failure:
        raise failure[0]
    return result[0]


def names_of(function: Callable[..., int], handle: Any, which: int) -> list[str]:
    """The names of one kind, as edict_names counts them."""
    return bytes_of(function, handle, which).decode().split("\0")[:-1]


def assignments(values: Sequence[str]) -> tuple[int, Any]:
    """Settings as "key=value", and how many."""
    return len(values), texts(values)
