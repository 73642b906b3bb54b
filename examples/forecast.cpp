// From a table to forecasts with 90 % intervals: forecast export.csv
#include <cstdio>
#include <vector>

#include "edict/edict.hpp"

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s TABLE.csv\n", argv[0]);
    return 2;
  }
  const auto data = edict::Dataset::read(argv[1]);
  const auto model = edict::Model::train(data, {.settings = {"train.epochs=20"}});

  const std::vector<double> horizons = {1, 6};  // after each series' last observation
  const edict::Forecast forecast = model.predict_ahead(data, horizons);
  for (std::size_t i = 0; i < forecast.ids.size(); ++i)
    for (std::size_t k = 0; k < horizons.size(); ++k)
      for (std::size_t j = 0; j < forecast.features.size(); ++j) {
        const edict::Distribution found = forecast.at(i, k, j);
        const auto [lower, upper] = found.interval(0.9);
        std::printf("%s in %g: %s = %.3g, from %.3g to %.3g (aleatoric %.2g, epistemic %.2g)\n",
                    forecast.ids[i].c_str(), horizons[k], forecast.features[j].c_str(), found.mean,
                    lower, upper, found.aleatoric_deviation(), found.epistemic_deviation());
      }
} catch (const edict::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.code();
}
