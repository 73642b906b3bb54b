// What members say together: the mixture's moments, the file, streams, guards and classes.
#include "model/ensemble.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "ask/stream.h"
#include "base/error.h"
#include "engine/small_model.h"
#include "model/encode.h"
#include "model/infer.h"
#include "temporary_folder.h"

namespace edict {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Marginal student(double mean, double scale, double dof, double epistemic_share = 0.3) {
  const double variance = std::isinf(dof) ? scale * scale : scale * scale * dof / (dof - 2.0);
  return {mean, variance * (1 - epistemic_share), variance * epistemic_share, scale, dof};
}

double density(const Marginal& m, double x) {
  const double z = (x - m.mean) / m.scale;
  if (std::isinf(m.dof))
    return std::exp(-0.5 * z * z) / (m.scale * std::sqrt(2 * std::numbers::pi));
  return std::exp(std::lgamma((m.dof + 1) / 2) - std::lgamma(m.dof / 2)) /
         (std::sqrt(m.dof * std::numbers::pi) * m.scale) *
         std::pow(1 + z * z / m.dof, -(m.dof + 1) / 2);
}

// Against the mixture's own density, integrated on a grid. Its tails fall with x⁻¹⁰ or faster, so
// that beyond ±400 nothing is left, and the trapezium rule on a smooth density is exact to 1e-9.
TEST(Mixture, HasTheExactMeanAndVarianceOfTheMixture) {
  const std::vector<Marginal> members = {student(0.0, 1.0, 9.0), student(1.5, 0.5, 12.0),
                                         student(-0.7, 2.0, kInf)};
  double mean = 0, second = 0;
  constexpr double kStep = 0.01;
  for (double x = -400; x <= 400; x += kStep) {
    double p = 0;
    for (const Marginal& m : members) p += density(m, x) / 3.0;
    mean += kStep * p * x;
    second += kStep * p * x * x;
  }
  const Marginal whole = mixture(members);
  EXPECT_NEAR(whole.mean, mean, 1e-8);
  EXPECT_NEAR(whole.aleatoric + whole.epistemic, second - mean * mean, 1e-7);
  // As a Student-t it has that variance too.
  EXPECT_NEAR(whole.scale * whole.scale * whole.dof / (whole.dof - 2), second - mean * mean, 1e-7);
  EXPECT_NEAR(whole.aleatoric,
              (members[0].aleatoric + members[1].aleatoric + members[2].aleatoric) / 3, 1e-12);
}

TEST(Mixture, OfMembersThatAgreeIsWhatEachOfThemSays) {
  const Marginal one = student(0.3, 0.8, 4.5);
  const Marginal whole = mixture(std::vector<Marginal>(5, one));
  EXPECT_NEAR(whole.mean, one.mean, 1e-12);
  EXPECT_NEAR(whole.scale, one.scale, 1e-12);
  EXPECT_NEAR(whole.dof, one.dof, 1e-9);
  EXPECT_NEAR(whole.epistemic, one.epistemic, 1e-12);
}

TEST(Mixture, OfGaussiansThatAgreeIsAGaussian) {
  const Marginal whole = mixture(std::vector<Marginal>(3, student(0.1, 0.7, kInf)));
  EXPECT_TRUE(std::isinf(whole.dof));
  EXPECT_NEAR(whole.scale, 0.7, 1e-12);
}

TEST(Mixture, DisagreementIsDoubtAndNoNoise) {
  const std::vector<Marginal> members = {student(-1.0, 0.1, 8.0), student(1.0, 0.1, 8.0)};
  const Marginal whole = mixture(members);
  EXPECT_NEAR(whole.aleatoric, members[0].aleatoric, 1e-15);
  EXPECT_NEAR(whole.epistemic, members[0].epistemic + 1.0, 1e-12);
}

// Averaged degrees of freedom would give the scale 16 here.
TEST(Mixture, OneMemberWithHardlyAVarianceDoesNotWidenTheCentre) {
  std::vector<Marginal> members(4, student(0.0, 1.0, 10.0));
  members.push_back(student(0.0, 1.0, 2.001));
  const Marginal whole = mixture(members);
  EXPECT_NEAR(whole.scale, 1.0, 1e-12);
  EXPECT_GT(whole.dof, 2.0);
  EXPECT_LT(whole.dof, 2.1);
}

TEST(Mixture, KeepsWhatHasNoVariance) {
  Marginal none = student(0.0, 1.0, 10.0);
  none.dof = 1.5;
  none.aleatoric = none.epistemic = kInf;
  const Marginal whole = mixture(std::vector<Marginal>{student(2.0, 1.0, 10.0), none});
  EXPECT_EQ(whole.dof, 1.5);
  EXPECT_NEAR(whole.mean, 1.0, 1e-15);
  EXPECT_NEAR(whole.scale, std::sqrt(2.0), 1e-12);
  EXPECT_TRUE(std::isinf(whole.aleatoric));
}

Model untrained_ensemble(const Config& config = small_synthetic_config(), std::size_t members = 3) {
  std::vector<Model> all;
  for (std::size_t m = 0; m < members; ++m) {
    Config own = config;
    own.train.seed += static_cast<std::int64_t>(m);
    all.push_back(untrained_model(small_synthetic(), own));
  }
  return ensemble(std::move(all));
}

void expect_same(const Marginal& a, const Marginal& b) {
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.aleatoric, b.aleatoric);
  EXPECT_EQ(a.epistemic, b.epistemic);
  EXPECT_EQ(a.scale, b.scale);
  EXPECT_EQ(a.dof, b.dof);
}

