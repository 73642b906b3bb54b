// Model files that are damaged or made to do harm: an Error that names the file, or a usable model.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "engine/small_model.h"
#include "model/model.h"
#include "stride.h"
#include "temporary_folder.h"

namespace edict {
namespace {

std::string file_of(const std::string& header, const std::string& data = {}) {
  const std::uint64_t size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + header + data;
}

// The one line that reading `bytes` ends in, without the file's name; "read" if they are accepted.
std::string refusal(const TemporaryFolder& folder, const std::string& bytes) {
  folder.write("f", bytes);
  std::string message;
  try {
    read_tensors(folder / "f");
    return "read";
  } catch (const Error& e) {
    message = e.what();
  }
  const std::string name = (folder / "f").string() + ": not a usable model file: ";
  EXPECT_EQ(message.find(name), 0u) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message.substr(std::min(name.size(), message.size()));
}

struct Crafted {
  const char* name;
  std::string header;
  std::size_t data;  // bytes after it
  std::string message;

  friend void PrintTo(const Crafted& crafted, std::ostream* out) { *out << crafted.name; }
};

std::string tensor(const std::string& shape, const std::string& offsets,
                   const std::string& dtype = "\"F32\"") {
  return "{\"a\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
         "}}";
}

std::string two(const std::string& first, const std::string& second) {
  return "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" + first +
         "},\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" + second + "}}";
}

const std::string kShape = "the shape of tensor 'a' does not fit its numbers";
const std::string kOutside = "tensor 'a' lies outside of the file";
const std::string kMalformed = "its header is malformed";
const std::string kNotJson = "its header is not a JSON object";

class CraftedFile : public testing::TestWithParam<Crafted> {};

TEST_P(CraftedFile, IsRefusedInOneLine) {
  const TemporaryFolder folder;
  EXPECT_EQ(refusal(folder, file_of(GetParam().header, std::string(GetParam().data, '\0'))),
            GetParam().message == "read"
                ? "read"
                : GetParam().message + "; train it again or restore a copy");
}

INSTANTIATE_TEST_SUITE_P(
    All, CraftedFile,
    testing::Values(
        Crafted{"whole", tensor("[2,3]", "[0,24]"), 24, "read"},
        Crafted{"scalar", tensor("[]", "[0,4]"), 4, "read"},
        Crafted{"empty_tensor", tensor("[0,5]", "[0,0]"), 0, "read"},
        Crafted{"no_tensors", "{}", 0, "read"},
        Crafted{"shape_2_to_62", tensor("[4611686018427387904]", "[0,24]"), 24, kShape},
        // Products that wrap around to 6, to 0 and to 1 in 64 bits.
        Crafted{"shape_wraps", tensor("[9223372036854775811,2]", "[0,24]"), 24, kShape},
        Crafted{"shape_wraps_to_zero", tensor("[4294967296,4294967296]", "[0,0]"), 0, kShape},
        Crafted{"shape_beyond_64_bits", tensor("[36893488147419103232]", "[0,24]"), 24, kMalformed},
        Crafted{"empty_with_numbers", tensor("[0]", "[0,4]"), 4, kShape},
        Crafted{"shape_too_small", tensor("[5]", "[0,24]"), 24, kShape},
        Crafted{"shape_too_large", tensor("[7]", "[0,24]"), 24, kShape},
        Crafted{"half_a_number", tensor("[1]", "[0,5]"), 5, kShape},
        Crafted{"negative_shape", tensor("[-2,-3]", "[0,24]"), 24, kMalformed},
        Crafted{"fractional_shape", tensor("[6.5]", "[0,24]"), 24, kMalformed},
        Crafted{"shape_of_text", tensor("[\"6\"]", "[0,24]"), 24, kMalformed},
        Crafted{"shape_no_list", tensor("6", "[0,24]"), 24, kMalformed},
        Crafted{"one_offset", tensor("[6]", "[24]"), 24, kMalformed},
        Crafted{"negative_offset", tensor("[6]", "[-24,0]"), 24, kMalformed},
        Crafted{"huge_offset", tensor("[6]", "[18446744073709551592,18446744073709551615]"), 24,
                kOutside},
        Crafted{"offsets_turned", tensor("[6]", "[24,0]"), 24, kOutside},
        Crafted{"beyond_the_end", tensor("[6]", "[4,28]"), 24, kOutside},
        Crafted{"not_to_the_end", tensor("[5]", "[0,20]"), 24,
                "its tensors do not end with the file"},
        Crafted{"gap", two("[0,8]", "[12,20]"), 20,
                "tensor 'b' does not begin where the last one ends"},
        Crafted{"overlap", two("[0,8]", "[4,12]"), 12,
                "tensor 'b' does not begin where the last one ends"},
        Crafted{"same_place", two("[0,8]", "[0,8]"), 8,
                "tensor 'b' does not begin where the last one ends"},
        Crafted{"other_type", tensor("[3]", "[0,24]", "\"F64\""), 24,
                "tensor 'a' is not of 32-bit floats"},
        Crafted{"type_no_text", tensor("[6]", "[0,24]", "32"), 24,
                "tensor 'a' is not of 32-bit floats"},
        Crafted{"no_type", "{\"a\":{\"shape\":[6],\"data_offsets\":[0,24]}}", 24, kMalformed},
        Crafted{"tensor_no_object", "{\"a\":[6]}", 24, kMalformed},
        Crafted{"repeated_name",
                "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
                4, "its header holds 'a' twice"},
        Crafted{"repeated_metadata", "{\"__metadata__\":{\"edict\":\"1\",\"edict\":\"2\"}}", 0,
                "its header holds 'edict' twice"},
        Crafted{"metadata_no_text", "{\"__metadata__\":{\"edict\":1}}", 0, kMalformed},
        Crafted{"metadata_no_object", "{\"__metadata__\":[]}", 0, kMalformed},
        Crafted{"list", "[1,2]", 0, kNotJson}, Crafted{"number", "7", 0, kNotJson},
        Crafted{"nothing", "", 0, kNotJson}, Crafted{"broken", "{\"a\":", 0, kNotJson},
        Crafted{"not_utf8", "{\"\xff\":1}", 0, kNotJson},
        Crafted{"deep", std::string(200000, '['), 0, kNotJson}),
    [](const auto& crafted) { return crafted.param.name; });

TEST(ModelFile, AHeaderThatDoesNotFitIsNotAllocated) {
  const TemporaryFolder folder;
  for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{1} << 26, std::uint64_t{1} << 40,
                                   ~std::uint64_t{0}, ~std::uint64_t{0} - 7})
    EXPECT_EQ(refusal(folder, std::string(reinterpret_cast<const char*>(&size), sizeof size)),
              "its header does not fit into the file; train it again or restore a copy");
  EXPECT_EQ(refusal(folder, "1234567"), "it is too short; train it again or restore a copy");
}

