"""A trained model and what it can be asked."""

from __future__ import annotations

import ctypes
import os
import warnings
from ctypes import byref, c_void_p
from functools import cached_property
from pathlib import Path
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import compat
from ._native import (
    Error, Handle, Interrupted, ModelSize, Progress, address, assignments, bytes_of, check, json_of,
    lib, made, path_bytes, raise_for, run_long,
)  # fmt: skip
from .dataset import Dataset
from .forecast import Forecast, empty_arrays
from .guard import Guard, GuardPointer
from .settings import to_assignments
from .times import is_moment

Floats = npt.NDArray[np.float64]
ShowProgress = Union[bool, Callable[[Progress], None], None]
GuardLike = Union[Guard, str, None]
DataLike = Union[Dataset, str, "os.PathLike[str]"]  # a path is read as the training data were
_COMMON, _OWN, _AHEAD = 0, 1, 2  # whose times are asked for, as in edict.h
_PAST, _BOTH, _KNOWN = 0, 1, 2  # on which sides of a moment something is known, as in edict.h
_PARTS = np.array(["train", "validation", "test", "unseen"], dtype=object)


class Model:
    """A model of irregular series: distributions at every moment, states, classes.

    It never changes, can be pickled, and may be asked by several threads at once.

    >>> import edict
    >>> data = edict.Dataset.from_frame(edict.waves(series=60), label="label")
    >>> model = edict.Model.train(data, epochs=2, hidden=8, batch=16, threads=1)
    >>> model
    Model(edict, 2 features, 60 series seen)
    >>> model.predict(data, at=[5.0, 10.0]).mean.shape
    (60, 2, 2)
    >>> model.encode(data).shape
    (60, 8)
    >>> classifier = model.classify(data)
    >>> classifier.class_probabilities(data).shape
    (60, 2)
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    # ---- making one ------------------------------------------------------------------------------

    @classmethod
    def train(
        cls,
        data: Dataset,
        *,
        config: "str | os.PathLike[str] | None" = None,
        members: int = 1,
        from_model: "Optional[Model]" = None,
        budget: Union[float, str, None] = None,
        out: "str | os.PathLike[str] | None" = None,
        resume: bool = False,
        threads: int = 0,
        progress: ShowProgress = None,
        **settings: Any,
    ) -> "Model":
        """Trains a model on the data; every setting of edict is a keyword (see :func:`edict.settings`).

        What is not given is chosen to fit the data (:func:`edict.fit_settings` tells what and why),
        or, with a TOML file ``config``, is as the file says. With more than one of ``members`` it is
        an ensemble of models that differ by their seeds, whose disagreement counts as doubt. With ``out``
        the best model so far, its checkpoint and its metrics are files, and ``resume`` goes on from the
        checkpoint. The same data, seed and settings give the same bits for every number of threads, and
        as the command line does.

        ``from_model`` is a trained model to start from instead of anew, with its settings, scales and
        split; only settings of the tables train and loss may differ. ``budget`` is the time that training
        may take, in seconds or as "90s", "10m" or "2h": it ends then, with the best epoch so far.

        After Ctrl-C the KeyboardInterrupt has a ``model``: the best of the epochs that were complete,
        or None. ``progress``: True or False, a function that is called with a
        :class:`edict.Progress` ten times a second, or None for a bar where someone looks.

        >>> import edict
        >>> edict.Model.train(edict.Dataset.from_frame(edict.waves(), label="label"), epohcs=3)
        Traceback (most recent call last):
            ...
        TypeError: unknown setting 'epohcs'; did you mean 'epochs'?
        """
        count, given = assignments(to_assignments(settings))
        seconds = _seconds(budget)
        if from_model is not None:
            from_model._note(data)
        start = None if from_model is None else from_model.pointer
        toml = None if config is None else Path(config).read_bytes()
        path = None if out is None else path_bytes(out)

        def call(control: int) -> Model:
            pointer = c_void_p()
            code = lib.edict_train(
                data.pointer, toml, count, given, members, start, seconds, path, int(resume),
                threads, control, byref(pointer),
            )  # fmt: skip
            model = None
            if pointer.value:
                model = cls(Handle(pointer.value, lib.edict_model_free))
            if code == 3:
                raise Interrupted(model)
            if code or model is None:
                raise_for(code)
                raise AssertionError
            return model

        model: Model = cls._long(call, progress, "training")
        if model.info["piece"] and not data.reading["piece"] and from_model is None:
            few = "1 series is" if len(data) == 1 else f"{len(data)} series are"
            warnings.warn(
                f"{few} too few to split by series; cut into pieces of {model.info['piece']} events, "
                "the last of each series for the test split",
                stacklevel=2,
            )
        return model

    def classify(
        self,
        data: DataLike,
        *,
        seeds: Sequence[int] = (),
        threads: int = 0,
        progress: ShowProgress = None,
        **settings: Any,
    ) -> "Model":
        """A model that also tells the labels of the data apart, on top of this one.

        Settings are those of the table ``classify``: ``layers=2``, ``epochs=50``, ``fine_tune=5``, …;
        and, written in full, ``readout_members=5``, ….
        """
        count, given = assignments(to_assignments(settings, "classify"))
        table = self._given(data)
        own = np.ascontiguousarray(seeds, dtype=np.int64)
        model: Model = self._long(
            lambda control: Model(
                made(
                    "model", lib.edict_classify, self.pointer, table.pointer, count, given, own.size,
                    address(own), threads, control,
                )
            ),
            progress,
            "classifying",
        )  # fmt: skip
        return model

    @classmethod
    def load(cls, path: "str | os.PathLike[str]") -> "Model":
        return cls(made("model", lib.edict_model_load, path_bytes(path)))

    def save(self, path: "str | os.PathLike[str]") -> None:
        """A file as the command-line tool reads it."""
        check(lib.edict_model_save(self.pointer, path_bytes(path)))

    @classmethod
    def from_bytes(cls, content: bytes) -> "Model":
        buffer = ctypes.create_string_buffer(content, len(content))
        return cls(
            made("model", lib.edict_model_from_bytes, ctypes.addressof(buffer), len(content))
        )

    def to_bytes(self) -> bytes:
        """What :meth:`save` writes."""
        return bytes_of(lib.edict_model_to_bytes, self.pointer)

    def __reduce__(self) -> tuple[Any, ...]:
        return Model.from_bytes, (self.to_bytes(),)

    # ---- what it is ------------------------------------------------------------------------------

    @property
    def pointer(self) -> Optional[int]:
        return self._handle.pointer

    @cached_property
    def info(self) -> dict[str, Any]:
        """kind, features, statics, classes, config, t_cut, horizon, mean, scale, correlations, seen, epochs."""
        result: dict[str, Any] = json_of(lib.edict_model_info, self.pointer)
        return result

    @cached_property
    def _sizes(self) -> ModelSize:
        sizes = ModelSize()
        check(lib.edict_model_sizes(self.pointer, ctypes.addressof(sizes), ctypes.sizeof(sizes)))
        return sizes

    @property
    def _time_rules(self) -> Optional[dict[str, Any]]:
        rules = self.info["time_axis"]
        return None if rules["kind"] == "number" else rules

    @property
    def features(self) -> list[str]:
        return list(self.info["features"])

    @property
    def statics(self) -> list[str]:
        return list(self.info["statics"])

    @property
    def classes(self) -> list[str]:
        """The classes it tells apart; empty without a classifier."""
        return list(self.info["classes"])

    @property
    def config(self) -> dict[str, dict[str, Any]]:
        """Every setting, table by table, as training resolved it."""
        return dict(self.info["config"])

    @property
    def epochs(self) -> list[dict[str, Any]]:
        """Losses of each epoch, where it was trained in this process."""
        return list(self.info["epochs"])

    @property
    def correlations(self) -> Optional[Floats]:
        """Which features err together, [features × features]; None before ``edict calibrate``."""
        rows = self.info["correlations"]
        return None if rows is None else np.array(rows)

    @property
    def hidden(self) -> int:
        """The size of the state, of all members together."""
        return int(self._sizes.hidden)

    @property
    def has_distribution(self) -> bool:
        return bool(self._sizes.distribution)

    @property
    def fingerprint(self) -> int:
        return int(self._sizes.fingerprint)

    def __repr__(self) -> str:
        seen = sum(self.info["seen"].values())
        classes = f", {len(self.classes)} classes" if self.classes else ""
        return f"Model({self.info['kind']}, {len(self.features)} features{classes}, {seen} series seen)"

    # ---- questions -------------------------------------------------------------------------------

    def predict(
        self,
        data: DataLike,
        at: Any = None,
        *,
        ahead: Any = None,
        until: float = np.inf,
        guard: GuardLike = None,
        threads: int = 0,
        progress: ShowProgress = False,
    ) -> Forecast:
        """The distribution of every feature at some times, given what was observed before each.

        ``at``: times for all series, in the data's unit, or date-times where the data have them; of a
        series that begins later its start is told.
        ``ahead``: times after each series' own last observation. Observations from ``until`` on are
        not looked at.
        """
        table = self._given(data)
        if not self.has_distribution:
            raise Error(f"{self.info['kind']} predicts no distribution; ask for class_probabilities")
        if (at is None) == (ahead is None):
            raise Error("give the times to ask for: at=…, or ahead=… after each last observation")
        if ahead is not None:
            after = _ascending(ahead)
            seen = table if until == np.inf else table.before(until)
            shown = np.nan_to_num(seen.last_times, nan=0.0)[:, None] + after
            return self._distributions(seen, after, _AHEAD, shown, np.inf, guard, threads, progress)
        times, which = self._times(table, at)
        shown = np.broadcast_to(times, (len(table), times.shape[-1]))
        return self._distributions(table, times, which, shown, until, guard, threads, progress)

    def class_probabilities(
        self,
        data: DataLike,
        at: Any = None,
        *,
        guard: GuardLike = None,
        threads: int = 0,
        progress: ShowProgress = False,
    ) -> Floats:
        """[series × classes] with everything observed, or with ``at`` [series × times × classes]."""
        table = self._given(data)
        if not self.classes:
            raise Error("this model has no classifier; make one with classify")
        times = None if at is None else _ascending(at)
        count = 0 if times is None else times.size
        shape = (len(table), count, len(self.classes)) if count else (len(table), len(self.classes))
        result = np.empty(shape)
        pointer = GuardPointer(guard)
        self._long(
            lambda control: check(
                lib.edict_model_probabilities(
                    self.pointer, table.pointer, count, address(times), pointer.address, threads,
                    control, address(result),
                )
            ),
            progress,
            "classifying",
        )  # fmt: skip
        return result

    def encode(
        self,
        data: DataLike,
        *,
        guard: GuardLike = None,
        threads: int = 0,
        progress: ShowProgress = False,
    ) -> npt.NDArray[np.float32]:
        """The state h(T) of each series after everything observed, [series × hidden]."""
        table = self._given(data)
        result = np.empty((len(table), self.hidden), dtype=np.float32)
        pointer = GuardPointer(guard)
        self._long(
            lambda control: check(
                lib.edict_model_encode(
                    self.pointer, table.pointer, pointer.address, threads, control, address(result)
                )
            ),
            progress,
            "encoding",
        )
        return result

    def evaluate(
        self,
        data: DataLike,
        part: str = "test",
        *,
        smooth: bool = False,
        guard: GuardLike = None,
        threads: int = 0,
        progress: ShowProgress = False,
    ) -> dict[str, Any]:
        """How good interpolation and extrapolation are: errors, calibration, scores.

        ``part``: "train", "validation", "test", "unseen" or "all", by what the model recorded of its
        training. Data of which it knows no series are judged whole. ``smooth`` judges the interpolation
        from both sides, of a model that was trained with ``train.smooth``.
        """
        table = self._given(data)
        pointer = GuardPointer(guard)
        result: dict[str, Any] = self._long(
            lambda control: json_of(
                lib.edict_model_evaluate, self.pointer, table.pointer, part.encode(),
                _BOTH if smooth else _PAST, pointer.address, threads, control,
            ),
            progress,
            "evaluating",
        )  # fmt: skip
        return result

    def impute(
        self, data: DataLike, *, deviations: bool = False, past_only: bool = False,
        guard: GuardLike = None, threads: int = 0, progress: ShowProgress = False,
    ) -> Any:  # fmt: skip
        """The wide table of the data with every gap filled by its mean, as a DataFrame.

        A gap is filled from what was seen of the series up to its moment, the other values of that
        moment included; and, by a model that was trained with ``train.smooth``, from what came later
        too, unless ``past_only`` is set. ``deviations`` adds columns ``<feature>_sd``: the predictive deviation, 0
        where the value was observed.
        """
        table = self._given(data)
        frame = table.to_frame()
        value = np.empty((table.events, len(self.features)))
        deviation = np.empty_like(value)
        pointer = GuardPointer(guard)
        self._long(
            lambda control: check(
                lib.edict_model_impute(
                    self.pointer, table.pointer, 0, None, _PAST if past_only else _KNOWN,
                    pointer.address, threads, control, address(value), address(deviation),
                )
            ),
            progress,
            "filling",
        )  # fmt: skip
        for j, name in enumerate(self.features):
            frame[name] = value[:, j]
            if deviations:
                frame[f"{name}_sd"] = deviation[:, j]
        return frame

    def surprise(
        self, data: DataLike, *, top: Optional[int] = None, until: float = np.inf,
        guard: GuardLike = None, threads: int = 0, progress: ShowProgress = False,
    ) -> Any:  # fmt: skip
        """Every observation beside what was expected of it just before, most surprising first.

        A DataFrame with id, time, feature, value, mean, predictive_sd, z (the distance in deviations),
        log_score (minus the log density) and tail_probability (how often something at least as far
        off is to be expected), by which it is sorted. ``top`` keeps so many. Observations from ``until`` on are
        judged but not absorbed. The data must have the model's features.
        """
        table = self._given(data)
        frame = table.to_frame("long")[["id", "time", "feature", "value"]]
        arrays = empty_arrays(table.observations)
        z, log_score, tail = (np.empty(table.observations) for _ in range(3))
        pointer = GuardPointer(guard)
        self._long(
            lambda control: check(
                lib.edict_model_surprise(
                    self.pointer, table.pointer, until, pointer.address, threads, control,
                    *(address(a) for a in (*arrays, z, log_score, tail)),
                )
            ),
            progress,
            "judging",
        )  # fmt: skip
        mean, aleatoric, epistemic = arrays[:3]
        frame["mean"], frame["predictive_sd"] = mean, np.sqrt(aleatoric + epistemic)
        frame["z"], frame["log_score"], frame["tail_probability"] = z, log_score, tail
        order = np.lexsort((-np.abs(z), tail))
        return frame.iloc[order[:top]].reset_index(drop=True)

    def to_torch(self) -> Any:
        """The network as a plain PyTorch module (:class:`edict.torch.EdictModule`), of an ensemble
        all of them (:class:`edict.torch.EdictEnsemble`). Distributions, with every option of the kind
        ``edict`` but the solver dopri5; other kinds are refused, and a classifier is left out."""
        from .torch import EdictEnsemble, EdictModule

        return EdictEnsemble(self) if self.info["members"] > 1 else EdictModule(self)

    def parts(self, data: Dataset) -> npt.NDArray[np.object_]:
        """Which part each series had in training: train, validation, test or unseen."""
        result = np.empty(len(data), dtype=np.int32)
        check(lib.edict_model_parts(self.pointer, data.pointer, address(result)))
        return _PARTS[result]

    # ---- inside ----------------------------------------------------------------------------------

    def _distributions(
        self, data: Dataset, times: Floats, which: int, shown: Floats, until: float,
        guard: GuardLike, threads: int, progress: ShowProgress,
    ) -> Forecast:  # fmt: skip
        """``which`` tells whose the times are, as in edict.h; ``shown`` are those of the forecast."""
        count = times.shape[-1]
        arrays = empty_arrays(len(data), count, len(self.features))
        pointer = GuardPointer(guard)
        clipped = ctypes.c_int64()
        self._long(
            lambda control: check(
                lib.edict_model_predict(
                    self.pointer, data.pointer, count, address(times), which, until,
                    pointer.address, threads, control, *(address(a) for a in arrays),
                    ctypes.addressof(clipped),
                )
            ),
            progress,
            "predicting",
        )  # fmt: skip
        return Forecast(
            data.ids, self.features, shown, *arrays, time_axis=data.time_axis,
            clipped=clipped.value, correlations=self.correlations,
        )  # fmt: skip

    def _times(self, data: Dataset, at: Any) -> tuple[Floats, int]:
        """[times] of all series, or [series × times] where date-times differ between them."""
        if not is_moment(at):
            return _ascending(at), _COMMON
        if data.time_axis is None:
            raise Error("at holds date-times, but the times of the data are numbers")
        moments = np.atleast_1d(np.asarray(at, dtype=object))
        own = np.stack([data.time_axis.to_floats(m, slice(None)) for m in moments.ravel()], axis=1)
        if (np.diff(own, axis=1) < 0).any():
            raise Error("the times to ask for must ascend")
        if data.time_axis.from_first:  # a moment before a series begins is its start
            own = np.maximum(own, 0.0)
        return np.ascontiguousarray(own, dtype=np.float64), _OWN

    def _given(self, data: DataLike) -> Dataset:
        """The data, or the file read as the training data were, with what is to be said about them."""
        if not isinstance(data, Dataset):
            data = Dataset.read_csv(data, like=self)
        self._note(data)
        return data

    def _note(self, data: Dataset) -> None:
        """Refuses times of another kind, and tells of columns that are ignored or missing."""
        axis = data.time_axis
        own, given = _said(self._time_rules), _said(None if axis is None else axis.rules())
        if own != given:
            raise Error(f"the model's times are {own}, those of the data {given}; give them alike")
        if data.features == self.features and data.statics == self.statics:
            return
        for note in json_of(lib.edict_model_match, self.pointer, data.pointer):
            warnings.warn(note, stacklevel=3)

    @staticmethod
    def _long(call: Callable[[int], Any], progress: ShowProgress, what: str) -> Any:
        show = compat.progress_bar(progress, what)
        try:
            return run_long(call, show)
        finally:
            compat.close(show)


def _said(rules: Optional[dict[str, Any]]) -> str:
    if not rules:
        return "plain numbers"
    start = "each series' first" if rules["from_first"] else "one moment"
    return f"date-times in {rules['unit']} from {start}"


def _seconds(budget: Union[float, str, None]) -> float:
    """A time as the command line takes it, or in seconds; 0 without one."""
    if budget is None:
        return 0.0
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    try:
        if isinstance(budget, str) and budget[-1:] in units:
            seconds = float(budget[:-1]) * units[budget[-1:]]
        else:
            seconds = float(budget)
    except ValueError:
        seconds = np.nan
    if not 0 < seconds < np.inf:
        raise Error(f"budget={budget!r}: give seconds, or a time as 90s, 10m or 2h")
    return seconds


def _ascending(times: Any) -> Floats:
    result = np.ascontiguousarray(np.atleast_1d(np.asarray(times, dtype=np.float64)))
    if result.ndim != 1 or (np.diff(result) < 0).any():
        raise Error("the times to ask for must be a list that ascends")
    return result

