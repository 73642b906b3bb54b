"""The timing behind bench/compare, which builds ENGINE_BENCH and calls this.

    compare.py ENGINE_BENCH [--models edict,gru-d,…] [--rounds 5] [--threads 1,2] [--json FILE]

For each model, on Synthetic and with its preset: both sides compute loss and gradient of one batch of
256 series from the same weights, and must agree. Then ours and PyTorch are timed in turn, round after
round, and medians over the rounds are compared:

  training     a step: forward, backward, clipping and Adam. Ours also deals out the batch; PyTorch's
               is prepared before the clock starts.
  evaluation   the losses (or the classes) of the batch, without gradients
  streaming    one series, one event: walk to its time and absorb it (EDICT and GRU-ODE-Bayes, 1 thread)

The solver step is that of Synthetic's grid, 4 pi / 250, so that PyTorch can walk the whole batch on one
grid, as its users do, and take the very steps that ours takes series by series.
"""
import argparse
import json
import math
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
from edict_torch import Edict, Settings  # noqa: E402
from gru_d_torch import GruD  # noqa: E402
from gru_ode_bayes_torch import GruOdeBayes  # noqa: E402
from ipn_torch import Ipn  # noqa: E402
from jump_ode_torch import Event, GridBatch, Series, adam, mean_loss  # noqa: E402
from seft_torch import Seft, padded_sets  # noqa: E402

PRESETS = {"edict": "paper"}
STEP = f"model.step={4 * math.pi / 250!r}"


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
    """start (B), times (B x E, the last one repeated), values and mask (B x E x D), no covariates."""
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


class Peer:
    """A PyTorch model with one batch: `loss()` of it, `evaluate()` it, `series` to stream."""

    def __init__(self, found, batch):
        m, loss, features = found["config"]["model"], found["config"]["loss"], found["features"]
        common = dict(features=features, covariates=0, hidden=m["hidden"])
        self.series = [Series([], [Event(t, dict(seen)) for t, seen in s["events"]]) for s in batch]
        if found["kind"] in ("edict", "gru-ode-bayes"):
            walk = dict(common, head_hidden=m["head_hidden"], encoder_width=m["encoder_width"], step=m["step"])
            if found["kind"] == "edict":
                self.model = Edict(Settings(**walk, solver=m["solver"], surprise=m["surprise"],
                                            kl_form=loss["kl_form"], kl=loss["kl"],
                                            kl_observation_std=loss["kl_observation_std"],
                                            evidence=loss["evidence"]))
            else:
                self.model = GruOdeBayes(**walk, observation_std=loss["kl_observation_std"], kl=loss["kl"])
            grid = GridBatch(self.model, self.series)
            self.loss = self.evaluate = lambda: mean_loss(self.model, grid)
            return
        common.update(classes=found["classes"], dropout=m["dropout"],
                      classifier_layers=found["config"]["classify"]["layers"])
        data = padded(batch, features)
        if found["kind"] == "gru-d":
            self.model = GruD(**common, layers=m["layers"])
        elif found["kind"] == "ipn":
            self.model = Ipn(**common, reference_step=m["reference_step"], reference_end=m["reference_end"])
        else:
            self.model = Seft(**common, encoder_width=m["encoder_width"], encoder_layers=m["encoder_layers"],
                              heads=m["heads"], time_scales=m["time_scales"],
                              longest_scale=m["longest_scale"], aggregation=m["aggregation"])
            self.model.scales = self.model.scales.float()
            sets = [types.SimpleNamespace(start=s["start"], events=[(t, dict(seen)) for t, seen in s["events"]])
                    for s in batch]
            data = (*padded_sets(sets), data[4])
        labels = torch.tensor([s["label"] for s in batch])
        self.evaluate = lambda: self.model(*data)
        self.loss = lambda: torch.nn.functional.cross_entropy(self.model(*data), labels)


def check(found, peer, weights, gradient):
    """Loads the weights; stops unless loss and gradient are ours, to float32."""
    peer.model.load_state_dict(weights)
    peer.model.eval()
    loss = peer.loss()
    loss.backward()
    if abs(loss.item() - found["loss"]) > 1e-4 * max(1.0, abs(loss.item())):
        sys.exit(f"{found['kind']}: the losses differ: ours {found['loss']}, PyTorch's {loss.item()}")
    worst = 0.0
    for name, parameter in peer.model.named_parameters():
        theirs = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        scale = max(theirs.norm().item(), 1e-3 * loss.abs().item())
        worst = max(worst, (gradient[name] - theirs).norm().item() / scale)
    if worst > 1e-3:
        sys.exit(f"{found['kind']}: the gradients differ by {worst:.1e} of their size")
    print(f"{found['kind']}: loss {loss.item():.6f}, ours {found['loss']:.6f}; gradients agree to {worst:.0e}",
          flush=True)


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def torch_training(peer, clip):
    peer.model.train()
    optimiser = adam(peer.model, 1e-3)

    def step():
        optimiser.zero_grad()
        peer.loss().backward()
        torch.nn.utils.clip_grad_value_(peer.model.parameters(), clip)
        optimiser.step()
    return seconds(step)


