// The last line of a program that failed.
#pragma once

namespace edict {
class Error;
}

namespace edict::cli {

// Prints what went wrong, as one line on standard error, and returns the exit code: `code`, or that
// of a signal, because a failure after a signal is a consequence of it. Allocates nothing: there
// may be no memory left.
int failed(int code, const char* what, const char* more = "");
// The same of an Error: 1 where the machine is at fault, else 2.
int failed(const Error& error);

}  // namespace edict::cli
