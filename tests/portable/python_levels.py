"""The Python package with the library of every level that this processor knows, on a model of the lowest:

    python_levels.py, with PYTHONPATH and EDICT_LIBRARY as the other tests have them

The loader is told which levels it may pick from; what they predict agrees.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

LOADER = "/lib64/ld-linux-x86-64.so.2"
ASK = """
import json, sys
import edict
data = edict.Dataset.from_frame(edict.waves(series=60), label="label")
if sys.argv[1] == "train":
    edict.Model.train(data, epochs=2, hidden=24, batch=16, threads=1, progress=False).save(sys.argv[2])
model = edict.Model.load(sys.argv[2])
maps = open("/proc/self/maps").read().split()
print(json.dumps({
    "library": next(word for word in maps if "libedict_core.so" in word),
    "mean": model.predict(data, at=[2.0, 9.0], threads=1).mean.ravel().tolist(),
}))
"""


def told(level, what, model):
    command = [LOADER, "--glibc-hwcaps-mask", level, sys.executable, "-c", ASK, what, model]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    known = subprocess.run([LOADER, "--help"], capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        model = str(pathlib.Path(folder) / "model")
        base = told("none", "train", model)
        assert "glibc-hwcaps" not in base["library"], base["library"]
        for level in ("x86-64-v3", "x86-64-v4"):
            if f"{level} (supported" not in known:
                print(f"{level}: this processor does not know it")
                continue
            found = told(level, "ask", model)
            assert f"glibc-hwcaps/{level}/" in found["library"], found["library"]
            # Single precision, in another order of additions.
            worst = max(abs(a - b) for a, b in zip(found["mean"], base["mean"]))
            assert worst < 1e-4, f"{level}: differs by {worst:g}"
            print(f"{level}: agrees to {worst:.1e}")


main()
