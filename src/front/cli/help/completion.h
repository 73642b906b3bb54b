// What can be typed next: for the scripts with which bash, zsh and fish ask the program itself, so
// that they know what it knows.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace edict::cli {

struct Completions {
  struct Candidate {
    std::string text, help;
    bool operator==(const Candidate&) const = default;
  };
  std::vector<Candidate> candidates;
  bool files = false;  // and whatever file or folder is there
};

// `words` are those after the program's name; the last one, which may be empty, is being typed.
Completions completions(const CLI::App& app, const std::vector<std::string>& words);

// The command line behind the scripts: `edict __complete WORD…` prints a candidate a line, after a
// tab what it means, and ":files" where files are wanted too.
inline constexpr const char* kCompleteCommand = "__complete";
void print_completions(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace edict::cli
