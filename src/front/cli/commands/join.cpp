#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/text/counted.h"
#include "front/cli/command.h"
#include "front/cli/shard.h"

namespace edict::cli {
namespace {

// One output of --shard, row by row.
class SharedRows {
 public:
  explicit SharedRows(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) throw_system_error(errno, path + ": cannot be read; check the path");
    if (!read_row()) fail("is empty; give what --shard wrote");
    try {
      shard = shard_of_column(number_);
    } catch (const Error& error) {
      fail(error.message(command_line_option));
    }
    header = row;
  }

  // Goes to the next row; false at the end.
  bool next() {
    const std::size_t before = series;
    const bool first = !begun_;
    begun_ = true;
    if (!read_row()) return false;
    const auto [end, error] =
        std::from_chars(number_.data(), number_.data() + number_.size(), series);
    if (error != std::errc() || end != number_.data() + number_.size())
      fail(fmt::format("row {} does not end with the number of its series; was the file edited?",
                       rows_));
    if (!first && series < before)
      fail(fmt::format("row {}: its series are not in order; was the file sorted?", rows_));
    return true;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("{}: {}", path_, what));
  }
  const std::string& path() const { return path_; }

  Shard shard;
  std::string header;
  std::string row;  // without the number of its series
  std::size_t series = 0;

 private:
  // A cell in quotes may hold line ends.
  bool read_row() {
    row.clear();
    bool open = false;
    for (std::string line; std::getline(file_, line);) {
      row += line;
      open ^= std::count(line.begin(), line.end(), '"') % 2 == 1;
      if (!open) {
        ++rows_;
        const std::size_t comma = row.rfind(',');
        if (comma == std::string::npos) fail("has a single column; give what --shard wrote");
        number_ = row.substr(comma + 1);
        row.resize(comma);
        return true;
      }
      row += '\n';
    }
    if (file_.bad()) throw MachineError(fmt::format("{}: cannot be read to its end", path_));
    if (open || !row.empty()) fail("ends in the middle of a row; write it again");
    return false;
  }

  std::string path_;
  std::ifstream file_;
  std::string number_;
  std::size_t rows_ = 0;
  bool begun_ = false;
};

void check_parts(const std::vector<std::unique_ptr<SharedRows>>& parts) {
  std::set<std::size_t> there;
  const SharedRows& first = *parts.front();
  for (const auto& part : parts) {
    if (part->shard.count != first.shard.count)
      part->fail(fmt::format("is one of {} shares, and {} is one of {}; give those of one --shard",
                             part->shard.count, first.path(), first.shard.count));
    if (part->header != first.header)
      part->fail(
          fmt::format("has other columns than {}; give what one command wrote", first.path()));
    if (!there.insert(part->shard.number).second)
      part->fail(fmt::format("is share {} of {}, as another file is too; give each once",
                             part->shard.number, part->shard.count));
  }
  for (std::size_t k = 1; k <= first.shard.count; ++k)
    if (!there.contains(k))
      throw Error(fmt::format("share {} of {} is missing; give the outputs of all of them", k,
                              first.shard.count));
}

void run(const std::vector<std::string>& inputs, const std::string& out) {
  check_files(inputs, {out});
  std::vector<std::unique_ptr<SharedRows>> parts;
  for (const std::string& path : inputs) parts.push_back(std::make_unique<SharedRows>(path));
  check_parts(parts);
  AtomicFile file(out);
  file.write(parts.front()->header + "\n");
  std::size_t rows = 0;
  // The part whose next row is of the lowest series; a series is in one part only.
  const auto later = [](const SharedRows* a, const SharedRows* b) { return a->series > b->series; };
  std::vector<SharedRows*> heap;
  for (const auto& part : parts)
    if (part->next()) heap.push_back(part.get());
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    SharedRows* const part = heap.back();
    const std::size_t series = part->series;
    bool more = true;
    for (; more && part->series == series; ++rows) {
      file.write(part->row);
      file.write("\n");
      more = part->next();
    }
    if (more)
      std::push_heap(heap.begin(), heap.end(), later);
    else
      heap.pop_back();
    if (!heap.empty() && heap.front()->series == series)
      heap.front()->fail(fmt::format("has rows of series {} (counted from 0), and so has {}",
                                     series, part->path()));
  }
  file.commit();
  fmt::print(text_stream({out}), "{}: {} from {}\n", shown(out), counted(rows, "row"),
             counted(parts.size(), "share"));
}

}  // namespace

void add_join(CLI::App& app) {
  struct Options {
    std::vector<std::string> parts;
    std::string out;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("join", "Put the outputs of --shard together as one run would write them");
  command->add_option("parts", options->parts, "the outputs of all shares, in any order")
      ->required()
      ->type_name("FILE...");
  add_output(*command, "--out", options->out, "where to write; - is standard output")
      ->required()
      ->type_name("FILE");
  command->callback([options] { run(options->parts, options->out); });
}

}  // namespace edict::cli