TEST(ModelFile, TensorsComeBackWhateverTheirOrderInTheHeader) {
  const TemporaryFolder folder;
  // JSON lists 'a' first, the data hold 'b' first.
  const float numbers[] = {1, 2, 3};
  const std::string data(reinterpret_cast<const char*>(numbers), sizeof numbers);
  folder.write("f", file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]},"
                            "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
                            data));
  const TensorFile file = read_tensors(folder / "f");
  std::map<std::string, std::vector<float>> values;
  for (const NamedTensor& tensor : file.tensors) values[tensor.name] = tensor.values;
  EXPECT_EQ(values, (std::map<std::string, std::vector<float>>{{"a", {3}}, {"b", {1, 2}}}));
}

// ------------------------------------------------------------------------------- models

// As few bytes as a model with two classifiers can have.
const Model& tiny_model() {
  static const Model model = [] {
    Config config = small_synthetic_config();
    config.model.hidden = config.model.head_hidden = config.model.encoder_width = 1;
    Model m = untrained_model(small_synthetic(), config).with_classifier(config, {"0", "1"});
    for (const std::int64_t seed : {3, 4})
      m.first().seed_classifiers.push_back({seed, m.first().params.tail(m.classifier_size())});
    return m;
  }();
  return model;
}

struct Change {
  const char* name;
  std::function<void(nlohmann::json& meta, TensorFile& file)> make;
  std::string message;  // after "not a usable model file: "

