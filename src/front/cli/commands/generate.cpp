#include <fmt/core.h>

#include "base/json/json.h"
#include "base/text/counted.h"
#include "data/read/csv/csv.h"
#include "front/cli/command.h"
#include "front/cli/data_json.h"
#include "research/import/synthetic.h"

namespace edict::cli {

void add_generate(CLI::App& app) {
  struct Options {
    std::string out, json;
    std::size_t series = 10000;
    std::uint64_t seed = 0;
  };
  auto options = std::make_shared<Options>();
  CLI::App* generate = app.add_subcommand("generate", "Write built-in data as CSV");
  generate->require_subcommand(1);
  CLI::App* command = generate->add_subcommand(
      "synthetic", "The paper's Synthetic data: three decaying waves, two classes");
  add_output(*command, "--out", options->out, "where to write; - is standard output")
      ->required()
      ->type_name("DATA.csv");
  command->add_option("--series", options->series, "how many series")
      ->capture_default_str()
      ->check(within(1, 100000000));
  command->add_option("--seed", options->seed, "same seed, same data")->capture_default_str();
  add_json(*command, options->json);
  command->callback([options] {
    check_files({}, {options->out, options->json});
    const Dataset data = generate_synthetic(options->series, options->seed);
    write_csv(data, options->out);
    fmt::print(text_stream({options->out, options->json}), "{}: {} series, {}, {}\n",
               shown(options->out), data.size(), counted(data.events(), "event"),
               counted(data.observations(), "observation"));
    if (!options->json.empty()) write_json(options->json, data_json(options->out, data));
  });
}

}  // namespace edict::cli
