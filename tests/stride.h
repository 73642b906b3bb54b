// For tests that try every entry or every byte in turn.
#pragma once

namespace edict {

// A sanitizer looks at what is touched, which is the same for most of them, and takes ten times as
// long: there they try one of seven.
#ifdef EDICT_SANITIZED
inline constexpr int kStride = 7;
#else
inline constexpr int kStride = 1;
#endif

}  // namespace edict
