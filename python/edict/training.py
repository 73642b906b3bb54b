"""What trainings are asked to do, and cross-validation."""

from __future__ import annotations

import os
from contextlib import contextmanager
from ctypes import byref, sizeof
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Union

import numpy as np

from . import compat
from . import moments as _moments
from ._convert import whole
from ._native import (
    Error, Handle, MissingFile, Progress, TrainingStruct, assignments, json_of, lib, path_bytes, run_long,
    text_bytes,
)  # fmt: skip
from .dataset import Dataset
from .settings import to_assignments

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .typed_settings import TrainSettings


def training_of(
    settings: Mapping[str, Any], config: "str | os.PathLike[str] | None", members: int, start: Optional[Handle],
    budget: Any, out: "str | os.PathLike[str] | None", resume: bool, threads: int,
) -> TrainingStruct:  # fmt: skip
    """A training as the library takes it; ``start`` is the model to start from, to be kept by the caller."""
    count, given = assignments(to_assignments(settings))
    toml = None if config is None else text_bytes(_file_content(config), f"{os.fspath(config)}")
    return TrainingStruct(
        toml, count, given, whole(members, "members", 1), None if start is None else start.pointer, _seconds(budget),
        None if out is None else path_bytes(out), int(resume), threads_of(threads),
    )  # fmt: skip


def cross_validate(
    data: Dataset,
    folds: int = 5,
    *,
    config: "str | os.PathLike[str] | None" = None,
    members: int = 1,
    out: "str | os.PathLike[str] | None" = None,
    resume: bool = False,
    threads: int = 0,
    progress: "Union[bool, Callable[[Progress], None], None]" = None,
    **settings: "Unpack[TrainSettings]",
) -> dict[str, Any]:
    """As many trainings as ``folds``, each judged on the series of its fold, and where there are labels a
    classifier on each: "folds", what was judged in each, and "metrics", each with its mean, deviation and value
    in every fold.

    The other arguments are those of :meth:`edict.Model.train`; ``out`` is the folder where the models are
    kept, and ``resume`` goes on from there.

    >>> import edict
    >>> data = edict.Dataset.from_frame(edict.waves(series=60), label="label")
    >>> found = edict.cross_validate(data, folds=2, epochs=2, hidden=8, batch=16)
    >>> len(found["folds"]), sorted(found["metrics"])[:1] != []
    (2, True)
    """
    if not isinstance(data, Dataset):
        raise TypeError(f"data is of type {type(data).__name__}; give a Dataset, as from Dataset.from_frame")
    if resume and out is None:
        raise Error("resume=True continues trainings from their files; give out=, their folder")
    training = training_of(settings, config, members, None, None, out, resume, threads)
    folds = whole(folds, "folds", 2, 1000)
    show = compat.progress_bar(progress, "cross-validating")

    def call(control: Handle) -> Any:
        return json_of(
            lib.edict_cross_validate, data._handle, byref(training), sizeof(training), folds, control
        )

    try:
        with named(config):
            result: dict[str, Any] = run_long(call, show)
    finally:
        compat.close(show)
    return result


@contextmanager
def named(config: "str | os.PathLike[str] | None") -> Iterator[None]:
    """Gives an error of a file with settings the file's name."""
    try:
        yield
    except Error as e:
        if config is not None and str(e).startswith("settings:"):
            raise Error(f"{os.fspath(config)}{str(e)[len('settings') :]}") from None
        raise


def threads_of(threads: Any) -> int:
    """How many threads; 0 for as many as the machine has."""
    return whole(threads, "threads", 0, 1024)


def _file_content(path: "str | os.PathLike[str]") -> bytes:
    path_bytes(path)
    try:
        return Path(path).read_bytes()
    except OSError as e:
        raise MissingFile.instead_of(Error(f"{os.fspath(path)}: {e.strerror}; check the path"), path) from None


def _seconds(budget: Any) -> float:
    """A time as the command line takes it, or in seconds; 0 without one."""
    if budget is None:
        return 0.0
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    if isinstance(budget, (timedelta, np.timedelta64)):
        budget = _moments.times(budget, "budget").present("budget").values.astype(np.int64) / 1e9
    try:
        if isinstance(budget, str) and budget[-1:] in units:
            seconds = float(budget[:-1]) * units[budget[-1:]]
        else:
            seconds = float(budget)
    except (TypeError, ValueError):
        seconds = np.nan
    if not 0 < seconds < np.inf:
        raise Error(f"budget={budget!r}: give seconds, or a time as 90s, 10m or 2h")
    return seconds
