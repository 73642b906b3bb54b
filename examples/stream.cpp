// One series, reading by reading: stream ward.model
#include <cstdio>
#include <vector>

#include "edict/edict.hpp"

int main(int, char** argv) try {
  edict::Stream stream(edict::Model::load(argv[1]));
  stream.observe(0.30, std::vector<edict::Observation>{{0, 0.42}, {2, -1.1}});  // feature, value
  for (const double t : {0.30, 1.0, 3.0}) {
    const edict::Distribution x1 = stream.predict(t)[0];
    std::printf("t %.1f: x1 = %.2f, aleatoric %.3f, epistemic %.3f\n", t, x1.mean,
                x1.aleatoric_deviation(), x1.epistemic_deviation());
  }
} catch (const edict::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.code();
}
