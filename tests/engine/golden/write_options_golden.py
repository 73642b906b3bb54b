"""Writes options.json: losses and gradients of small EDICT models with each of the options that replace
a part of the published model, on series of odd patterns and on forecasts, from the PyTorch peer in
double. Run: python3 write_options_golden.py
"""
import numpy
import torch

from series import gradients, odd_series, parameters, randomise, write
from edict_options_torch import Options, OptionsEdict
from jump_ode_torch import Event, Series

rng = numpy.random.default_rng(61)
torch.manual_seed(61)
FEATURES, COVARIATES = 3, 2
FOREVER = 1e9


def case(absorb_until=FOREVER, propagator="closed-form", **changes):
    s = Options(FEATURES, COVARIATES, hidden=6, head_hidden=4, encoder_width=3, step=0.1,
                propagator=propagator, kl=0.3, shortest_timescale=0.4, **changes)
    model = OptionsEdict(s)
    randomise(model, rng)
    many = odd_series(rng, FEATURES, COVARIATES)
    batch = [Series(m.covariates, [Event(t, values, t < absorb_until) for t, values in m.events])
             for m in many]
    start = parameters(model)
    parts = sum(model.walk_series(m)[1] for m in batch)
    nll, kl, evidence = parts.tolist()
    config = {"model.propagator": propagator, "model.hidden": s.hidden, "model.step": s.step,
              "model.head_hidden": s.head_hidden, "model.encoder_width": s.encoder_width,
              "model.surprise": s.surprise, "model.shortest_timescale": s.shortest_timescale,
              "model.recall": s.recall, "model.absorb": s.absorb,
              "model.absorb_bound": s.absorb_bound, "loss.kl": s.kl, "loss.evidence": s.evidence}
    return dict(config=config, features=FEATURES, covariates=COVARIATES, absorb_until=absorb_until,
                series=[m.plain() for m in many], params=start, nll=nll, kl=kl, evidence=evidence,
                grads=gradients(model, model.total(parts)))


write("options.json", [
    case(recall=True), case(absorb="bounded", absorb_bound=1.5),
    case(absorb="score", surprise="predictive"),
])
