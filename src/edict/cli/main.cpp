#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

#include "edict/cli/command.h"
#include "edict/core/error.h"
#include "edict/core/processor.h"
#include "edict/model/config.h"
#include "edict/study/source_hash.h"

int main(int argc, char** argv) {
  CLI::App app("edict: evidential distributions in continuous time for irregular time series");
  app.require_subcommand(1);
  app.set_version_flag(
      "--version", fmt::format("edict " EDICT_VERSION " ({}), sources {}", edict::processor_level(),
                               edict::study::source_hash().substr(0, 12)));
  app.get_formatter()->column_width(34);
  edict::cli::add_generate(app);
  edict::cli::add_import(app);
  edict::cli::add_info(app);
  edict::cli::add_train(app);
  edict::cli::add_evaluate(app);
  edict::cli::add_predict(app);
  edict::cli::add_plot(app);
  edict::cli::add_classify(app);
  edict::cli::add_stress(app);
  edict::cli::add_search(app);
  edict::cli::add_reproduce(app);
  try {
    std::vector<std::string_view> known;
    for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
    if (argc > 1 && argv[1][0] != '-' &&
        std::find(known.begin(), known.end(), argv[1]) == known.end())
      throw edict::Error(fmt::format("unknown command '{}'; did you mean '{}'?", argv[1],
                                     edict::settings::nearest(argv[1], known)));
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help and --version
    return app.exit(e);
  } catch (const edict::cli::Exit& e) {
    return e.code;
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "edict: {}; try --help\n", e.what());
    return 2;
  } catch (const edict::Error& e) {
    fmt::print(stderr, "edict: {}\n", e.what());
    return 2;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "edict: out of memory; lower train.batch, train.chunk or model.hidden\n");
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "edict: unexpected: {}\n", e.what());
    return 1;
  }
}
