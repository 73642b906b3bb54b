#include "ask/stream.h"

#include <cstdio>

int main(int, char** argv) {
  edict::Stream stream(edict::load_model(argv[1]));
  const edict::Observation first[] = {{0, 0.42}, {2, -1.1}};  // {feature, value}
  stream.observe(0.30, first);
  for (double t : {0.30, 1.0, 3.0}) {
    const edict::Marginal x1 = stream.distribution(t)[0];
    std::printf("t %.1f: x1 = %.2f, aleatoric %.3f, epistemic %.3f\n", t, x1.mean, x1.aleatoric,
                x1.epistemic);
  }
}
