// Files: writing, reading back, and what can go wrong with either.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/generator.h"
#include "data/read/csv/csv.h"
#include "research/import/synthetic.h"
#include "temporary_folder.h"

namespace edict {
namespace {

namespace fs = std::filesystem;

class CsvFile : public testing::Test {
 protected:
  fs::path put(const std::string& text) const {
    folder_.write("in.csv", text);
    return folder_ / "in.csv";
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  template <class Action>
  static std::string error_of(Action action) {
    try {
      action();
    } catch (const Error& error) {
      return error.message(command_line_option);
    }
    return "no error";
  }

  TemporaryFolder folder_;
};

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

void expect_equal(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(a.statics, b.statics);
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.groups, b.groups);
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.group_of, b.group_of);
  EXPECT_EQ(a.first_event, b.first_event);
  EXPECT_EQ(a.times, b.times);
  EXPECT_EQ(a.first_observation, b.first_observation);
  ASSERT_EQ(a.static_values.size(), b.static_values.size());
  for (std::size_t k = 0; k < a.static_values.size(); ++k)
    EXPECT_TRUE(same(a.static_values[k], b.static_values[k]));
  ASSERT_EQ(a.observations(), b.observations());
  for (std::size_t o = 0; o < a.observations(); ++o) {
    EXPECT_EQ(a.feature[o], b.feature[o]);
    EXPECT_EQ(a.value[o], b.value[o]);
  }
}

// Awkward names, any bit pattern for a value, series without events, labels or covariates.
Dataset awkward(std::uint64_t seed) {
  Generator rng(seed);
  const auto any_double = [&rng] {
    for (;;) {
      const double value = std::bit_cast<double>(rng.bits());
      if (std::isfinite(value)) return value;
    }
  };
  Dataset d;
  d.features = {"plain", "with, comma", " blanks ", "quo\"te", "línea\nbreak"};
  d.statics = {"age", "a,b"};
  d.classes = {"0", "1", "10"};
  d.groups = {"g one", "g,two"};
  for (int i = 0; i < 40; ++i) {
    const double covariates[] = {any_double(), rng.below(3) == 0 ? std::nan("") : rng.normal()};
    // The first three series use every class and group, so that none is lost on the way.
    const auto label = i < 3 ? i : static_cast<std::int32_t>(rng.below(4)) - 1;
    const auto group = i < 2 ? i : static_cast<std::int32_t>(rng.below(3)) - 1;
    d.add_series(fmt::format("id \"{}\",{}", i, i % 2 == 0 ? " " : ""), label, group, covariates);
    double time = rng.uniform(-5.0, 5.0);
    for (std::uint64_t e = rng.below(6); e > 0; --e, time += rng.uniform(1e-9, 2.0)) {
      d.add_event(time);
      const auto least = static_cast<std::int32_t>(rng.below(5));
      for (std::int32_t f = 0; f < 5; ++f)
        if (f == least || rng.below(2) == 0)
          d.add_observation(f, rng.below(2) == 0 ? any_double() : rng.normal());
    }
  }
  return d;
}

TEST_F(CsvFile, WhatIsWrittenIsReadBackBitForBit) {
  ReadOptions every_number;  // also those that programs write for what is missing
  every_number.missing = {"none"};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Dataset dataset = awkward(seed);
    write_csv(dataset, folder_ / "out.csv");
    expect_equal(read_csv(folder_ / "out.csv", every_number), dataset);
  }
  const Dataset synthetic = generate_synthetic(300, 1);
  write_csv(synthetic, folder_ / "out.csv");
  expect_equal(read_csv(folder_ / "out.csv"), synthetic);
}

TEST_F(CsvFile, WritesWideFormWithShortestNumbers) {
  Dataset d;
  d.features = {"x", "y", "z"};
  d.classes = {"0", "1"};
  d.statics = {"age"};
  const double age[] = {63.5}, unknown[] = {std::nan("")};
  d.add_series("a", 1, Dataset::kNone, age);
  d.add_event(0.1);
  d.add_observation(1, 0.30000000000000004);
  d.add_series("b", Dataset::kNone, Dataset::kNone, unknown);
  write_csv(d, folder_ / "out.csv");
  EXPECT_EQ(folder_.read("out.csv"),
            "id,time,label,static:age,x,y,z\na,0.1,1,63.5,,0.30000000000000004,\nb,,,,,,\n");
}

