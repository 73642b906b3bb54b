// Columns of texts and of numbers that a caller has, read as a file's through the C interface.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/json/json_text.h"
#include "edict/edict.h"

namespace edict {
namespace {

struct Read {
  int code = EDICT_OK;
  nlohmann::json said;
  std::vector<double> values;
};

nlohmann::json json_of(edict_bytes* bytes) {
  const nlohmann::json json = parse_json(
      std::string(static_cast<const char*>(edict_bytes_data(bytes)), edict_bytes_size(bytes)));
  edict_bytes_free(bytes);
  return json;
}

Read read(const std::vector<const char*>& cells, const char* options = "{}") {
  Read result{EDICT_OK, {}, std::vector<double>(cells.size(), -7)};
  edict_bytes* out = nullptr;
  result.code = edict_read_cells(static_cast<std::int64_t>(cells.size()), cells.data(), options,
                                 result.values.data(), &out);
  if (result.code == EDICT_OK) result.said = json_of(out);
  return result;
}

TEST(Cells, AreNumbersWithUnitsLimitsAndMarks) {
  const Read units = read({" 5.2 mmol/L", "4", "<0.1", "", "NA", "no data"});
  EXPECT_EQ(units.said["kind"], "numbers");
  EXPECT_EQ(units.said["unit"], "mmol/L");
  EXPECT_EQ(units.said["notes"].size(), 3u) << units.said["notes"];
  EXPECT_EQ(units.values[0], 5.2);
  EXPECT_EQ(units.values[1], 4);
  EXPECT_EQ(units.values[2], 0.1);
  for (const std::size_t i : {3u, 4u, 5u}) EXPECT_TRUE(std::isnan(units.values[i]));
  EXPECT_EQ(read({"1.234,5", "2,5", "1.234"}).values, (std::vector<double>{1234.5, 2.5, 1234}))
      << "one text decides for all";
  EXPECT_EQ(read({"yes", "no"}).values, (std::vector<double>{1, 0}));
}

TEST(Cells, MayBeSomethingElse) {
  const Read names = read({"up", "down"});
  EXPECT_EQ(names.said["kind"], "categories");
  EXPECT_EQ(names.values, (std::vector<double>{-7, -7})) << "left as they were";
  EXPECT_EQ(read({"up", "NA", ""}).said["unknown"], parse_json(R"(["NA", ""])"));
  EXPECT_EQ(read({"mild", "None", ""}).said["unknown"], parse_json(R"([""])"));
  const Read labels = read({"1", "2", "yes", "?"}, R"({"names": true})");
  EXPECT_EQ(labels.said["kind"], "categories");
  EXPECT_EQ(labels.said["unknown"], parse_json(R"(["?"])"));
  const Read mixed = read({"1", "oops"}, R"({"column": "x"})");
  EXPECT_EQ(mixed.said["kind"], "mistakes");
  EXPECT_EQ(
      mixed.said["problem"],
      "column 'x': 'oops' is not a number; write one, or name what stands for a missing value "
      "by missing");
}

TEST(Cells, ThatHardlyEverRepeatAreRemarks) {
  std::vector<std::string> words;
  std::vector<const char*> texts;
  for (char c = 'a'; c < 'y'; ++c) words.push_back(std::string("remark ") + c);
  for (const std::string& word : words) texts.push_back(word.c_str());
  const auto counts = [&](std::size_t each) {
    return nlohmann::json{{"counts", std::vector<std::size_t>(texts.size(), each)}}.dump();
  };
  EXPECT_EQ(read(texts, counts(1).c_str()).said["kind"], "texts");
  EXPECT_EQ(read(texts, counts(5).c_str()).said["kind"], "categories");
  EXPECT_EQ(read(texts, counts(0).c_str()).code, EDICT_INPUT);
  EXPECT_EQ(read(texts, R"({"counts": [1]})").code, EDICT_INPUT);
}

TEST(Cells, ThatMayMeanTwoThingsAreRefused) {
  EXPECT_EQ(read({"1,234", "2,345"}, R"({"column": "x"})").code, EDICT_INPUT);
  EXPECT_EQ(std::string(edict_last_error()),
            "column 'x': '1,234' may be 1234 or 1.234; give decimal=point or decimal=comma");
  EXPECT_EQ(read({"1,234"}, R"({"decimal": "comma"})").values[0], 1.234);
  EXPECT_EQ(read({"1,234"}, R"({"decimal": "point"})").values[0], 1234);
  EXPECT_EQ(read({"1 mg", "2 g"}).code, EDICT_INPUT);
  EXPECT_EQ(read({"2 g"}, R"({"unit": "mg"})").code, EDICT_INPUT) << "a model knows another unit";
  EXPECT_EQ(read({"120/80"}).code, EDICT_INPUT);
  EXPECT_EQ(read({"1"}, R"({"decimal": "semicolon"})").code, EDICT_INPUT);
  EXPECT_EQ(read({"1"}, "[").code, EDICT_INPUT);
  EXPECT_EQ(read({"1"}, R"({"column": 3})").code, EDICT_INPUT);
}

TEST(Cells, NumbersThatStandForMissingStandOut) {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(i % 9 == 0 ? -999 : i % 7);
  values.push_back(std::nan(""));
  edict_bytes* out = nullptr;
  ASSERT_EQ(edict_find_codes(61, values.data(), &out), EDICT_OK);
  EXPECT_EQ(json_of(out), parse_json(R"([{"value": -999.0, "cells": 7}])"));
  ASSERT_EQ(edict_find_codes(0, nullptr, &out), EDICT_OK);
  EXPECT_EQ(json_of(out), parse_json("[]"));
  EXPECT_EQ(edict_find_codes(1, nullptr, &out), EDICT_INPUT);
  EXPECT_EQ(edict_find_codes(-1, values.data(), &out), EDICT_INPUT);
}

}  // namespace
}  // namespace edict