  friend void PrintTo(const Change& change, std::ostream* out) { *out << change.name; }
};

// Of a JSON member at `path`.
auto with(const char* path, nlohmann::json value) {
  return [path = nlohmann::json::json_pointer(path), value](nlohmann::json& meta, TensorFile&) {
    meta[path] = value;
  };
}

auto with_number(const char* name, float value) {
  return [name, value](nlohmann::json&, TensorFile& file) {
    for (NamedTensor& t : file.tensors)
      if (t.name == name) t.values.back() = value;
  };
}

class ChangedModel : public testing::TestWithParam<Change> {};

TEST_P(ChangedModel, IsRefusedInOneLine) {
  TensorFile file = to_tensors(tiny_model());
  nlohmann::json meta = parse_json(file.metadata.at("edict"));
  GetParam().make(meta, file);
  file.metadata["edict"] = json_text(meta);
  const TemporaryFolder folder;
  write_tensors(file, folder / "m");
  EXPECT_EQ(refusal_of([&] { load_model(folder / "m"); }),
            (folder / "m").string() + ": not a usable model file: " + GetParam().message);
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

INSTANTIATE_TEST_SUITE_P(
    All, ChangedModel,
    testing::Values(
        Change{"nan_parameter", with_number("classifier.0.bias", kNan),
               "tensor 'classifier.0.bias' holds a number that is not finite"},
        Change{"infinite_parameter", with_number("classifier.0.weight", -kInfinity),
               "tensor 'classifier.0.weight' holds a number that is not finite"},
        Change{"infinite_seed_parameter", with_number("classifier_seeds.4.0.bias", kInfinity),
               "its classifier of seed 4 holds a number that is not finite"},
        Change{"zero_scale", with("/standardisation/scale/1", 0.0),
               "its standardisation has the scale 0 for 'x2'"},
        Change{"negative_scale", with("/population/scale/2", -1.0),
               "its population has the scale -1 for 'x3'"},
        Change{"too_few_scales", with("/standardisation/scale", {1.0, 1.0}),
               "its standardisation has 3 means and 2 scales for 3 names"},
        Change{"too_many_statics", with("/population/statics_scale", {1.0}),
               "its population has 0 means and 1 scales for 0 names"},
        Change{"scale_no_number", with("/standardisation/scale/1", nullptr),
               "its metadata is malformed"},
        Change{"no_horizon", [](nlohmann::json& meta, TensorFile&) { meta.erase("horizon"); },
               "its metadata is malformed"},
        Change{"reading_no_text", with("/reading/id", 5), "its metadata is malformed"},
        Change{"time_axis_unknown", with("/time_axis/kind", "sundial"),
               "its time axis is malformed"},
        Change{"horizon_no_number", with("/horizon", nullptr), "its metadata is malformed"},
        Change{"no_t_cut", with("/config/data/t_cut", "auto"), "its data.t_cut is not resolved"},
        Change{"time_unit", with("/config/data/time_unit", 0.0),
               "configuration: data.time_unit = 0 is not allowed; it must be a number from 1e-30 "
               "to 1e+30"},
        Change{"splits", with("/config/data/train", 0.95),
               "data.train + data.validation = 1.05 leaves no test split; make them "
               "sum to less than 1"},
        Change{
            "no_features",
            [](nlohmann::json& meta, TensorFile&) { meta["features"] = nlohmann::json::array(); },
            "it has no features"},
        Change{"repeated_feature", with("/features", {"x1", "x2", "x1"}),
               "its feature 'x1' stands there twice"},
        Change{"another_feature", with("/features", {"x1", "x2"}),
               "its standardisation has 3 means and 3 scales for 2 names"},
        Change{"one_class", with("/classes", {"only"}), "its metadata contradicts itself"},
        Change{"third_class", with("/classes", {"0", "1", "2"}),
               "tensor 'classifier.0.weight' has another shape than its configuration asks"},
        Change{"seeds_without_classifier", with("/classifier", false),
               "its metadata contradicts itself"},
        Change{"repeated_seed", with("/classifier_seeds", {3, 3}),
               "its metadata contradicts itself"},
        Change{"seed_beyond_64_bits", with("/classifier_seeds", {1e300}),
               "its metadata is malformed"},
        Change{"seed_that_is_not_there", with("/classifier_seeds", {9}),
               "tensor 'classifier_seeds.9.0.weight' is missing; train it again with this version"},
        Change{"huge_network", with("/config/model/hidden", 4096),
               "it holds fewer numbers than its configuration asks"},
        Change{"other_shape",
               [](nlohmann::json&, TensorFile& file) {
                 for (NamedTensor& tensor : file.tensors)
                   if (tensor.name == "classifier.0.weight") tensor.shape = {1, 2};
               },
               "tensor 'classifier.0.weight' has another shape than its configuration asks"},
        Change{"format", with("/format", 99), "format 99 is not known to this version"},
        Change{"no_metadata",
               [](nlohmann::json& meta, TensorFile&) { meta = nlohmann::json::array(); },
               "its metadata is malformed"}),
    [](const auto& change) { return change.param.name; });

bool finite(const Model& model) {
  bool all = model.first().params.allFinite() && std::isfinite(model.protocol.horizon);
  for (const auto* z : {&model.protocol.standardisation, &model.protocol.population})
    for (std::size_t j = 0; j < model.features.size(); ++j)
      all = all && std::isfinite(z->mean[j]) && z->scale[j] > 0 && std::isfinite(z->scale[j]);
  return all;
}

// Two flips of each byte: the lowest bit, which mostly gives another valid letter or digit, and
// the highest, which gives no letter and a negative number.
TEST(ModelFile, EveryByteFlippedInTurnGivesAnErrorOrAFiniteModel) {
  const std::string whole = tensor_bytes(to_tensors(tiny_model()));
  ASSERT_LT(whole.size(), 12000u) << "a test of every byte wants a small file";
  std::size_t refused = 0, read = 0;
  for (std::size_t at = 0; at < whole.size(); at += kStride)
    for (const char flip : {'\x01', '\x80'}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      try {
        const Model model = from_tensors(tensors_from(damaged, "d"), "d");
        ASSERT_TRUE(finite(model)) << "byte " << at;
        ++read;
      } catch (const Error& e) {
        ASSERT_TRUE(std::string(e.what()).starts_with("d: ")) << "byte " << at << ": " << e.what();
        ++refused;
      }
    }
  // Both happen: the numbers may be others, the structure may not.
  EXPECT_GT(refused, whole.size() / (2 * kStride));
  EXPECT_GT(read, 100u / kStride);
}

TEST(ModelFile, CutOffAnywhereItIsRefused) {
  const std::string whole = tensor_bytes(to_tensors(tiny_model()));
  for (std::size_t size = 0; size < whole.size(); size += kStride)
    ASSERT_THROW(from_tensors(tensors_from(whole.substr(0, size), "d"), "d"), Error) << size;
  EXPECT_THROW(from_tensors(tensors_from(whole + '\0', "d"), "d"), Error);
}

}  // namespace
}  // namespace edict
