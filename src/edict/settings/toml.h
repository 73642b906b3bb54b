// toml++ as it is used here. It asserts that a key begins like one before it has looked at all of a
// malformed file; without the assertion, as in a release, it goes on to its own error.
#pragma once

#define TOML_ASSERT(condition) static_cast<void>(0)

#include <toml++/toml.h>  // NOLINT: after the definition above
