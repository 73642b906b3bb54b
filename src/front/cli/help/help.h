// The help texts, wrapped to a terminal of 80 columns.
#pragma once

#include <CLI/App.hpp>
#include <memory>

namespace edict::cli {

std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace edict::cli
