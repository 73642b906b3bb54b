// A checkpoint gives back the run that it was written by, or says what is wrong and what to do.
#include "learn/checkpoint.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "engine/small_model.h"
#include "stride.h"
#include "temporary_folder.h"

namespace edict {
namespace {

constexpr std::uint64_t kFingerprint = 0xfedcba9876543210;

// Few bytes, so that each of them can be damaged.
Config tiny_config() {
  Config config = small_synthetic_config();
  config.model.hidden = config.model.head_hidden = config.model.encoder_width = 1;
  return config;
}

Model tiny_model(const Config& config = tiny_config()) {
  static const Dataset data = generate_synthetic(20, 5);
  return untrained_model(data, config);
}

struct Written {
  Model model = tiny_model();
  Adam adam{model.first().params.size()};
  Checkpoint state;

  // After three epochs of four steps, the second of which was the best.
  Written() {
    adam.steps = 12;
    for (Index i = 0; i < adam.m.size(); ++i) {
      adam.m[i] = 0.01f * static_cast<float>(i);
      adam.v[i] = 0.02f * static_cast<float>(i);
    }
    state.fingerprint = kFingerprint;
    state.epochs_done = 3;
    state.since_best = 1;
    for (std::int64_t epoch = 1; epoch <= 3; ++epoch) {
      EpochRow row;
      row.epoch = epoch;
      row.learning_rate = 1.0 / 3;
      row.validation_nll = 1.0 / static_cast<double>(epoch);
      row.best = epoch < 3;
      state.rows.push_back(row);
    }
    state.best = 0.5f * model.first().params;
  }

  void save(const std::filesystem::path& path) const { save_checkpoint(state, model, adam, path); }
};

// What a run that asks for `config` on data of this fingerprint is told of the file.
std::string answer(const std::filesystem::path& path, const Config& config = tiny_config(),
                   std::uint64_t fingerprint = kFingerprint) {
  Model model = tiny_model(config);
  Adam adam(model.first().params.size());
  const std::string message = refusal_of([&] { load_checkpoint(path, fingerprint, model, adam); });
  if (message == "accepted") return message;
  EXPECT_EQ(message.find(path.string() + ": "), 0u) << message;
  EXPECT_NE(message.find("start without resume"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message.substr(path.string().size() + 2);
}

void expect_equal(const std::vector<EpochRow>& a, const std::vector<EpochRow>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].epoch, b[i].epoch);
    EXPECT_EQ(a[i].learning_rate, b[i].learning_rate);
    EXPECT_EQ(a[i].validation_nll, b[i].validation_nll);
    EXPECT_EQ(a[i].best, b[i].best);
  }
}

// Everything that load_checkpoint gives back is what was saved, to the bit.
void expect_restored(const std::filesystem::path& path, const Written& written) {
  Model model = tiny_model();
  model.first().params.setZero();
  Adam adam(model.first().params.size());
  const Checkpoint state = load_checkpoint(path, kFingerprint, model, adam);
  EXPECT_EQ(model.first().params, written.model.first().params);
  EXPECT_EQ(adam.m, written.adam.m);
  EXPECT_EQ(adam.v, written.adam.v);
  EXPECT_EQ(adam.steps, written.adam.steps);
  EXPECT_EQ(state.best, written.state.best);
  EXPECT_EQ(state.epochs_done, 3);
  EXPECT_EQ(state.since_best, 1);
  expect_equal(state.rows, written.state.rows);
}

TEST(Checkpoint, GivesEverythingBack) {
  const TemporaryFolder folder;
  const Written written;
  written.save(folder / "c");
  expect_restored(folder / "c", written);
}

TEST(Checkpoint, CutOffAnywhereItIsRefused) {
  const TemporaryFolder folder;
  Written().save(folder / "c");
  const std::string whole = folder.read("c");
  for (std::size_t size = 0; size < whole.size(); size += kStride) {
    folder.write("d", whole.substr(0, size));
    ASSERT_NE(answer(folder / "d"), "accepted") << size;
  }
}

// A byte that changed is noticed, wherever it stands: what is accepted gives the same state.
TEST(Checkpoint, EveryByteFlippedInTurnIsRefusedOrChangesNothing) {
  const TemporaryFolder folder;
  const Written written;
  written.save(folder / "c");
  const std::string whole = folder.read("c");
  ASSERT_LT(whole.size(), 16000u) << "a test of every byte wants a small file";
  for (std::size_t at = 0; at < whole.size(); at += kStride) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    folder.write("d", damaged);
    if (answer(folder / "d") == "accepted") expect_restored(folder / "d", written);
    if (testing::Test::HasFailure()) FAIL() << "byte " << at;
  }
}

