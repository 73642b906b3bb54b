// The command `serve` of edict-server.
#pragma once

#include <CLI/CLI.hpp>

namespace edict::server {

// `code`: the exit code once it has run.
void add_serve(CLI::App& app, int& code);

}  // namespace edict::server