TEST(Ensemble, AnswersTheMixtureOfWhatItsMembersAnswerForEveryThreadCount) {
  const Model whole = untrained_ensemble();
  const Timeline<float> timeline =
      query_timeline(whole.protocol, small_synthetic(), 3, {0.5, 4.0, 12.0});
  const std::vector<Example> examples = examples_of(std::span(&timeline, 1));
  for (const std::size_t threads : {1u, 3u}) {
    ThreadPool pool(threads);
    InferenceOptions options;
    options.states = true;
    const Answer answer = infer(whole, examples, pool, options)[0];
    std::vector<Answer> own;
    for (std::size_t m = 0; m < 3; ++m)
      own.push_back(infer(whole.member(m), examples, pool, options)[0]);
    ASSERT_EQ(answer.marginals.size(), 9u);
    for (std::size_t k = 0; k < 9; ++k)
      expect_same(answer.marginals[k],
                  mixture(std::vector<Marginal>{own[0].marginals[k], own[1].marginals[k],
                                                own[2].marginals[k]}));
    const std::size_t hidden = 16;
    for (std::size_t q = 0; q < 3; ++q)
      for (std::size_t m = 0; m < 3; ++m)
        for (std::size_t i = 0; i < hidden; ++i)
          EXPECT_EQ(answer.states[(q * 3 + m) * hidden + i], own[m].states[q * hidden + i]);
  }
}

TEST(Ensemble, OfOneIsThatModel) {
  Model single = untrained_model(small_synthetic());
  single.calibration.features.resize(single.features.size());
  for (FeatureCalibration& own : single.calibration.features) own.dof = 5.0;
  const std::uint64_t before = fingerprint(single);
  std::vector<Model> one;
  one.push_back(std::move(single));
  const Model whole = ensemble(std::move(one));
  EXPECT_EQ(whole.members.size(), 1u);
  EXPECT_EQ(fingerprint(whole), before);
  EXPECT_EQ(whole.calibration.features.size(), whole.features.size());
  for (const NamedTensor& tensor : to_tensors(whole).tensors)
    EXPECT_FALSE(tensor.name.starts_with("members.")) << tensor.name;
}

TEST(Ensemble, ComesBackFromItsFile) {
  const TemporaryFolder folder;
  const Model whole = untrained_ensemble();
  save_model(whole, folder / "m");
  const Model back = load_model(folder / "m");
  ASSERT_EQ(back.members.size(), 3u);
  for (std::size_t m = 0; m < 3; ++m) EXPECT_EQ(back.members[m].params, whole.members[m].params);
  EXPECT_EQ(fingerprint(back), fingerprint(whole));
  EXPECT_NE(whole.members[0].params, whole.members[1].params);
  EXPECT_EQ(back.member(2).config.train.seed, whole.config.train.seed + 2);
}

TEST(Ensemble, FileThatLacksAMembersNumbersIsRefused) {
  TensorFile file = to_tensors(untrained_ensemble());
  std::erase_if(file.tensors, [](const NamedTensor& t) { return t.name.starts_with("members.3"); });
  EXPECT_NE(refusal_of([&] { from_tensors(file, "m"); }).find("fewer numbers"), std::string::npos);
}

