"""Times one training step of each model against its plain PyTorch version, after checking that both
compute the same loss from the same parameters on the same batch.

    model_step_against_torch.py MODEL_STEP_BENCH PRESET.toml... [--series 256] [--repeats 5]

MODEL_STEP_BENCH is the built program of that name. A step is forward, loss and backward in float32 on
one thread, with dropout as in the preset; times are medians. PyTorch gets padded batches, prepared
before the clock starts.
"""
import argparse
import json
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import types

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peer"))
from gru_d_torch import GruD  # noqa: E402
from gru_ode_bayes_torch import GruOdeBayes  # noqa: E402
from ipn_torch import Ipn  # noqa: E402
from seft_torch import Seft, padded_sets  # noqa: E402


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + o for o in entry["data_offsets"])
        tensors[name] = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32).view(entry["shape"])
    return tensors


def padded(batch, features):
    longest = max(len(s["events"]) for s in batch)
    times = torch.zeros(len(batch), longest)
    values, mask = torch.zeros(len(batch), longest, features), torch.zeros(len(batch), longest, features)
    for b, s in enumerate(batch):
        at = s["start"]
        for e in range(longest):
            if e < len(s["events"]):
                at, seen = s["events"][e]
                for j, x in seen:
                    values[b, e, j], mask[b, e, j] = x, 1.0
            times[b, e] = at
    return torch.tensor([s["start"] for s in batch]), times, values, mask, torch.zeros(len(batch), 0)


def prepare(found, batch):
    """The peer and a function that computes the loss."""
    m, loss, features, classes = (found["config"]["model"], found["config"]["loss"], found["features"],
                                  found["classes"])
    labels = torch.tensor([s["label"] for s in batch])
    layers = dict(classifier_layers=found["config"]["classify"]["layers"])
    data = padded(batch, features)
    if found["kind"] == "gru-ode-bayes":
        model = GruOdeBayes(features, 0, m["hidden"], m["head_hidden"], m["encoder_width"], m["step"],
                            loss["kl_observation_std"])
        data = (*data[:4], torch.zeros(len(batch), 1))
        count = data[3].sum()

        def compute():
            nll, kl = model(*data)
            return (nll + loss["kl"] * kl) / count
        return model, compute
    if found["kind"] == "gru-d":
        model = GruD(features, 0, classes, m["hidden"], m["layers"], m["dropout"], **layers)
    elif found["kind"] == "ipn":
        model = Ipn(features, 0, classes, m["hidden"], m["reference_step"], m["reference_end"],
                    m["dropout"], **layers)
    else:
        model = Seft(features, 0, classes, m["hidden"], m["encoder_width"], m["encoder_layers"],
                     m["heads"], m["time_scales"], m["longest_scale"], m["aggregation"], m["dropout"],
                     **layers)
        model.scales = model.scales.float()
        series = [types.SimpleNamespace(start=s["start"], events=[(t, dict(seen)) for t, seen in s["events"]])
                  for s in batch]
        data = (*padded_sets(series), data[4])
    return model, lambda: torch.nn.functional.cross_entropy(model(*data), labels)


def compare(program, preset, series, repeats):
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run([program, preset, folder, str(series)], check=True, capture_output=True, text=True)
        found = json.loads(out.stdout)
        batch = json.loads((pathlib.Path(folder) / "batch.json").read_text())
        weights = read_safetensors(pathlib.Path(folder) / "model.safetensors")
    model, compute = prepare(found, batch)
    model.load_state_dict(weights)
    model.eval()
    loss = compute().item()
    if abs(loss - found["loss"]) > 1e-3 * max(1.0, abs(loss)):
        sys.exit(f"{found['kind']}: the losses differ: ours {found['loss']}, PyTorch's {loss}")
    model.train()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        model.zero_grad()
        compute().backward()
        times.append(time.perf_counter() - begin)
    theirs = statistics.median(times)
    print(f"{found['kind']:14} loss {loss:9.5f}   ours {1e3 * found['seconds']:8.2f} ms   "
          f"PyTorch {1e3 * theirs:8.1f} ms   {theirs / found['seconds']:6.1f} times", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("presets", nargs="+")
    parser.add_argument("--series", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for preset in options.presets:
        compare(options.program, preset, options.series, options.repeats)


main()
