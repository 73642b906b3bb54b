"""The timing behind bench/compare, which builds ENGINE_BENCH and calls this.

    compare.py ENGINE_BENCH [--models edict,gru-d,…] [--rounds 5] [--json FILE]

For each model, on Synthetic and with its preset, both sides compute the following from the same weights,
and must agree before anything is timed:

  training     a step on a batch of 256 series: forward, backward, clipping and Adam (loss and gradient
               are compared). Ours also deals out the batch; PyTorch's is prepared before the clock starts.
  evaluation   the likelihood of the batch (or its class scores), without gradients, without the KL term
               and without the head after the jump
  streaming    one event of each of 64 streams, one stream at a time or all in a batch, per event: walk to
               its time, read the head, jump; nothing is scored (the states after 16 events are compared)

Each side may use one thread or two (our streams use one), and PyTorch may walk in any of three ways:
the batch on a common grid (as published), the batch event by event, or one series after the other
(bench/peer/jump_ode_torch.py). Every combination is timed in turn, round after round; one that took more
than ten times PyTorch's best when first timed is not timed again. The table has the medians over the
rounds, and the ratio of PyTorch's best combination to ours. The solver step is that of Synthetic's grid,
4 pi / 250, on which all three ways take the same steps.

Stops if PyTorch's matrix products are slow: Debian's PyTorch is only as fast as the BLAS beside it.
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
from jump_ode_torch import Event, EventBatch, GridBatch, Series, adam  # noqa: E402
from seft_torch import Seft, padded_sets  # noqa: E402

PRESETS = {"edict": "paper"}
STEP = f"model.step={4 * math.pi / 250!r}"
STREAMS, STREAM_EVENTS = 64, 16  # as in bench/engine.cpp
THREADS = (1, 2)


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
    """A PyTorch model with one batch: a function a way of walking for the `losses`, for the `answers` of an
    evaluation and for the `streams`, by the width of their batches."""

    def __init__(self, found, batch):
        if found["kind"] in ("edict", "gru-ode-bayes"):
            self.make_walker(found, batch)
        else:
            self.make_classifier(found, batch)

    def make_walker(self, found, batch):
        m, loss = found["config"]["model"], found["config"]["loss"]
        sizes = dict(features=found["features"], covariates=0, hidden=m["hidden"],
                     head_hidden=m["head_hidden"], encoder_width=m["encoder_width"], step=m["step"])
        if found["kind"] == "edict":
            model = Edict(Settings(**sizes, solver=m["solver"], surprise=m["surprise"],
                                   kl_form=loss["kl_form"], kl=loss["kl"],
                                   kl_observation_std=loss["kl_observation_std"],
                                   evidence=loss["evidence"]))
        else:
            model = GruOdeBayes(**sizes, observation_std=loss["kl_observation_std"], kl=loss["kl"])
        self.model = model
        series = [Series([], [Event(t, dict(seen)) for t, seen in s["events"]]) for s in batch]
        grid, events = GridBatch(model, series), EventBatch(model, series)
        ways = {"grid": lambda event: model.walk_grid(grid, event)[1],
                "events": lambda event: model.walk_events(events, event)[1],
                "series": lambda event: sum(model.walk_series(s, event)[1] for s in series)}
        self.losses = {name: lambda walk=walk: model.total(walk(model.event)) / grid.observations
                       for name, walk in ways.items()}
        self.answers = {name: lambda walk=walk: walk(model.score) / grid.observations
                        for name, walk in ways.items()}

        chosen = [Series([], s.events[:STREAM_EVENTS]) for s in series if len(s.events) >= STREAM_EVENTS]
        single = [(s, [model.row(e.values) for e in s.events]) for s in chosen[:STREAMS]]
        together = EventBatch(model, chosen[:STREAMS])

        def stream(series, rows):
            h, now = model.initial(torch.zeros(1, 1)), series.start
            for event, (x, mask) in zip(series.events, rows):
                h, _ = model.absorb(model.advance(h, event.time - now), x, mask)
                now = event.time
            return h
        self.streams = {1: {"series": lambda: torch.cat([stream(*s) for s in single])},
                        STREAMS: {"events": lambda: model.walk_events(together, model.absorb)[0]}}

    def make_classifier(self, found, batch):
        m, features = found["config"]["model"], found["features"]
        common = dict(features=features, covariates=0, hidden=m["hidden"], classes=found["classes"],
                      dropout=m["dropout"], classifier_layers=found["config"]["classify"]["layers"])
        data = padded(batch, features)
        if found["kind"] == "gru-d":
            self.model = GruD(**common, layers=m["layers"])
        elif found["kind"] == "ipn":
            end = 0.0 if m["reference_end"] == "auto" else m["reference_end"]
            self.model = Ipn(**common, reference_step=m["reference_step"], reference_end=end)
        else:
            self.model = Seft(**common, encoder_width=m["encoder_width"], encoder_layers=m["encoder_layers"],
                              heads=m["heads"], time_scales=m["time_scales"],
                              longest_scale=m["longest_scale"], aggregation=m["aggregation"])
            self.model.scales = self.model.scales.float()
            sets = [types.SimpleNamespace(start=s["start"], events=[(t, dict(seen)) for t, seen in s["events"]])
                    for s in batch]
            data = (*padded_sets(sets), data[4])
        labels = torch.tensor([s["label"] for s in batch])
        self.answers = {"padded": lambda: self.model(*data)}
        self.losses = {"padded": lambda: torch.nn.functional.cross_entropy(self.model(*data), labels)}
        self.streams = {}


def check(found, peer, gradient, ours):
    """Stops unless every way computes our loss, gradient, evaluation and streams, to float32."""
    kind, worst = found["kind"], {"losses": 0.0, "gradients": 0.0, "evaluations": 0.0, "streams": 0.0}

    def compare(what, way, difference, bound):
        if not difference <= bound:
            sys.exit(f"{kind}: the {what} differ by {difference:.1e} ({way})")
        worst[what] = max(worst[what], difference)

    peer.model.eval()
    for way, loss in peer.losses.items():
        peer.model.zero_grad()
        value = loss()
        value.backward()
        size = max(1.0, abs(found["loss"]))
        compare("losses", way, abs(value.item() - found["loss"]) / size, 1e-4)
        for name, parameter in peer.model.named_parameters():
            theirs = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            scale = max(theirs.norm().item(), 1e-3 * size)
            compare("gradients", way, (gradient[name] - theirs).norm().item() / scale, 1e-3)
    with torch.no_grad():
        for way, answer in peer.answers.items():
            difference = (answer() - ours["evaluation"]).abs().max() / ours["evaluation"].abs().max().clamp(min=1)
            compare("evaluations", way, difference.item(), 1e-4)
        for ways in peer.streams.values():
            for way, stream in ways.items():
                compare("streams", way, (stream() - ours["states"]).abs().max().item(), 1e-4)
    if not peer.streams:
        del worst["streams"]
    print(f"{kind}: " + ", ".join(f"{what} agree to {by:.0e}" for what, by in worst.items()), flush=True)


def seconds(work):
    """The median of three, or of fewer that fill a second."""
    times = []
    while len(times) < 3 and sum(times) < 1:
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def training_step(peer, loss, clip):
    optimiser = adam(peer.model, 1e-3)

    def step():
        optimiser.zero_grad()
        loss().backward()
        torch.nn.utils.clip_grad_value_(peer.model.parameters(), clip)
        optimiser.step()
    return step


def product_gflops():
    """The best of PyTorch's 256 x 50 times 50 x 50 on one thread."""
    torch.set_num_threads(1)
    a, b = torch.randn(256, 50), torch.randn(50, 50)

    def hundred():
        for _ in range(100):
            a @ b
    return 1e-9 * 100 * 2 * 256 * 50 * 50 / min(seconds(hundred) for _ in range(10))


