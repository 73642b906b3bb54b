// `edict-server demo`, which is what `edict demo` starts.
#pragma once

#include <CLI/App.hpp>

namespace edict::server {

// `code`: the program's, 130 after Ctrl-C.
void add_demo(CLI::App& app, int& code);

}  // namespace edict::server
