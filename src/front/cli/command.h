// Every command registers itself with the parser; its callback does the work through the library.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/jump/guard.h"
#include "front/cli/outputs.h"
#include "front/cli/terminal/interrupt.h"
#include "model/config.h"

namespace edict::cli {

// All of them.
void add_commands(CLI::App& app);

// Parses the command line and runs its command. Throws Error, with the command that was probably
// meant, where there is none of this name.
void run_command_line(CLI::App& app, int argc, const char* const* argv);

void add_generate(CLI::App& app);
void add_import(CLI::App& app);
void add_pack(CLI::App& app);
void add_search(CLI::App& app);
void add_info(CLI::App& app);
void add_init(CLI::App& app);
void add_settings(CLI::App& app);
void add_train(CLI::App& app);
void add_calibrate(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_predict(CLI::App& app);
void add_impute(CLI::App& app);
void add_join(CLI::App& app);
void add_explore(CLI::App& app);
void add_classify(CLI::App& app);
void add_stress(CLI::App& app);
void add_reproduce(CLI::App& app);
void add_benchmark(CLI::App& app);
void add_serve(CLI::App& app);
void add_demo(CLI::App& app);
void add_help(CLI::App& app);
void add_man(CLI::App& app);
void add_completion(CLI::App& app);

// Thrown to leave with a code of its own when everything has been said.
struct Exit {
  int code;
};

// Options that several commands share.
struct ConfigOptions {
  std::string file;
  std::vector<std::string> assignments;

  void add_to(CLI::App& command);
  Config resolve() const;
};
struct GuardOptions {
  std::string kind = "none", sigma = "epistemic";
  double eta = 1.96;

  void add_to(CLI::App& command);
  Guard resolve() const;
};
void add_threads(CLI::App& command, int& threads);
// --level of an interval.
void add_level(CLI::App& command, double& level, const std::string& help);

// What an option's number must be, which the help shows and a message says.
CLI::Validator within_integers(std::int64_t least, std::int64_t most);
CLI::Validator within_numbers(double least, double most);
template <class T>
CLI::Validator within(T least, T most) {
  if constexpr (std::is_floating_point_v<T>)
    return within_numbers(least, most);
  else
    return within_integers(static_cast<std::int64_t>(least), static_cast<std::int64_t>(most));
}
CLI::Validator positive();
CLI::Validator one_of(std::vector<std::string> words);

// "95 is not between 0 and 1; did you mean 0.95?", of a number between 1 and 100.
std::string percent_for_share(double percent);

// "12 of 300 observations were clipped (4.0 %)".
std::string clipped_text(std::size_t clipped, std::size_t observations);

}  // namespace edict::cli