TEST(Checkpoint, OfOtherDataIsRefused) {
  const TemporaryFolder folder;
  Written().save(folder / "c");
  EXPECT_EQ(answer(folder / "c", tiny_config(), 1),
            "cannot be resumed from: it was written for other data; use the same file, or start "
            "without resume");
}

TEST(Checkpoint, OfOtherSettingsIsRefused) {
  const TemporaryFolder folder;
  Written().save(folder / "c");
  for (const auto& [assignment, key] : {std::pair("model.hidden=2", "model.hidden"),
                                        {"train.learning_rate=0.02", "train.learning_rate"},
                                        {"train.schedule=cosine", "train.schedule"},
                                        {"data.holdout=0.2", "data.holdout"}}) {
    Config config = tiny_config();
    assign(config, assignment);
    const std::string message = answer(folder / "c", config);
    EXPECT_NE(message.find("it was written with another "), std::string::npos) << message;
    // A changed schedule lets train.epochs matter too, but it did not change.
    EXPECT_NE(message.find(key), std::string::npos) << message;
  }
}

TEST(Checkpoint, IsNoModel) {
  const TemporaryFolder folder;
  save_model(Written().model, folder / "m");
  EXPECT_EQ(answer(folder / "m"),
            "cannot be resumed from: it is a model and no checkpoint; start without resume");
  folder.write("t", "time,value\n");
  EXPECT_EQ(answer(folder / "t"), "this is a CSV file and no model; start without resume");
}

TEST(Checkpoint, GivenAsAModelIsRefusedInOneLine) {
  const TemporaryFolder folder;
  Written().save(folder / "m.checkpoint");
  try {
    load_model(folder / "m.checkpoint");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(command_line_option),
              (folder / "m.checkpoint").string() +
                  ": this is the checkpoint of a training and no model; give the model that the "
                  "training writes at its end, or continue it with --resume");
  }
}

// Those had no checksum; nothing happened to them.
TEST(Checkpoint, OfAnEarlierVersionIsNotCalledDamaged) {
  const TemporaryFolder folder;
  Written().save(folder / "c");
  TensorFile file = read_tensors(folder / "c");
  ASSERT_EQ(file.metadata.erase("checksum"), 1u);
  write_tensors(file, folder / "c");
  EXPECT_EQ(answer(folder / "c"),
            "cannot be resumed from: it was written by another version of edict; start without "
            "resume");
}

// The rate of a step depends on the number of steps under a cosine and during a warm-up: the run
// would start again at a higher rate than it ended with.
TEST(Checkpoint, MoreEpochsOnlyWhereTheRateDoesNotDependOnThem) {
  const TemporaryFolder folder;
  Config longer = tiny_config();
  longer.train.epochs += 10;
  Written written;
  written.save(folder / "c");
  EXPECT_EQ(answer(folder / "c", longer), "accepted");

  written.model.config.train.schedule = longer.train.schedule = Schedule::cosine;
  written.save(folder / "c");
  EXPECT_EQ(answer(folder / "c", written.model.config), "accepted");
  EXPECT_EQ(answer(folder / "c", longer),
            "cannot be resumed from: its learning rate was laid out over 25 epochs (train.schedule "
            "= cosine, train.warmup = 0) and would jump; keep train.epochs, or start without "
            "resume");

  written.model.config.train.schedule = longer.train.schedule = Schedule::constant;
  written.model.config.train.warmup = longer.train.warmup = 0.1;
  written.save(folder / "c");
  EXPECT_NE(answer(folder / "c", longer).find("train.warmup = 0.1"), std::string::npos);
}

