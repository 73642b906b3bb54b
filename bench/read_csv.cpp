// read_csv_bench FILE [REPEATS]: reads the file and prints, as JSON, what it holds and the best
// time. read_csv_bench --generate FILE SERIES: writes Synthetic data and prints how long writing
// took.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.h"
#include "data/read/csv/csv.h"
#include "research/import/synthetic.h"

namespace {

// Of the processor, not of the wall: both readers compared run on one thread, and a busy machine
// then disturbs less.
double seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void generate(const std::string& path, std::size_t series) {
  const edict::Dataset dataset = edict::generate_synthetic(series, 0);
  const double start = seconds();
  edict::write_csv(dataset, path);
  fmt::print("{{\"observations\": {}, \"seconds\": {}}}\n", dataset.observations(),
             seconds() - start);
}

void read(const std::string& path, int repeats) {
  double best = std::numeric_limits<double>::infinity();
  edict::Dataset dataset;
  for (int i = 0; i < repeats; ++i) {
    dataset = {};
    const double start = seconds();
    dataset = edict::read_csv(path);
    best = std::min(best, seconds() - start);
  }
  long double times = 0.0, values = 0.0;
  for (const double time : dataset.times) times += time;
  for (const double value : dataset.value) values += value;
  fmt::print(
      "{{\"series\": {}, \"events\": {}, \"observations\": {}, \"time_sum\": {}, \"value_sum\": "
      "{}, "
      "\"seconds\": {}}}\n",
      dataset.size(), dataset.events(), dataset.observations(), static_cast<double>(times),
      static_cast<double>(values), best);
}

}  // namespace

int main(int count, char** arguments) try {
  if (count == 4 && std::string_view(arguments[1]) == "--generate")
    generate(arguments[2], std::stoul(arguments[3]));
  else if (count == 2 || count == 3)
    read(arguments[1], count == 3 ? std::stoi(arguments[2]) : 5);
  else
    throw edict::Error("usage: read_csv_bench FILE [REPEATS] | --generate FILE SERIES");
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