TEST_F(CsvFile, SizesNextToAPageAreReadToTheLastByte) {
  for (const std::size_t size : {4095u, 4096u, 4097u, 8192u}) {
    std::string text = "id,time,x\nlast,0,12345.5";
    text.insert(10, size - text.size(), '\n');
    ASSERT_EQ(text.size(), size);
    EXPECT_EQ(read_csv(put(text)).value[0], 12345.5) << size;
  }
}

TEST_F(CsvFile, APipeIsReadToo) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string text = "id,time,x\n";
  for (int i = 0; i < 20000; ++i) text += fmt::format("a,{},1\n", i);
  std::thread writer([&] { std::ofstream(pipe) << text; });
  const Dataset d = read_csv(pipe);
  writer.join();
  EXPECT_EQ(d.events(), 20000u);
}

TEST_F(CsvFile, FilesThatCannotBeRead) {
  const std::string folder = folder_.path().string();
  EXPECT_EQ(error_of([&] { read_csv(folder_ / "none.csv"); }),
            folder + "/none.csv: no such file; check the path");
  EXPECT_EQ(error_of([&] { read_csv(folder_.path()); }),
            folder + ": is a directory; give a CSV file");
  EXPECT_EQ(error_of([&] { read_csv(put("")); }),
            folder +
                "/in.csv:1: the file is empty; it needs a header line 'id,time,<feature>,…' and "
                "rows");
  EXPECT_EQ(error_of([&] { read_csv(put("id,time,x\na,0,1\na,1,b\n")); }),
            folder +
                "/in.csv:3: column 'x': 'b' is not a number; write one, or leave the cell empty "
                "if nothing is known (--missing names what stands for it)");
  ReadOptions small;
  small.limits.bytes = 5;
  EXPECT_EQ(error_of([&] { read_csv(put("id,time,x\na,0,1\n"), small); }),
            folder + "/in.csv: is larger than the limit of 5 bytes; split it or raise the limit");
}

TEST_F(CsvFile, NothingHalfWrittenIsLeftBehind) {
  const fs::path path = folder_ / "out.csv";
  folder_.write("out.csv", "before");
  {
    AtomicFile file(path);
    file.write("half");
    EXPECT_EQ(files(), 2u);  // the temporary file is in the same folder
  }
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(content(path), "before");
  AtomicFile file(path);
  file.write(std::string(3000000, 'x'));
  EXPECT_EQ(content(path), "before");
  file.commit();
  EXPECT_EQ(content(path), std::string(3000000, 'x'));
  EXPECT_EQ(files(), 1u);
}

TEST_F(CsvFile, WhatCannotBeWrittenIsRefusedAndLeavesNothing) {
  Dataset d;
  d.features = {"x"};
  d.add_series("a");
  d.add_event(0);
  d.add_observation(0, 1);
  EXPECT_EQ(error_of([&] { write_csv(d, folder_.path()); }),
            folder_.path().string() + ": is a directory; give the name of a file");
  EXPECT_EQ(
      error_of([&] { write_csv(d, folder_ / "no" / "out.csv"); }),
      (folder_ / "no" / "out.csv").string() +
          ": cannot be created (No such file or directory); check the folder, its permissions "
          "and the free space");
  const auto refused = [&](const Dataset& bad) {
    return error_of([&] { write_csv(bad, folder_ / "out.csv"); });
  };
  for (const char* name : {"time", "static:b", ""}) {
    Dataset bad = d;
    bad.features = {name};
    EXPECT_NE(refused(bad).find("cannot name a feature; rename it"), std::string::npos) << name;
  }
  Dataset pair = d;
  pair.features = {"value", "feature"};
  EXPECT_NE(refused(pair).find("would read as long form"), std::string::npos);
  Dataset infinite = d;
  infinite.value[0] = std::numeric_limits<double>::infinity();
  EXPECT_NE(refused(infinite).find("column 'x': a value is not finite"), std::string::npos);
  Dataset nameless = d;
  nameless.ids[0].clear();
  EXPECT_NE(refused(nameless).find("series 0 has no id"), std::string::npos);
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace edict
