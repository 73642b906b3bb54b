// Every command registers itself with the parser; its callback does the work through the library.
#pragma once

#include <CLI/App.hpp>
#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "edict/engine/guard.h"
#include "edict/model/config.h"

namespace edict::cli {

void add_generate(CLI::App& app);
void add_import(CLI::App& app);
void add_search(CLI::App& app);
void add_info(CLI::App& app);
void add_train(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_predict(CLI::App& app);
void add_plot(CLI::App& app);
void add_classify(CLI::App& app);
void add_stress(CLI::App& app);
void add_reproduce(CLI::App& app);

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

// Set by Ctrl-C; a second one ends the program at once.
const std::atomic<bool>& interrupt_flag();

// Refuses early, before hours of work, if `path` could not be written.
void check_writable(const std::filesystem::path& path);

}  // namespace edict::cli
