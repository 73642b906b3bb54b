/* From arrays to a forecast in C: some series, a small model, what it expects, and a stream. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "edict/edict.h"

enum { kSeries = 60, kRows = 20 };

static void check(int code) {
  if (code == EDICT_OK) return;
  fprintf(stderr, "%s\n", edict_last_error());
  exit(code);
}

int main(void) {
  static char names[kSeries][16];
  const char* ids[kSeries];
  const char* features[] = {"level", "flow"};
  int64_t series[kSeries * kRows];
  double times[kSeries * kRows], level[kSeries * kRows], flow[kSeries * kRows];

  /* A row an event: the level is read every time, the flow every third time. */
  for (int i = 0; i < kSeries; ++i) {
    snprintf(names[i], sizeof names[i], "tank%02d", i);
    ids[i] = names[i];
    for (int r = 0; r < kRows; ++r) {
      const int row = i * kRows + r;
      series[row] = i;
      times[row] = 0.5 * r + 0.01 * i;
      level[row] = sin(times[row] + 0.1 * i);
      flow[row] = r % 3 == 0 ? cos(times[row]) : NAN;
    }
  }
  const double* columns[] = {level, flow};

  edict_builder* builder;
  edict_dataset* data;
  check(edict_builder_new(kSeries, ids, 2, features, &builder));
  check(edict_builder_rows(builder, kSeries * kRows, series, times, columns, NULL));
  check(edict_builder_dataset(builder, EDICT_DUPLICATES_REFUSE, &data));
  edict_builder_free(builder);

  const char* settings[] = {"train.epochs=3", "train.batch=16", "model.hidden=8",
                            "model.step=0.25"};
  const edict_training training = {.assignments = 4, .assignment = settings, .threads = 1};
  edict_model* model;
  check(edict_train(data, &training, sizeof training, NULL, &model));

  /* Every series at noon, two hours after its last reading. */
  const double ahead[] = {12.0};
  double mean[kSeries * 2], scale[kSeries * 2];
  check(edict_model_predict(model, data, 1, ahead, 0, INFINITY, NULL, 1, NULL, mean, NULL, NULL,
                            scale, NULL, NULL));
  printf("%s at 12: level %.2f (scale %.2f), flow %.2f (scale %.2f)\n", ids[0], mean[0], scale[0],
         mean[1], scale[1]);

  /* The same, reading by reading. */
  edict_streams* stream;
  check(edict_streams_new(model, 1, NULL, NULL, NULL, &stream));
  const int64_t first = 0;
  for (int r = 0; r < kRows; ++r) {
    const double row[] = {level[r], flow[r]};
    check(edict_streams_observe_rows(stream, 1, &first, &times[r], row));
  }
  double streamed[2];
  check(edict_streams_predict(stream, 1, &first, ahead, streamed, NULL, NULL, NULL, NULL));
  printf("as a stream: level %.2f, flow %.2f\n", streamed[0], streamed[1]);
  const int same = streamed[0] == mean[0] && streamed[1] == mean[1];

  edict_streams_free(stream);
  edict_model_free(model);
  edict_dataset_free(data);
  return same ? 0 : 1;
}
