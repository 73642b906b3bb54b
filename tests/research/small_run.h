// A run of a small model, over in a fraction of a second.
#pragma once

#include "research/run.h"

namespace edict::study {

inline RunSpec small_run() {
  RunSpec spec;
  spec.data.name = spec.data.title = "synthetic";
  spec.data_path = "../../data.csv";
  spec.method = "EDICT (small)";
  spec.config.data.t_cut = 9.42;
  spec.config.model.hidden = 6;
  spec.config.model.head_hidden = 4;
  spec.config.model.encoder_width = 3;
  spec.config.model.step = 0.5;
  spec.config.train.epochs = 2;
  spec.config.train.batch = 8;
  spec.guards = {{}, {Guard::Kind::edgr}};
  spec.levels = {0, 6};
  spec.seeds = {0, 1};
  return spec;
}

}  // namespace edict::study
