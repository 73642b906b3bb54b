"""Writes edict.json: losses and gradients of small EDICT models on series of every pattern, and the
first ten losses of a training run, from the PyTorch peer (bench/peer/edict_torch.py) in double.
Run: python3 write_golden.py
"""
import dataclasses
import json
import pathlib
import sys

import numpy
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "bench" / "peer"))
from edict_torch import Edict, Settings  # noqa: E402
from jump_ode_torch import Event, GridBatch, Series, adam, train_step  # noqa: E402

torch.set_default_dtype(torch.float64)
torch.manual_seed(5)
rng = numpy.random.default_rng(7)

SMALL = dict(hidden=6, head_hidden=4, encoder_width=3, step=0.1, kl=0.3)
SHAPES = {
    "three features": Settings(features=3, covariates=2, **SMALL),
    "one feature": Settings(features=1, covariates=0, **SMALL),
    "eight features": Settings(features=8, covariates=1, **SMALL),
}


def build(settings, weights):
    model = Edict(settings)
    model.load_state_dict({name: torch.tensor(values) for name, values in weights.items()})
    return model


def random_weights(settings):
    """The usual start, moved a little so that no bias is alike, in short decimals."""
    return {name: numpy.round(values.numpy() + 0.1 * rng.normal(size=values.shape), 5).tolist()
            for name, values in Edict(settings).state_dict().items()}


def values(features, share, noise=1.0):
    chosen = [j for j in range(features) if rng.uniform() < share] or [int(rng.integers(features))]
    return {j: round(noise * rng.normal(), 4) for j in chosen}


def series(settings, events, gap=0.3, share=0.5, noise=1.0, start=0.0, absorb_until=numpy.inf):
    made = Series([round(rng.normal(), 4) for _ in range(settings.covariates)], [], start)
    time = start
    for _ in range(events):
        time = round(time + gap * rng.uniform(0.2, 1.8), 7)
        made.events.append(Event(time, values(settings.features, share, noise), time < absorb_until))
    return made


def on_grid(settings, events, points, noise=1.0):
    made = series(settings, events, noise=noise)
    chosen = sorted(rng.choice(numpy.arange(1, points), events, replace=False))
    for event, point in zip(made.events, chosen):
        event.time = round(float(point) * settings.step, 7)
    return made


def tiny_gaps(settings):
    made = series(settings, 5, share=0.6)
    made.events[1].time = made.events[0].time
    made.events[2].time = made.events[1].time + 1e-9
    return made


def one_at_a_time(model, many):
    return sum((model.walk_series(s)[1] for s in many), torch.zeros(3))


def gradients(model, parts):
    model.zero_grad()
    total = model.total(parts)
    if total.requires_grad:  # not where nothing is ever observed
        total.backward()
    return {name: (p.grad if p.grad is not None else torch.zeros_like(p)).clone()
            for name, p in model.named_parameters()}


def shortened(tensor):  # 13 digits are more than the comparison asks for
    return [float(f"{v:.13g}") for v in tensor.flatten().tolist()]


def plain(s):
    return dict(start=s.start, covariates=s.covariates, events=[
        dict(time=e.time, feature=list(e.values), value=list(e.values.values()), absorb=e.absorb)
        for e in s.events])


def plain_config(settings):
    exact = {"model.solver": "dopri5", "model.rtol": 1e-12, "model.atol": 1e-12}
    return {**(exact if settings.solver == "exact" else {"model.solver": settings.solver}), "model.surprise": settings.surprise,
            "loss.kl_form": settings.kl_form, "loss.kl_observation_std": settings.kl_observation_std,
            "loss.kl": settings.kl, "loss.evidence": settings.evidence}


def case(name, shape, make, grid=False, **changes):
    settings = dataclasses.replace(SHAPES[shape], **changes)
    model, many = build(settings, weights[shape]), make(settings)
    parts = one_at_a_time(model, many)
    grads = gradients(model, parts)
    if grid:  # the peer's two ways must agree before its word is taken
        _, batched = model.walk_grid(GridBatch(model, many))
        assert torch.allclose(batched, parts, rtol=1e-11), name
        for key, grad in gradients(model, batched).items():
            assert torch.allclose(grad, grads[key], rtol=1e-9, atol=1e-10), (name, key)
    nll, kl, evidence = parts.tolist()
    return dict(name=name, shape=shape, config=plain_config(settings), series=[plain(s) for s in many],
                nll=nll, kl=kl if settings.kl > 0 else 0.0,
                evidence=evidence if settings.evidence > 0 else 0.0,
                gradient={key: shortened(grad) for key, grad in grads.items()})