class Task:
    """What is timed: our command, a word of it the number of threads, beside PyTorch's ways."""

    def __init__(self, name, command, own_threads, ways, training=False, events=1):
        self.name, self.command, self.own_threads, self.training = name, command, own_threads, training
        self.ways, self.events = ways, events
        self.ours = {n: [] for n in own_threads}
        self.theirs = {(way, n): [] for way in ways for n in THREADS}

    def round(self, engine, model):
        for n in self.own_threads:
            self.ours[n].append(engine(*(n if word is THREADS else word for word in self.command)))
        model.train(self.training)
        for (way, n), times in self.theirs.items():
            fastest = min((t[0] for t in self.theirs.values() if t), default=math.inf)
            before = times or self.theirs[way, THREADS[0]]  # a second thread is no hope for a slow way
            if not before or before[0] < 10 * fastest:
                torch.set_num_threads(n)
                times.append(seconds(self.ways[way]) / self.events)

    def medians(self):
        return ({n: statistics.median(f["seconds"] for f in found) for n, found in self.ours.items()},
                {key: statistics.median(times) for key, times in self.theirs.items() if times})


def tasks_of(peer, preset, clip):
    learn = {way: training_step(peer, loss, clip) for way, loss in peer.losses.items()}
    answer = {way: torch.inference_mode()(work) for way, work in peer.answers.items()}
    tasks = [Task("training", ("train", THREADS, *preset), THREADS, learn, training=True),
             Task("evaluation", ("evaluate", THREADS, *preset), THREADS, answer)]
    for width, ways in peer.streams.items():
        stream = {way: torch.inference_mode()(work) for way, work in ways.items()}
        tasks.append(Task(f"streaming, {width} at a time" if width > 1 else "streaming",
                          ("stream", width, *preset), (1,), stream, events=STREAMS * STREAM_EVENTS))
    return tasks


