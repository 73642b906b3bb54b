"""Writes gru_d.json: logits, loss and gradients of small GRU-D models on series of odd patterns, from
the PyTorch peer in double. Run: python3 write_gru_d_golden.py
"""
import numpy
import torch

from series import odd_series, padded, supervised_case, write
from gru_d_torch import GruD

rng = numpy.random.default_rng(21)
torch.manual_seed(21)
FEATURES, CLASSES = 3, 3


def case(layers, classifier_layers, covariates):
    many = odd_series(rng, FEATURES, covariates)
    model = GruD(FEATURES, covariates, CLASSES, hidden=5, layers=layers,
                 classifier_layers=classifier_layers)
    config = {"model.kind": "gru-d", "model.hidden": 5, "model.layers": layers,
              "classify.layers": classifier_layers, "model.dropout": 0.0}
    return supervised_case(model, padded(many, FEATURES), config, many, FEATURES, CLASSES, rng)


write("gru_d.json", [case(1, 1, 2), case(2, 2, 0), case(2, 1, 1)])