def ten_losses():
    shape = "three features"
    settings = dataclasses.replace(SHAPES[shape], step=0.05)
    # The noise makes gradients that the clip has to hold.
    many = [on_grid(settings, events, 40, noise=20.0) for events in (6, 3, 9, 1, 5)]
    model = build(settings, weights[shape])
    optimiser, batch = adam(model, 1e-3), GridBatch(model, many)
    losses, clipped = [], []
    for _ in range(10):
        losses.append(train_step(model, optimiser, batch, clip=1.0))
        clipped.append(sum(int((p.grad.abs() == 1.0).sum()) for p in model.parameters()))
    assert clipped[0] > 0, "the clip must be part of what is tested"
    return dict(shape=shape, config={**plain_config(settings), "model.step": settings.step},
                learning_rate=1e-3, clip=1.0, series=[plain(s) for s in many], losses=losses,
                clipped_entries=clipped,
                final={name: shortened(p.detach()) for name, p in model.named_parameters()})


weights = {shape: random_weights(settings) for shape, settings in SHAPES.items()}
three, one, eight = SHAPES
cases = [
    case("one event", three, lambda s: [series(s, 1)]),
    case("no event at all", three, lambda s: [series(s, 0)]),
    case("many lengths", three, lambda s: [series(s, n) for n in (5, 1, 3, 0, 7, 2)]),
    case("many lengths, midpoint", three, lambda s: [series(s, n, start=0.7) for n in (4, 2, 6)],
         solver="midpoint"),
    case("many lengths, rk4", three, lambda s: [series(s, n, start=-0.4) for n in (4, 2, 5)],
         solver="rk4"),
    case("many lengths, dopri5", three, lambda s: [series(s, n, start=0.2) for n in (4, 1, 5)],
         solver="exact"),
    case("forecasts, dopri5", three, lambda s: [series(s, 5, gap=0.8, absorb_until=1.5)],
         solver="exact"),
    case("on the grid", three, lambda s: [on_grid(s, n, 20) for n in (5, 8, 1, 4)], grid=True),
    case("on the grid, rk4, gaussian", three, lambda s: [on_grid(s, n, 12) for n in (5, 4)], grid=True,
         solver="rk4", kl_form="gaussian", surprise="predictive"),
    case("tiny gaps", three, lambda s: [tiny_gaps(s), series(s, 6, gap=1e-4)]),
    case("long gaps", three, lambda s: [series(s, 2, gap=6.0)]),
    case("all features", three, lambda s: [series(s, 4, share=1.1)], surprise="predictive"),
    case("gaussian KL", three, lambda s: [series(s, 4), series(s, 3)], kl_form="gaussian",
         kl_observation_std=0.5),
    case("gaussian KL, predictive surprise", three, lambda s: [series(s, 5)], kl_form="gaussian",
         surprise="predictive", kl_observation_std=0.01, solver="midpoint"),
    case("forecasts", three, lambda s: [series(s, n, absorb_until=0.8) for n in (6, 4)]),
    case("outliers", three, lambda s: [series(s, 4, noise=20.0)]),
    case("without KL", three, lambda s: [series(s, 4)], kl=0.0),
    case("without the evidence penalty", three, lambda s: [series(s, 4)], evidence=0.0),
    case("one feature", one, lambda s: [series(s, n) for n in (4, 3)]),
    case("one feature, gaussian KL, rk4", one, lambda s: [series(s, 4)], kl_form="gaussian", solver="rk4"),
    case("one of eight features a time", eight, lambda s: [series(s, n, share=0.0) for n in (6, 3)]),
    case("all of eight features", eight, lambda s: [series(s, 3, share=1.1)], solver="midpoint"),
]
lines = [json.dumps(c) for c in cases]
shapes = {name: dict(features=s.features, covariates=s.covariates, hidden=s.hidden,
                     head_hidden=s.head_hidden, encoder_width=s.encoder_width, step=s.step,
                     weights=weights[name]) for name, s in SHAPES.items()}
(HERE / "edict.json").write_text(
    '{"shapes": ' + json.dumps(shapes) + ',\n"cases": [\n' + ",\n".join(lines) + '\n],\n"ten_losses": '
    + json.dumps(ten_losses()) + "}\n")