TEST(Ensemble, RefusesMembersThatDifferByMoreThanTheirSeed) {
  std::vector<Model> members;
  Config config = small_synthetic_config();
  members.push_back(untrained_model(small_synthetic(), config));
  config.train.seed = 1;
  config.loss.kl += 0.1;
  members.push_back(untrained_model(small_synthetic(), config));
  EXPECT_NE(refusal_of([&] { ensemble(std::move(members)); }).find("more than its seed"),
            std::string::npos);
}

class EnsembleStream : public testing::TestWithParam<const char*> {};

// A state per member, each with the step of its own solver.
TEST_P(EnsembleStream, SaysWhatThePredictionSaysAndComesBackFromBytes) {
  Config config = small_synthetic_config();
  config.model.solver = *settings::from_name<Solver>(GetParam());
  const auto whole = std::make_shared<const Model>(untrained_ensemble(config));
  const Dataset& data = small_synthetic();
  const std::size_t s = 2;
  const std::size_t first = data.first_event[s];
  std::vector<double> times = {data.times[first + 1], data.times[first + 2], 11.0};
  const Timeline<float> timeline = query_timeline(whole->protocol, data, s, times);
  ThreadPool pool(1);
  const Answer expected = infer(*whole, examples_of(std::span(&timeline, 1)), pool, {})[0];
  Stream stream(whole, {}, whole->protocol.from_first() ? data.times[first] : 0.0);
  for (std::size_t e = 0; e < 3; ++e) {
    if (e > 0) {
      const auto said = stream.distribution(data.times[first + e]);
      for (std::size_t j = 0; j < 3; ++j)
        expect_same(said[j], to_raw(whole->protocol.standardisation, j,
                                    expected.marginals[3 * (e - 1) + j]));
    }
    const auto seen = data.observed(first + e);
    stream.observe(data.times[first + e], std::vector<Observation>(seen.begin(), seen.end()));
    // A later program goes on from the bytes.
    stream.restore(StreamState::from_bytes(stream.state().to_bytes()));
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, EnsembleStream, testing::Values("rk4", "dopri5"));

TEST(EnsembleStreamState, OfASingleModelIsRefused) {
  const auto whole = std::make_shared<const Model>(untrained_ensemble());
  StreamEngine one(std::make_shared<const Model>(whole->member(0)));
  Stream stream(whole);
  EXPECT_NE(refusal_of([&] { stream.restore(one.begin()); }).find("another model"),
            std::string::npos);
}

TEST(EnsembleGuard, ActsWithinEachMember) {
  const Model whole = untrained_ensemble();
  const Timeline<float> timeline = query_timeline(whole.protocol, small_synthetic(), 1, {12.0});
  const std::vector<Example> examples = examples_of(std::span(&timeline, 1));
  ThreadPool pool(1);
  const InferenceOptions options = whole.inference_options({Guard::Kind::edgr, 0.5});
  const Answer answer = infer(whole, examples, pool, options)[0];
  ASSERT_FALSE(answer.clips.empty());
  std::vector<Marginal> own;
  const Clipped& first = answer.clips.front();
  double used = 0;
  for (std::size_t m = 0; m < 3; ++m) {
    const Answer alone = infer(whole.member(m), examples, pool, options)[0];
    own.push_back(alone.marginals[0]);
    double taken = first.raw;
    for (const Clipped& clip : alone.clips)
      if (clip.stop == first.stop && clip.feature == first.feature) taken = clip.used;
    used += taken / 3.0;
  }
  expect_same(answer.marginals[0], mixture(own));
  EXPECT_NEAR(first.used, used, 1e-12);
}

TEST(EnsembleOfClassifiers, WithoutADistributionTellsTheMeanProbability) {
  Config config = small_synthetic_config();
  config.model.kind = "gru-d";
  const Model whole = untrained_ensemble(config);
  const Timeline<float> timeline = encoding_timeline(whole.protocol, small_synthetic(), 0);
  const std::vector<Example> examples = examples_of(std::span(&timeline, 1));
  ThreadPool pool(1);
  const auto probability = [&](const Model& model) {
    const Matrix<float> z = infer_classes(model, examples, pool);
    return 1.0 / (1.0 + std::exp(static_cast<double>(z(0, 0) - z(1, 0))));
  };
  double mean = 0;
  for (std::size_t m = 0; m < 3; ++m) mean += probability(whole.member(m)) / 3.0;
  EXPECT_NEAR(probability(whole), mean, 1e-6);  // scores are floats
}

}  // namespace
}  // namespace edict
