// The page as the program carries it, and the invented ward of the demo. What the page does in a
// browser is tested in tests/server/page.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "front/server/demo/demo_ward.h"
#include "front/server/page_files.h"
#include "temporary_folder.h"

namespace edict::server {
namespace {

const PageFile* find(std::string_view path) {
  for (const PageFile& file : page_files())
    if (file.path == path) return &file;
  return nullptr;
}

bool has_charts() { return find("/page/uplot.js") != nullptr; }

std::vector<std::string> all_matches(std::string_view text, const std::regex& pattern) {
  const std::string copy(text);
  std::vector<std::string> found;
  for (std::sregex_iterator it(copy.begin(), copy.end(), pattern), end; it != end; ++it)
    found.push_back((*it)[1]);
  return found;
}

TEST(PageFiles, WithoutChartsThePageSaysWhy) {
  ASSERT_NE(find("/"), nullptr);
  EXPECT_EQ(find("/")->type, "text/html; charset=utf-8");
  EXPECT_NE(find("/")->content.find("not a medical device"), std::string_view::npos);
  if (has_charts()) return;
  EXPECT_NE(find("/")->content.find("built without its page"), std::string_view::npos);
  EXPECT_EQ(page_files().size(), 1u);
}

TEST(PageFiles, WhateverAFileNamesIsThere) {
  static const std::regex named(R"re((?:src|href)="(/page/[^"]+)")re"),
      imported(R"re(from '\./([^']+)')re");
  std::size_t references = 0;
  for (const PageFile& file : page_files()) {
    for (const std::string& path : all_matches(file.content, named)) {
      EXPECT_NE(find(path), nullptr) << file.path << " names " << path;
      ++references;
    }
    for (const std::string& name : all_matches(file.content, imported)) {
      EXPECT_NE(find("/page/" + name), nullptr) << file.path << " imports " << name;
      ++references;
    }
  }
  if (has_charts()) {
    EXPECT_GT(references, 20u);
    EXPECT_NE(find("/page/uplot-license.txt"), nullptr);
  }
}

// The server forbids both, so that a stream's name can never become a script.
TEST(PageFiles, NothingIsInline) {
  for (const PageFile& file : page_files()) {
    if (file.type != "text/html; charset=utf-8") continue;
    EXPECT_TRUE(all_matches(file.content, std::regex(R"re((<script[^>]*>)[^<])re")).empty());
    EXPECT_TRUE(
        all_matches(file.content, std::regex(R"re((<style|\sstyle=|\son[a-z]+=))re")).empty());
  }
}

TEST(PageFiles, EveryFileHasItsType) {
  for (const PageFile& file : page_files()) {
    const std::string_view expected = file.path.ends_with(".js") ? "text/javascript; charset=utf-8"
                                      : file.path.ends_with(".css") ? "text/css; charset=utf-8"
                                                                    : file.type;
    EXPECT_EQ(file.type, expected) << file.path;
  }
}

TEST(DemoWard, SameSeedSamePatients) {
  const Dataset a = ward_history(6, 3), b = ward_history(6, 3), c = ward_history(6, 4);
  EXPECT_EQ(a.value, b.value);
  EXPECT_NE(a.value, c.value);
  EXPECT_EQ(a.size(), 6u);
  EXPECT_TRUE(a.time_axis.is_calendar());
}

TEST(DemoWard, PatientsAreIrregularAndPartlyObserved) {
  Patient patient(5, 0);
  double before = 0, shortest = 10, longest = 0;
  std::size_t rounds = 0, values = 0;
  for (Round round = patient.next(); round.minute < 240; round = patient.next(), ++rounds) {
    shortest = std::min(shortest, round.minute - before);
    longest = std::max(longest, round.minute - before);
    before = round.minute;
    for (const auto& value : round.values) values += value.has_value();
  }
  EXPECT_GT(longest, 5 * shortest);
  EXPECT_GT(values, rounds);
  EXPECT_LT(values, 4 * rounds);
}

TEST(DemoWard, AnIllnessThatIsWantedComes) {
  // Whatever the illness is, at its height it moves a feature by more than it wanders.
  for (std::uint64_t number = 0; number < 20; ++number) {
    Patient ill(7, number, 30.0);
    std::array<double, kWardFeatures.size()> before{}, after{};
    std::array<int, kWardFeatures.size()> n_before{}, n_after{};
    for (Round round = ill.next(); round.minute < 54; round = ill.next())
      for (std::size_t j = 0; j < kWardFeatures.size(); ++j) {
        if (!round.values[j]) continue;
        if (round.minute < 30) before[j] += *round.values[j], ++n_before[j];
        if (round.minute > 48) after[j] += *round.values[j], ++n_after[j];
      }
    double largest = 0;
    const std::array<double, 3> wanders = {4, 3.2, 0.5};
    for (std::size_t j = 0; j < wanders.size(); ++j)
      if (n_before[j] && n_after[j])
        largest = std::max(largest,
                           std::abs(after[j] / n_after[j] - before[j] / n_before[j]) / wanders[j]);
    EXPECT_GT(largest, 1.5) << "patient " << number;
  }
}

TEST(DemoWard, MonitorsMakeEveryMistake) {
  std::map<Delivery::Fault, int> faults;
  double longest_gap = 0;
  for (std::uint64_t number = 0; number < 8; ++number) {
    Feed feed(9, number);
    double heard = 0;
    for (Feed::Next next = feed.next(); next.minute < 600; next = feed.next()) {
      if (next.deliveries.empty()) continue;
      longest_gap = std::max(longest_gap, next.minute - heard);
      heard = next.minute;
      for (const Delivery& delivery : next.deliveries) {
        ++faults[delivery.fault];
        const double least = delivery.fault == Delivery::Fault::late ? 0.5 : 0.0;
        EXPECT_GE(delivery.arrives, delivery.round.minute + least);
      }
      if (next.deliveries.size() == 2) {
        const auto& [first, second] = std::pair(next.deliveries[0], next.deliveries[1]);
        EXPECT_EQ(first.round.minute, second.round.minute);
        EXPECT_EQ(first.round.values == second.round.values,
                  second.fault == Delivery::Fault::doubled);
      }
    }
  }
  EXPECT_EQ(faults.size(), 5u);
  for (const auto& [fault, count] : faults) EXPECT_GT(count, 10) << static_cast<int>(fault);
  EXPECT_GT(longest_gap, 4.0);  // minutes without contact
}

// What a program wrote to both of its outputs, and its exit code.
std::pair<std::string, int> run(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string text;
  std::array<char, 4096> part;
  while (const std::size_t size = fread(part.data(), 1, part.size(), pipe))
    text.append(part.data(), size);
  const int status = pclose(pipe);
  return {text, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

TEST(Demo, TellsItsAddressAndLeavesNothingBehind) {
  const TemporaryFolder folder;
  const auto [text, code] = run("TMPDIR=" + folder.path().string() + " " + EDICT_SERVER +
                                " demo --training 1 --streams 3 --for 1");
  EXPECT_EQ(code, 0) << text;
  EXPECT_NE(text.find("\nhttp://127.0.0.1:"), std::string::npos) << text;
  EXPECT_NE(text.find("rounds of measurements"), std::string::npos) << text;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace edict::server