def table(measured):
    def short(s):
        return f"{1e6 * s:.1f} µs" if s < 1e-3 else f"{1e3 * s:.1f} ms" if s < 1 else f"{s:.2f} s"

    lines = ["| model | task | edict, 1 thread | 2 threads | PyTorch's way | 1 thread | 2 threads | best against best |",
             "|---|---|--:|--:|---|--:|--:|--:|"]
    for kind, tasks in measured.items():
        for task in tasks:
            ours, theirs = task.medians()
            best = min(theirs, key=theirs.get)
            own = [short(ours[n]) if n in ours else "" for n in THREADS]
            for way in task.ways:
                ratio = f"{theirs[best] / min(ours.values()):.1f}×" if way == best[0] else ""
                lines.append("| " + " | ".join([kind, task.name, *own, way,
                                                *(short(theirs[way, n]) if (way, n) in theirs else "" for n in THREADS), ratio]) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("--models", default="edict,gru-ode-bayes,gru-d,ipn,seft")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", help="also write every time measured there")
    options = parser.parse_args()

    def engine(*words):
        out = subprocess.run([options.engine, *map(str, words)], capture_output=True, text=True)
        if out.returncode != 0:
            sys.exit(out.stderr.strip())
        return json.loads(out.stdout)

    gflops = product_gflops()
    print(f"PyTorch {torch.__version__}: its matrix products reach {gflops:.0f} GFlop/s on one thread", flush=True)
    if gflops < 20:  # the reference BLAS reaches 2 to 6, OpenBLAS more than 60
        sys.exit("PyTorch has no fast BLAS; install one (Debian: libopenblas0-openmp)")

    measured = {}
    for kind in options.models.split(","):
        preset = [f"presets/synthetic/{PRESETS.get(kind, kind)}.toml", STEP]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            found = engine("prepare", folder, *preset)
            peer = Peer(found, json.loads((folder / "batch.json").read_text()))
            peer.model.load_state_dict(read_safetensors(folder / "model.safetensors"))
            check(found, peer, read_safetensors(folder / "gradient.safetensors"),
                  read_safetensors(folder / "answers.safetensors"))
        measured[kind] = tasks_of(peer, preset, found["config"]["train"]["clip"])
        for _ in range(options.rounds):
            for task in measured[kind]:
                task.round(engine, peer.model)
    if options.json:
        plain = {kind: [dict(task=t.name, ours=t.ours, torch={f"{way}, {n}": s for (way, n), s in t.theirs.items()})
                        for t in tasks] for kind, tasks in measured.items()}
        pathlib.Path(options.json).write_text(json.dumps(plain, indent=1) + "\n")

    print("\n" + table(measured))
    for n, found in measured.get("edict", [Task("", (), (), {})])[0].ours.items():
        rate, share = (statistics.median(f[key] for f in found) for key in ("gflops", "share_of_peak"))
        print(f"\nedict's training step, {n} thread{'s' * (n > 1)}: {rate:.0f} GFlop/s, {100 * share:.0f} % of the peak")


main()