// Files that nobody damaged but somebody put together: the checksum is right, the content is not.
struct Change {
  const char* name;
  std::function<void(nlohmann::json& state, TensorFile& file)> make;
  std::string message;

  friend void PrintTo(const Change& change, std::ostream* out) { *out << change.name; }
};

class ChangedCheckpoint : public testing::TestWithParam<Change> {};

TEST_P(ChangedCheckpoint, IsRefused) {
  const TemporaryFolder folder;
  Written().save(folder / "c");
  TensorFile file = read_tensors(folder / "c");
  nlohmann::json state = parse_json(file.metadata.at("checkpoint"));
  GetParam().make(state, file);
  file.metadata["checkpoint"] = json_text(state);
  file.metadata["checksum"] = checkpoint_checksum(file);
  write_tensors(file, folder / "c");
  EXPECT_EQ(answer(folder / "c"),
            "cannot be resumed from: " + GetParam().message + "; start without resume");
}

auto with(const char* path, nlohmann::json value) {
  return [path = nlohmann::json::json_pointer(path), value](nlohmann::json& state, TensorFile&) {
    state[path] = value;
  };
}

auto with_tensor(const char* name, std::function<void(NamedTensor&)> change) {
  return [=](nlohmann::json&, TensorFile& file) {
    for (NamedTensor& t : file.tensors)
      if (t.name == name) change(t);
  };
}

void shorten(NamedTensor& tensor) {
  tensor.values.pop_back();
  --tensor.shape[0];
}

const std::string kMalformed = "its state is malformed",
                  kContradiction = "its state contradicts itself";

INSTANTIATE_TEST_SUITE_P(
    All, ChangedCheckpoint,
    testing::Values(
        Change{"state_no_object",
               [](nlohmann::json& state, TensorFile&) { state = nlohmann::json::array(); },
               kMalformed},
        Change{"no_rows", with("/rows", nlohmann::json::array()), kContradiction},
        Change{"rows_no_list", with("/rows", 3), kMalformed},
        Change{"short_row", with("/rows/1", {2, 0.1}), kMalformed},
        Change{"row_of_text", with("/rows/1/3", "x"), kMalformed},
        Change{"row_without_a_number", with("/rows/1/3", nullptr), kMalformed},
        Change{"epoch_beyond_64_bits", with("/rows/1/0", 1e300), kMalformed},
        Change{"epochs_out_of_order", with("/rows/1/0", 3), "its epochs are not in order"},
        Change{"more_epochs_than_rows", with("/epochs_done", 4), kContradiction},
        Change{"negative_epochs", with("/epochs_done", -1), kContradiction},
        Change{"since_best", with("/since_best", 2), kContradiction},
        Change{"no_best", with("/rows/0/8", false), kContradiction},
        Change{"steps", with("/adam_steps", -1), kContradiction},
        Change{"steps_fraction", with("/adam_steps", 1.5), kMalformed},
        Change{"fingerprint_of_text", with("/fingerprint", "x"), kMalformed},
        Change{"short_moments", with_tensor("adam.m", shorten), "its 'adam.m' has the wrong size"},
        Change{"short_best", with_tensor("best", shorten), "its 'best' has the wrong size"},
        Change{"nan_moments",
               with_tensor("adam.v", [](NamedTensor& tensor) { tensor.values[0] = NAN; }),
               "its 'adam.v' holds a number that is not finite"},
        Change{"no_moments",
               with_tensor("adam.v", [](NamedTensor& tensor) { tensor.name = "adam.w"; }),
               "its 'adam.v' is missing"}),
    [](const auto& change) { return change.param.name; });

}  // namespace
}  // namespace edict
