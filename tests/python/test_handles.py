"""What reaches the library is of the right kind, and what comes from it is the caller's own."""

import ctypes

import numpy as np
import pytest

import edict
from edict import Dataset, Model, Stream, Streams, _native


@pytest.mark.parametrize("made", ["from_frame", "from_long", "read_csv"])
def test_like_takes_a_model_only(data, frame, made, tmp_path):
    data.write_csv(tmp_path / "data.csv")
    given = tmp_path / "data.csv" if made == "read_csv" else frame
    with pytest.raises(TypeError, match="like is of type Dataset; give a Model, as from Model.load"):
        getattr(Dataset, made)(given, like=data)


def test_an_object_of_another_kind_is_refused_in_a_line(model, data):
    with pytest.raises(TypeError, match="data is of type Model; give a Dataset"):
        edict.fit_settings(model)
    for make in (lambda: Stream(data), lambda: Streams(data, 3)):
        with pytest.raises(TypeError, match="model is of type Dataset; give a Model"):
            make()
    with pytest.raises(TypeError, match="from_model is of type Dataset; give a Model or its file"):
        Model.train(data, from_model=data)
    with pytest.raises(TypeError, match="data is of type Model"):
        model.parts(model)


def test_the_library_is_never_called_with_a_handle_of_another_kind(model, data):
    sizes = _native.DatasetSize()
    for wrong in (model._handle, None, 12345, data):
        with pytest.raises(ctypes.ArgumentError, match="a handle of a dataset is needed"):
            _native.lib.edict_dataset_sizes(wrong, ctypes.addressof(sizes), ctypes.sizeof(sizes))


def test_what_a_caller_changes_changes_nothing_else(model, data):
    before = model.predict(data[:2], ahead=[1.0])
    for change in (
        lambda: model.info["features"].clear(), lambda: model.info["time_axis"].clear(),
        lambda: model.config["model"].clear(), lambda: model.epochs[0].clear(), lambda: model.features.clear(),
        lambda: model.statics.append("x"), lambda: model.classes.append("x"),
        lambda: data.ids.clear(), lambda: data.features.reverse(), lambda: data.classes.clear(),
        lambda: data.statics.append("x"), lambda: data.group_names.append("x"),
        lambda: data.reading.clear(), lambda: data.reading["features"].clear(), lambda: data.arrays.clear(),
    ):  # fmt: skip
        change()
    assert model.predict(data[:2], ahead=[1.0]) == before
    assert data.ids[0] == "wave00" and data.features == ["level", "flow"] and len(data.classes) == 2
    for array in (data.arrays["value"], data.times, data.last_times):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    for name in ("model", "names"):
        with pytest.raises(AttributeError):
            setattr(Streams(model, 2), name, None)


def test_an_axis_keeps_its_origin():
    import pandas as pd

    when = pd.to_datetime(["2024-03-01 12:30", "2024-03-01 14:00"])
    axis = Dataset.from_frame({"id": [1, 1], "time": when, "x": [1.0, 2.0]}).time_axis
    with pytest.raises(ValueError, match="read-only"):
        axis.origin[0] = np.datetime64("1999-01-01")


@pytest.mark.parametrize("path", ["a\0b", b"a\0b", "", b""])
def test_a_path_is_taken_whole_or_not_at_all(model, data, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call in (model.save, Model.load, data.write_csv, Dataset.read_csv):
        with pytest.raises(edict.Error, match="path cannot contain a zero byte|the path is empty"):
            call(path)
    with pytest.raises(edict.Error, match="path cannot contain a zero byte|the path is empty"):
        Model.train(data, config=path)
    assert list(tmp_path.iterdir()) == []


def test_a_path_is_a_text_or_a_path(model):
    with pytest.raises(TypeError, match="a path is of type int; give a text or a pathlib.Path"):
        model.save(3)
