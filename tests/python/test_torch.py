"""The PyTorch module says what the model says."""

import numpy as np
import pytest
import torch

import edict
from conftest import SMALL


@pytest.mark.parametrize("solver", ["euler", "midpoint", "rk4"])
def test_the_module_and_the_model_agree(data, solver):
    frame = data.to_frame().assign(age=lambda f: f["id"].str[-2:].astype(float))
    frame["time"] += 100.0  # far from zero: clocks start with the first event
    own = edict.Dataset.from_frame(frame, label="label", static="age")
    model = edict.Model.train(own, solver=solver, surprise="predictive", recalibrate=True, **SMALL)
    module = model.to_torch()
    asked = np.array([100.5, 103.0, 120.0])
    for i in (0, 11):
        one = own[i].to_frame()
        told = module(one["time"], one[["level", "flow"]].to_numpy(), asked, [one["age"][0]])
        expected = model.predict(own[i], at=asked)
        for part, name in zip(told, ("mean", "aleatoric", "epistemic", "scale", "dof")):
            # Single precision over some hundred steps, each side in its own order of additions.
            np.testing.assert_allclose(
                part.detach().numpy(), getattr(expected, name)[0], rtol=1e-5, atol=1e-5, err_msg=name
            )


def test_gradients_reach_every_parameter_that_the_mean_depends_on(data, model):
    one = data[0].to_frame()
    module = model.to_torch()
    module(one["time"], one[["level", "flow"]].to_numpy(), [20.0])[0].sum().backward()
    for name, parameter in module.named_parameters():
        if name.startswith(("ode", "update", "head_mu_1")):
            assert torch.isfinite(parameter.grad).all() and parameter.grad.abs().sum() > 0, name


def test_what_it_does_not_know_is_refused(data):
    other = edict.Model.train(data, kind="gru-ode-bayes", **SMALL)
    with pytest.raises(edict.Error, match="model.kind = edict, not gru-ode-bayes"):
        other.to_torch()
