"""Writes seft.json: logits, loss and gradients of small SeFT models on series of odd patterns, from the
PyTorch peer in double. Run: python3 write_seft_golden.py
"""
import numpy
import torch

from series import odd_series, supervised_case, write
from seft_torch import Seft, padded_sets

rng = numpy.random.default_rng(41)
torch.manual_seed(41)
FEATURES, CLASSES = 3, 3


def case(covariates, aggregation, encoder_layers, classifier_layers):
    many = odd_series(rng, FEATURES, covariates)
    model = Seft(FEATURES, covariates, CLASSES, hidden=4, encoder_width=5, heads=2, time_scales=3,
                 longest_scale=20.0, encoder_layers=encoder_layers, aggregation=aggregation,
                 classifier_layers=classifier_layers)
    config = {"model.kind": "seft", "model.hidden": 4, "model.encoder_width": 5, "model.heads": 2,
              "model.time_scales": 3, "model.longest_scale": 20.0, "model.dropout": 0.0,
              "model.encoder_layers": encoder_layers, "model.aggregation": aggregation,
              "classify.layers": classifier_layers}
    batch = (*padded_sets(many), torch.tensor([s.covariates for s in many]))
    return supervised_case(model, batch, config, many, FEATURES, CLASSES, rng)


write("seft.json", [case(2, "attention", 2, 1), case(0, "attention", 3, 2), case(2, "mean", 2, 1),
                    case(0, "mean", 1, 1)])
