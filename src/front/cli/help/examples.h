// What stands around the options in a command's help and manual page: examples that the tests run.
#pragma once

#include <CLI/App.hpp>

namespace edict::cli {

// Gives every command its examples, and the commands their order in groups.
void add_examples(CLI::App& app);

}  // namespace edict::cli
