"""Writes gru_ode_bayes.json: losses and gradients on series of odd patterns and the first ten losses
of training with Adam, from the PyTorch peer in double. Run: python3 write_gru_ode_bayes_golden.py
"""
import numpy
import torch

from series import gradients, odd_series, parameters, randomise, write
from gru_ode_bayes_torch import GruOdeBayes
from jump_ode_torch import Event, Series

rng = numpy.random.default_rng(11)
torch.manual_seed(11)
FEATURES, COVARIATES = 3, 2
KL = 0.3
sizes = dict(hidden=6, head_hidden=4, encoder_width=3, step=0.1)


def config(std):
    return {"model.kind": "gru-ode-bayes", "model.hidden": 6, "model.head_hidden": 4,
            "model.encoder_width": 3, "model.step": 0.1, "loss.kl": KL,
            "loss.kl_observation_std": std}


def case(std):
    model = GruOdeBayes(FEATURES, COVARIATES, observation_std=std, kl=KL, **sizes)
    randomise(model, rng)
    many = odd_series(rng, FEATURES, COVARIATES)
    batch = [Series(s.covariates, [Event(t, values) for t, values in s.events]) for s in many]
    start = parameters(model)

    def parts():
        return sum(model.walk_series(s)[1] for s in batch)

    nll, kl = parts()
    result = dict(config=config(std), features=FEATURES, covariates=COVARIATES, classes=0,
                  series=[s.plain() for s in many], params=start, nll=nll.item(), kl=kl.item(),
                  grads=gradients(model, nll + KL * kl), losses=[])
    observations = sum(len(e.values) for s in batch for e in s.events)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(10):
        adam.zero_grad()
        loss = model.total(parts()) / observations
        loss.backward()
        adam.step()
        result["losses"].append(loss.item())
    return result


write("gru_ode_bayes.json", [case(0.5), case(0.1)])
