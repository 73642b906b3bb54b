"""Writes closed_form.json: losses and gradients of small EDICT models whose state moves by a closed
form, on series of odd patterns and on forecasts, from the PyTorch peer in double.
Run: python3 write_closed_form_golden.py
"""
import numpy
import torch

from series import gradients, odd_series, parameters, randomise, write
from edict_torch import Edict, Settings
from jump_ode_torch import Event, Series

rng = numpy.random.default_rng(51)
torch.manual_seed(51)
FEATURES, COVARIATES = 3, 2
FOREVER = 1e9


def case(hidden, absorb_until, **changes):
    settings = Settings(FEATURES, COVARIATES, hidden=hidden, head_hidden=4, encoder_width=3,
                        propagator="closed-form", kl=0.3, **changes)
    model = Edict(settings)
    randomise(model, rng)
    many = odd_series(rng, FEATURES, COVARIATES)
    batch = [Series(s.covariates, [Event(t, values, t < absorb_until) for t, values in s.events])
             for s in many]
    start = parameters(model)
    parts = sum(model.walk_series(s)[1] for s in batch)
    nll, kl, evidence = parts.tolist()
    config = {"model.propagator": "closed-form", "model.hidden": hidden, "model.head_hidden": 4,
              "model.encoder_width": 3, "model.surprise": settings.surprise, "loss.kl": settings.kl,
              "loss.evidence": settings.evidence}
    return dict(config=config, features=FEATURES, covariates=COVARIATES,
                absorb_until=absorb_until, series=[s.plain() for s in many], params=start, nll=nll,
                kl=kl, evidence=evidence, grads=gradients(model, model.total(parts)))


write("closed_form.json", [case(9, FOREVER), case(6, 1.0, surprise="predictive"), case(5, FOREVER)])
