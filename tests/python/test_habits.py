"""What is expected of a good guest in a Python process."""

import ctypes
import gc
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import SMALL

import edict
from edict import Model, _native

LONG = {**SMALL, "epochs": 1_000_000, "patience": 0}


def interrupt_after(seconds):
    threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


def test_ctrl_c_stops_training_within_a_second_and_keeps_the_best(data):
    interrupt_after(1.0)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as raised:
        Model.train(data, **LONG)
    assert time.monotonic() - begin < 2.5  # the timer, a second of grace, and a busy machine
    assert raised.value.model.predict(data, at=[1.0]).mean.shape == (60, 1, 2)


def test_an_interrupted_estimator_is_usable(data):
    from edict.sklearn import EdictForecaster

    forecaster = EdictForecaster(
        epochs=1_000_000, patience=0, hidden=8, batch=16, n_jobs=1, ahead=[1.0]
    )
    interrupt_after(1.0)
    with pytest.raises(KeyboardInterrupt):
        forecaster.fit(data)
    assert len(forecaster.predict(data)) == 60


def test_ctrl_c_stops_a_prediction(model, data):
    interrupt_after(0.5)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.predict(data, at=np.linspace(0, 1000, 200_000), threads=1)
    assert time.monotonic() - begin < 3


def test_other_threads_run_while_the_library_works(data):
    counted = 0
    stop = threading.Event()

    def count():
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.monotonic()
    Model.train(data, **{**SMALL, "epochs": 20, "patience": 0})
    seconds = time.monotonic() - begin
    stop.set()
    thread.join()
    # A thread that sleeps a millisecond at a time gets at least a tenth of its turns.
    assert counted > 100 * seconds


def test_progress_is_told(data):
    told = []
    Model.train(data, progress=told.append, **{**SMALL, "epochs": 100, "patience": 0})
    assert told and 0 <= told[0].fraction <= told[-1].fraction <= 1
    assert told[-1].epochs == 100


def predicted(model, data):
    return model.predict(data, at=[2.0, 9.0]).mean


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_works_in_other_processes(model, data, start):
    with multiprocessing.get_context(start).Pool(2) as pool:
        results = pool.starmap(predicted, [(model, data)] * 2)
    for result in results:
        np.testing.assert_array_equal(result, predicted(model, data))


def test_ctrl_c_in_a_script_ends_it(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import edict\n"
        "data = edict.Dataset.from_frame(edict.waves(), label='label')\n"
        "print('training', flush=True)\n"
        "edict.Model.train(data, epochs=1000000, patience=0, hidden=8, threads=1)\n"
    )
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"training\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == -signal.SIGINT  # as a script without edict would
    assert b"KeyboardInterrupt" in errors


class Mallinfo(ctypes.Structure):
    """What the allocator of the C library tells of itself (mallinfo2)."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"
    )]  # fmt: skip


def test_memory_stays_flat_over_many_rounds(data):
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Mallinfo

    # In use, mapped pieces included. What the process occupies comes and goes by several MB with what
    # the allocator keeps for later.
    def allocated():
        told = mallinfo()
        return told.uordblks + told.hblkhd

    small = data[:20]

    def rounds(count):
        for _ in range(count):
            model = Model.train(small, epochs=1, hidden=64, batch=16, step=2.0, data_train=0.5,
                                data_validation=0.3, threads=1)
            stream = edict.Stream(model)
            stream.observe(1.0, {"level": 0.2})
            model.predict(small, at=[1.0]).interval()
            model.evaluate(small, "all")
        gc.collect()
        return allocated()

    before = rounds(5)
    # The parameters of one model are 130 kB; thirty of them would be 4 MB.
    assert rounds(30) - before < 500_000


def test_the_loader_finds_the_library_of_a_system(tmp_path):
    """A system's package has the sources here and the library where its loader looks."""
    packages = tmp_path / "a" / "b" / "packages"
    shutil.copytree(os.path.dirname(edict.__file__), packages / "edict", symlinks=False)
    libraries = tmp_path / "lib"
    libraries.mkdir()
    library = os.path.realpath(_native.lib._name)
    (libraries / _native.SONAME).symlink_to(library)
    plain = {name: value for name, value in os.environ.items() if name not in ("EDICT_LIBRARY", "LD_LIBRARY_PATH")}
    plain["PYTHONPATH"] = str(packages)

    plain["LD_LIBRARY_PATH"] = f"{libraries}:{os.path.dirname(library)}"
    found = subprocess.run(
        [sys.executable, "-c", "import edict; print(edict.__file__, edict._native.lib._name)"],
        env=plain, cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert found.stdout.split() == [str(packages / "edict" / "__init__.py"), _native.SONAME], found.stderr


def test_without_the_library_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.delenv("EDICT_LIBRARY")
    monkeypatch.setattr(_native, "SONAME", "libedict-of-nobody.so.1")
    with pytest.raises(ImportError, match="libedict1"):
        _native._library_path(tmp_path / "a" / "b" / "edict")
