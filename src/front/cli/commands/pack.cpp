#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "base/text/counted.h"
#include "data/read/packed_source.h"
#include "front/cli/command.h"
#include "front/cli/given_data.h"
#include "front/cli/terminal/progress.h"

namespace edict::cli {
namespace {

struct PackArguments {
  std::string data, out, like;
  std::size_t memory = 512;  // megabytes
  ReadOptions reading;
};

void run(PackArguments options) {
  check_files({options.data, options.like}, {options.out});
  if (!options.like.empty()) {
    const Model model = load_model(options.like);
    if (!model.reading.time.empty())
      options.reading.like = KnownReading{model.reading, model.time_axis};
  }
  Progress progress("packing");
  progress.begin();
  const PackedCounts packed =
      pack_table(options.data, options.reading, options.out, options.memory << 20);
  progress.end();
  print_notes(packed.recognised);
  std::error_code none;
  const auto bytes = std::filesystem::file_size(options.out, none);
  fmt::print(text_stream({options.out}), "{}: {} series, {}, {}{}\n", shown(options.out),
             packed.series, counted(packed.events, "event"),
             counted(packed.observations, "observation"),
             none ? std::string() : fmt::format(", {:.1f} MB", static_cast<double>(bytes) / 1e6));
}

}  // namespace

void add_pack(CLI::App& app) {
  auto options = std::make_shared<PackArguments>();
  CLI::App* command = app.add_subcommand(
      "pack", "Turn a table of any size into a file that opens at once (docs/how-to/scale.md)");
  command->add_option("data", options->data, "the table; - is standard input")
      ->required()
      ->type_name("DATA");
  add_output(*command, "--out", options->out,
             "where to write; every command takes it in place of the table")
      ->required()
      ->type_name("FILE.edict");
  command
      ->add_option("--like", options->like,
                   "a model: read the table as its training data were, with its categories")
      ->type_name("MODEL");
  command
      ->add_option("--memory", options->memory,
                   "megabytes for rows; what does not fit waits in files beside --out. Ids, labels "
                   "and static covariates stay in memory")
      ->check(within(1, 1 << 20))
      ->capture_default_str();
  add_reading(*command, options->reading);
  command->callback([options] { run(*options); });
}

}  // namespace edict::cli
