#include "base/processor.h"

#include <gtest/gtest.h>

#include <string>

#include "base/lanes.h"

namespace edict {
namespace {

// The library and these tests are compiled alike, so that what it says of itself must fit the
// registers that a header sees here.
TEST(Processor, LevelAgreesWithTheRegisters) {
  const std::string level = processor_level();
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
  EXPECT_EQ(level, "x86-64-v4");
  EXPECT_EQ(kVectorBytes, 64);
#elif defined(__AVX2__) && defined(__FMA__)
  EXPECT_EQ(level, "x86-64-v3");
  EXPECT_EQ(kVectorBytes, 32);
#elif defined(__x86_64__)
  EXPECT_EQ(level, "x86-64");
#else
  EXPECT_EQ(level, "generic");
#endif
}

// Compiled for a processor that has more than this one, nothing would run at all.
TEST(Processor, TheMachineHasWhatItWasCompiledFor) {
#if defined(__x86_64__)
  const std::string level = processor_level();
  __builtin_cpu_init();
  if (level == "x86-64-v4") {
    EXPECT_TRUE(__builtin_cpu_supports("avx512f"));
    EXPECT_TRUE(__builtin_cpu_supports("avx512bw"));
  }
  if (level == "x86-64-v3") {
    EXPECT_TRUE(__builtin_cpu_supports("avx2"));
    EXPECT_TRUE(__builtin_cpu_supports("fma"));
  }
#endif
}

}  // namespace
}  // namespace edict
