/* A program that uses all of edict.h and goes on where there is no memory: what fails for want of
   it is asked once more, and left out where it fails again. Ends with 0, or with 3 and a line where
   a function fails otherwise. Prints a sum of all answers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edict/edict.h"

enum { kSeries = 12, kRows = 5, kFeatures = 2, kTimes = 2, kEvents = kSeries * kRows };

static double sum;  /* of all answers */
static int missing; /* something failed twice */

#define TRY(call) (tried(call) || tried(call) || (missing = 1, 0))

static int tried(int code) {
  if (code == EDICT_OK) return 1;
  if (code != EDICT_MEMORY) {
    char line[512];
    snprintf(line, sizeof line, "code %d: %s\n", code, edict_last_error());
    fputs(line, stderr);
    _Exit(3);
  }
  return 0;
}

static void add_bytes(edict_bytes* bytes) {
  const unsigned char* data = edict_bytes_data(bytes);
  for (size_t i = 0; i < edict_bytes_size(bytes); ++i) sum += data[i];
  edict_bytes_free(bytes);
}

static void add(const double* values, int count) {
  for (int i = 0; i < count; ++i)
    if (!isnan(values[i])) sum += values[i];
}

/* A call that makes `bytes`. */
#define ADD_BYTES(call)              \
  do {                               \
    edict_bytes* bytes = NULL;       \
    if (TRY(call)) add_bytes(bytes); \
  } while (0)

static void ask_dataset(const edict_dataset* data) {
  edict_dataset_size sizes;
  uint64_t fingerprint;
  if (TRY(edict_dataset_sizes(data, &sizes, sizeof sizes))) sum += (double)sizes.observations;
  if (TRY(edict_dataset_fingerprint(data, &fingerprint))) sum += (double)(fingerprint % 1000);
  for (int which = EDICT_NAMES_SERIES; which <= EDICT_NAMES_GROUPS; ++which)
    ADD_BYTES(edict_dataset_names(data, which, &bytes));
  ADD_BYTES(edict_dataset_summary(data, &bytes));
  ADD_BYTES(edict_dataset_reading(data, &bytes));
  const int64_t some[] = {3, 1};
  edict_dataset* part = NULL;
  if (TRY(edict_dataset_subset(data, 2, some, INFINITY, &part)))
    ADD_BYTES(edict_dataset_summary(part, &bytes));
  edict_dataset_free(part);
}

static void ask_model(const edict_model* model, const edict_dataset* data) {
  static double mean[kEvents * kFeatures], scale[kEvents * kFeatures], dof[kEvents * kFeatures];
  const double times[kTimes] = {1.5, 4.0};
  const int asked = kSeries * kTimes * kFeatures;
  edict_model_size sizes;
  if (TRY(edict_model_sizes(model, &sizes, sizeof sizes))) sum += (double)sizes.parameters;
  ADD_BYTES(edict_model_info(model, &bytes));
  ADD_BYTES(edict_model_names(model, EDICT_NAMES_FEATURES, &bytes));
  ADD_BYTES(edict_model_match(model, data, &bytes));
  ADD_BYTES(edict_model_evaluate(model, data, "all", EDICT_SIDES_PAST, NULL, 1, NULL, &bytes));
  if (TRY(edict_model_predict(model, data, kTimes, times, EDICT_TIMES_COMMON, INFINITY, NULL, 1,
                              NULL, mean, NULL, NULL, scale, dof, NULL))) {
    add(mean, asked);
    double p[kSeries * kTimes * kFeatures];
    for (int i = 0; i < asked; ++i) p[i] = 0.9;
    if (TRY(edict_quantile(asked, mean, scale, dof, p, p))) add(p, asked);
  }
  if (TRY(edict_model_impute(model, data, kTimes, times, EDICT_SIDES_KNOWN, NULL, 1, NULL, mean,
                             scale)))
    add(mean, asked);
  if (TRY(edict_model_surprise(model, data, INFINITY, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL,
                               mean, NULL, NULL)))
    add(mean, kEvents);
  if (sizes.classes > 0 &&
      TRY(edict_model_probabilities(model, data, 0, NULL, NULL, 1, NULL, mean)))
    add(mean, kSeries * 2);
}