def torch_evaluation(peer):
    peer.model.eval()
    with torch.no_grad():
        return seconds(peer.evaluate)


def torch_stream(peer, count=8):
    peer.model.eval()
    times = []
    with torch.no_grad():
        for series in peer.series[:count]:
            h, now = peer.model.initial(torch.zeros(1, 1)), series.start
            for event in series.events:
                begin = time.perf_counter()
                h = peer.model.advance(h, event.time - now)
                h, _ = peer.model.event(h, *peer.model.row(event.values))
                times.append(time.perf_counter() - begin)
                now = event.time
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("--models", default="edict,gru-ode-bayes,gru-d,ipn,seft")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--json", help="also write every time measured there")
    options = parser.parse_args()
    threads = [int(t) for t in options.threads.split(",")]

    def engine(*words):
        out = subprocess.run([options.engine, *map(str, words)], capture_output=True, text=True)
        if out.returncode != 0:
            sys.exit(out.stderr.strip())
        return json.loads(out.stdout)

    measured = {}
    for kind in options.models.split(","):
        preset = [f"presets/synthetic/{PRESETS.get(kind, kind)}.toml", STEP]
        with tempfile.TemporaryDirectory() as folder:
            found = engine("prepare", folder, *preset)
            folder = pathlib.Path(folder)
            peer = Peer(found, json.loads((folder / "batch.json").read_text()))
            check(found, peer, read_safetensors(folder / "model.safetensors"),
                  read_safetensors(folder / "gradient.safetensors"))
        rows = measured[kind] = []
        for n in threads:
            torch.set_num_threads(n)
            ours, theirs = {"training": [], "evaluation": []}, {"training": [], "evaluation": []}
            if n == 1 and kind in ("edict", "gru-ode-bayes"):
                ours["streaming"], theirs["streaming"] = [], []
            engine_training = []
            for _ in range(options.rounds):
                engine_training.append(engine("train", n, *preset))
                theirs["training"].append(torch_training(peer, found["config"]["train"]["clip"]))
                ours["evaluation"].append(engine("evaluate", n, *preset)["seconds"])
                theirs["evaluation"].append(torch_evaluation(peer))
                if "streaming" in ours:
                    ours["streaming"].append(engine("stream", *preset)["seconds"])
                    theirs["streaming"].append(torch_stream(peer))
            ours["training"] = [e["seconds"] for e in engine_training]
            for task in ours:
                row = dict(task=task, threads=n, ours=ours[task], torch=theirs[task])
                if task == "training" and "gflops" in engine_training[0]:
                    row["gflops"] = [e["gflops"] for e in engine_training]
                    row["share_of_peak"] = [e["share_of_peak"] for e in engine_training]
                    row["peak"] = [e["peak_gflops_per_core"] for e in engine_training]
                rows.append(row)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(measured, indent=1) + "\n")

    def short(s):
        return f"{1e6 * s:.1f} µs" if s < 1e-3 else f"{1e3 * s:.1f} ms" if s < 1 else f"{s:.2f} s"

    print("\n| model | task | threads | edict | PyTorch | ratio | 2 threads | GFlop/s | of the peak |\n"
          "|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for kind, rows in measured.items():
        single = {}
        for r in rows:
            ours, theirs = statistics.median(r["ours"]), statistics.median(r["torch"])
            if r["threads"] == 1:
                single[r["task"]] = ours
            gain = (f"{single[r['task']] / ours:.2f}×"
                    if r["threads"] > 1 and r["task"] in single else "")
            rate = f"{statistics.median(r['gflops']):.0f}" if "gflops" in r else ""
            share = f"{100 * statistics.median(r['share_of_peak']):.0f} %" if "gflops" in r else ""
            print(f"| {kind} | {r['task']} | {r['threads']} | {short(ours)} | {short(theirs)} | "
                  f"{theirs / ours:.0f}× | {gain} | {rate} | {share} |")


main()
