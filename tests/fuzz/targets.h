// What strangers can hand to edict, each as a function of bytes: it must end, or throw Error, and
// what it accepts must keep its own promises. libfuzzer.cpp looks for bytes that break one;
// replay_test.cpp repeats what was found and mutates what is valid, as part of every test.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edict::fuzz {

struct Target {
  const char* name;
  // Throws std::logic_error where a promise is broken; whatever else escapes is a finding as well.
  void (*run)(std::string_view bytes);
  // Valid inputs to begin with.
  std::vector<std::string> (*seeds)();
};

// One program of libFuzzer each: a program searches the faster the less is in it.
std::vector<Target> table_targets();
std::vector<Target> file_targets();
std::vector<Target> server_targets();
std::vector<Target> call_targets();

}  // namespace edict::fuzz