static void ask_streams(const edict_model* model) {
  const int64_t both[] = {0, 1};
  const double times[] = {0.5, 0.75}, later[] = {2.0, 2.5}, values[] = {0.1, 0.2, NAN, 0.3};
  double mean[2 * kFeatures];
  edict_streams* streams = NULL;
  if (TRY(edict_streams_new(model, 1, NULL, NULL, NULL, &streams)) &&
      TRY(edict_streams_add(streams, 1, NULL, NULL)) &&
      TRY(edict_streams_observe_rows(streams, 2, both, times, values)) &&
      TRY(edict_streams_predict(streams, 2, both, later, mean, NULL, NULL, NULL, NULL))) {
    add(mean, 2 * kFeatures);
    edict_bytes* state = NULL;
    if (TRY(edict_streams_save(streams, 0, &state)) &&
        TRY(edict_streams_restore(streams, 1, edict_bytes_data(state), edict_bytes_size(state))) &&
        TRY(edict_streams_predict(streams, 2, both, later, mean, NULL, NULL, NULL, NULL)))
      add(mean, 2 * kFeatures);
    edict_bytes_free(state);
  }
  edict_streams_free(streams);
}

static edict_dataset* built(void) {
  static char names[kSeries][8];
  const char *ids[kSeries], *features[kFeatures] = {"level", "flow"}, *classes[] = {"low", "high"};
  int64_t series[kEvents];
  int32_t labels[kSeries];
  double times[kEvents], level[kEvents], flow[kEvents];
  for (int i = 0; i < kSeries; ++i) {
    snprintf(names[i], sizeof names[i], "s%d", i);
    ids[i] = names[i];
    labels[i] = i % 2;
    for (int r = 0; r < kRows; ++r) {
      const int row = i * kRows + r;
      series[row] = i;
      times[row] = r + 0.1 * i;
      level[row] = sin(times[row] + i);
      flow[row] = r % 2 ? cos(times[row]) : NAN;
    }
  }
  const double* columns[kFeatures] = {level, flow};
  edict_builder* builder = NULL;
  edict_dataset* data = NULL;
  /* A builder whose rows were half taken is not asked again: a new one is. */
  for (int attempt = 0; attempt < 2 && !data; ++attempt) {
    edict_builder_free(builder);
    builder = NULL;
    if (tried(edict_builder_new(kSeries, ids, kFeatures, features, &builder)) &&
        tried(edict_builder_rows(builder, kEvents, series, times, columns, NULL)) &&
        tried(edict_builder_labels(builder, 2, classes, labels)) &&
        tried(edict_builder_reading(builder, "{}")))
      tried(edict_builder_dataset(builder, EDICT_DUPLICATES_REFUSE, &data));
  }
  edict_builder_free(builder);
  return data;
}

int main(void) {
  static char out[256];
  setvbuf(stdout, out, _IOFBF, sizeof out);
  const char* tiny[] = {"train.epochs=1",      "train.batch=8",         "model.hidden=3",
                        "model.head_hidden=3", "model.encoder_width=2", "model.step=0.5"};
  const char* quick[] = {"classify.epochs=1"};
  const int settings = sizeof tiny / sizeof *tiny;
  const int64_t seed = 1;
  edict_control* control = NULL;
  edict_dataset* read = NULL;
  edict_model *model = NULL, *loaded = NULL, *again = NULL, *classifier = NULL, *calibrated = NULL;

  edict_dataset* data = built();
  if (!data) missing = 1;
  ADD_BYTES(edict_settings(&bytes));
  if (data) {
    ask_dataset(data);
    ADD_BYTES(edict_fit_settings(data, settings, tiny, &bytes));
    if (TRY(edict_dataset_write(data, "data.csv")) &&
        TRY(edict_dataset_read("data.csv", "{\"label\": \"label\"}", NULL, &read)))
      ask_dataset(read);
    TRY(edict_control_new(&control));
    const edict_training training = {.assignments = settings, .assignment = tiny, .threads = 1};
    TRY(edict_train(data, &training, sizeof training, control, &model));
    ADD_BYTES(edict_cross_validate(data, &training, sizeof training, 2, control, &bytes));
  }
  if (model) {
    ask_model(model, data);
    ask_streams(model);
    if (TRY(edict_calibrate(model, data, NULL, 1, NULL, &calibrated))) ask_streams(calibrated);
    edict_bytes* bytes = NULL;
    if (TRY(edict_model_to_bytes(model, &bytes)) &&
        TRY(edict_model_from_bytes(edict_bytes_data(bytes), edict_bytes_size(bytes), &again)))
      ask_streams(again);
    edict_bytes_free(bytes);
    if (TRY(edict_model_save(model, "model")) && TRY(edict_model_load("model", &loaded)) &&
        TRY(edict_classify(loaded, data, 1, quick, 1, &seed, 1, control, &classifier)))
      ask_model(classifier, data);
  }
  edict_model_free(calibrated);
  edict_model_free(classifier);
  edict_model_free(again);
  edict_model_free(loaded);
  edict_model_free(model);
  edict_control_free(control);
  edict_dataset_free(read);
  edict_dataset_free(data);
  printf("%s %.17g\n", missing ? "in part" : "all", sum);
  return 0;
}
