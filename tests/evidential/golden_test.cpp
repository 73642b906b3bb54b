// Every loss and gradient against dense PyTorch autograd in double (golden/write_golden.py).
#include <gtest/gtest.h>

#include <cmath>

#include "base/json/json.h"
#include "evidential/event.h"
#include "temporary_folder.h"

namespace edict {
namespace {

using nlohmann::json;

Parameters<double> parameters(const json& j) {
  Parameters<double> p;
  p.mu = j.at("mu").get<std::vector<double>>();
  p.log_psi = j.at("log_psi").get<std::vector<double>>();
  p.lambda = j.value("lambda", 0.0);  // absent from the Gaussian losses
  p.nu = j.value("nu", 0.0);
  return p;
}

// The dense reference itself loses digits in its inverse, hence 1e-9 and not 1e-13.
void expect_equal(Parameters<double> actual, Parameters<double> expected, const std::string& name) {
  const auto a = actual.all(), e = expected.all();
  ASSERT_EQ(a.size(), e.size()) << name;
  for (std::size_t k = 0; k < a.size(); ++k)
    EXPECT_NEAR(*a[k], *e[k], 1e-9 * (1 + std::abs(*e[k]))) << name << " entry " << k;
}

TEST(Golden, LossesAndGradientsEqualPyTorch) {
  const json cases =
      json::parse(content(EDICT_TEST_DIR "/golden/losses.json", "run write_golden.py beside it"));
  ASSERT_EQ(cases.size(), 10u);
  for (const json& c : cases) {
    Event<double> event;
    event.pre = parameters(c.at("pre"));
    event.post = parameters(c.at("post"));
    event.feature = c.at("feature").get<std::vector<std::int32_t>>();
    event.x = c.at("x").get<std::vector<double>>();
    event.observation_std = c.at("observation_std");
    const double scipy = c.at("student_t_nll_scipy");
    EXPECT_NEAR(evaluate(all_losses<double>().at("student_t_nll"), event), scipy,
                1e-10 * (1 + std::abs(scipy)));
    for (const auto& [name, loss] : all_losses<double>()) {
      const json& expected = c.at(name);
      Gradients<double> g(event.pre.dim());
      const double value = expected.at("value");
      EXPECT_NEAR(loss(event, 1.0, g), value, 1e-10 * (1 + std::abs(value))) << name;
      expect_equal(g.pre, parameters(expected.at("pre")), name + " pre");
      if (expected.contains("post"))
        expect_equal(g.post, parameters(expected.at("post")), name + " post");
    }
  }
}

}  // namespace
}  // namespace edict
