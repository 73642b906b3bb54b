// Which processors this library was compiled for.
#pragma once

namespace edict {

// The level of x86-64 (x86-64, x86-64-v3, x86-64-v4), or "generic" on another architecture.
const char* processor_level();

}  // namespace edict
