#include <fmt/core.h>

int main() { fmt::print("edict\n"); }
