/* The C interface of edict, for bindings of other languages and for programs in C. Plain C99.
 *
 * Conventions
 *
 * - A function that can fail returns a code: EDICT_OK, or what went wrong. edict_last_error() then
 *   tells in one line what is wrong, where, and what to do; it is the calling thread's own.
 * - Handles (edict_dataset, edict_model, ...) are opaque. A function that makes one writes it
 *   through its last argument, `out`, and only when it succeeds; whoever asked frees it with the
 *   function of its name, which takes NULL. A handle made from others does not need
 *   them any longer.
 * - The caller owns every array it passes. Nothing is kept after the call: neither what is read nor
 *   what is filled. Sizes that an array must have stand beside it, and come from a handle
 *   (edict_dataset_sizes, edict_model_sizes). An array to be filled may be NULL where it is not
 *   wanted.
 * - Texts are UTF-8 and end with a zero byte. Results without a size known before, as JSON or the
 *   bytes of a model, come as edict_bytes.
 * - Matrices are row by row: [a x b] means that b is next to each other. NaN is what was
 *   not observed.
 * - Indices count from 0; -1 is none. Times are numbers in a unit of the caller's choice.
 * - Where there was no memory, handles are as before the call, and the same may be asked again;
 * only an edict_builder is to be freed, and another one filled.
 * - No exception leaves a function, nothing is printed, no signal is touched. A handle may be read
 *   by several threads at once, except edict_streams and edict_builder, which belong to one thread
 *   at a time, and edict_control, which is made to be shared. Threads that a call starts end with
 *   it, so a process may fork between calls.
 * - `threads`: 0 means as many as the machine has. Results are the same bits for every number.
 *
 * Within a major version of EDICT_API functions and fields are added, never changed or removed.
 */
#ifndef EDICT_CAPI_EDICT_H
#define EDICT_CAPI_EDICT_H

/* NOLINTBEGIN(modernize-deprecated-headers,modernize-use-using): this is C. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define EDICT_EXPORT __attribute__((visibility("default")))
#else
#define EDICT_EXPORT
#endif

/* ---- general ------------------------------------------------------------------------------- */

#define EDICT_API 5 /* of this header; edict_api() tells the library's */

enum edict_code {
  EDICT_OK = 0,
  EDICT_FAULT = 1,       /* a defect of edict itself */
  EDICT_INPUT = 2,       /* what was given: data, settings, a file, an argument */
  EDICT_INTERRUPTED = 3, /* edict_control_stop was called */
  EDICT_MEMORY = 4,      /* the machine has not enough of it */
  EDICT_MACHINE = 5      /* a full or failing disk, no more files or threads; may succeed later */
};

EDICT_EXPORT const char* edict_version(void); /* "1.0.0" */
EDICT_EXPORT int edict_api(void);

/* Of the last function of this thread that failed; valid until the next one fails. */
EDICT_EXPORT const char* edict_last_error(void);

/* The same failure in parts. What kind of mistake it is, for callers that treat some otherwise: */
enum edict_error_kind {
  EDICT_ERROR_NONE = 0,        /* none of these: a defect, an interruption */
  EDICT_ERROR_INVALID = 1,     /* a value, a setting or a request that cannot be */
  EDICT_ERROR_MALFORMED = 2,   /* a file that cannot be read as what it is given for */
  EDICT_ERROR_MISMATCH = 3,    /* data and model that do not belong together */
  EDICT_ERROR_NOT_FOUND = 4,   /* a file, a series, a feature, a class or a setting */
  EDICT_ERROR_EXISTS = 5,      /* a file that would be replaced */
  EDICT_ERROR_UNSUPPORTED = 6, /* something that this kind of model or file cannot do */
  EDICT_ERROR_NOT_FINITE = 7,  /* numbers beyond single precision */
  EDICT_ERROR_MACHINE = 8      /* no space, memory, files or threads left, a disk that fails */
};
typedef struct edict_error {
  int32_t code, kind;  /* enum edict_code, enum edict_error_kind */
  const char* message; /* edict_last_error() */
  const char *subject, *place, *problem, *remedy; /* the file, the series, the setting; where in it;
                           what is wrong; what to do. "" where there is nothing to say; `problem` is
                           the message where it has no parts */
} edict_error;
/* Writes the first `size` bytes: give sizeof(edict_error). The texts are valid as long as
 * edict_last_error(). */
EDICT_EXPORT void edict_last_error_parts(edict_error* error, size_t size);

/* Bytes that the library owns; a text has a zero byte behind them, which is not counted. */
typedef struct edict_bytes edict_bytes;
EDICT_EXPORT const void* edict_bytes_data(const edict_bytes* bytes);
EDICT_EXPORT size_t edict_bytes_size(const edict_bytes* bytes);
EDICT_EXPORT void edict_bytes_free(edict_bytes* bytes);

/* Every setting, as a JSON list of objects:
 *   {"key": "train.epochs", "type": "whole number", "default": 100, "low": 1, "high": 1000000,
 *    "allowed": "a whole number from 1 to 1000000", "meaning": "passes over the training split"}
 * type: number, whole number, flag or choice (of "choices"); with "may_be_auto" a number may also
 * be the text "auto". Functions that take settings take them as "key=value", which they check: an
 * unknown key is an error that names the nearest known one. */
EDICT_EXPORT int edict_settings(edict_bytes** out);

/* ---- progress and stopping ----------------------------------------------------------------- */

/* What a long call tells while it runs, and how another thread stops it. One call at a time. */
typedef struct edict_control edict_control;

typedef struct edict_progress {
  double fraction;                 /* of the whole work, from 0 to 1 */
  int64_t epoch, epochs;           /* under way, counted from 1; 0 before the first */
  int64_t batch, batches;          /* of the epoch */
  double nll, cross_entropy;       /* of the epoch so far, per observation and per series */
  int64_t epochs_done, best_epoch; /* 0: none */
  double validation_nll, validation_mse, validation_cross_entropy,
      validation_accuracy; /* of the last */
} edict_progress;

EDICT_EXPORT int edict_control_new(edict_control** out);
/* Writes the first `size` bytes: give sizeof(edict_progress). */
EDICT_EXPORT void edict_control_read(const edict_control* control, edict_progress* progress,
                                     size_t size);
/* The call returns EDICT_INTERRUPTED soon, within about a second. */
EDICT_EXPORT void edict_control_stop(edict_control* control);
EDICT_EXPORT void edict_control_free(edict_control* control);

/* ---- datasets ------------------------------------------------------------------------------ */

/* Irregular series: each has events (a time), each with some observed features. It never changes.
 */
typedef struct edict_dataset edict_dataset;
/* What was trained on one. It never changes either. */
typedef struct edict_model edict_model;

/* Gathers rows in any order and makes a dataset of them. */
typedef struct edict_builder edict_builder;
EDICT_EXPORT int edict_builder_new(int64_t series, const char* const* ids, int64_t features,
                                   const char* const* feature_names, edict_builder** out);
/* Wide form: a row an event. `row_series` and `times`: [rows]. `columns`: [features], each [rows];
 * `strides`: [features], how many doubles lie between two rows of a column; NULL: 1 everywhere. */
EDICT_EXPORT int edict_builder_rows(edict_builder* builder, int64_t rows, const int64_t* row_series,
                                    const double* times, const double* const* columns,
                                    const int64_t* strides);
/* Long form: a row an observation; all arrays are [rows]. */
EDICT_EXPORT int edict_builder_observations(edict_builder* builder, int64_t rows,
                                            const int64_t* row_series, const double* times,
                                            const int32_t* features, const double* values);
/* `of_series`: [series], an index into names, or -1. Classes are sorted by name, by number if all
 * names are numbers. */
EDICT_EXPORT int edict_builder_labels(edict_builder* builder, int64_t classes,
                                      const char* const* names, const int32_t* of_series);
EDICT_EXPORT int edict_builder_groups(edict_builder* builder, int64_t groups,
                                      const char* const* names, const int32_t* of_series);
/* `values`: [series x statics]. */
EDICT_EXPORT int edict_builder_statics(edict_builder* builder, int64_t statics,
                                       const char* const* names, const double* values);
/* That the times are date-times, counted in `unit` ("s", "min", "h", "d"). `origin`: the moment
 * that is 0, in microseconds since 1970, of each series [series] or, unless `from_first`, of all
 * [1]. `zone`: minutes east of UTC in which they are to be written; origins are then UTC. Without a
 * zone (`zoned` is 0) they are as written. A model remembers the unit and refuses other times. */
EDICT_EXPORT int edict_builder_dates(edict_builder* builder, const char* unit, int from_first,
                                     const double* origin, int zoned, int zone);
/* That the times are numbers of this unit, as durations are. A model remembers it. */
EDICT_EXPORT int edict_builder_unit(edict_builder* builder, const char* unit);
/* Of which columns of a table the arrays came, as a model remembers it for edict_dataset_read: JSON
 * as edict_dataset_reading tells it; what it leaves out is "" or []. */
EDICT_EXPORT int edict_builder_reading(edict_builder* builder, const char* json);
enum edict_duplicates { /* different values of one feature at one time of a series */
                        EDICT_DUPLICATES_REFUSE = 0,
                        EDICT_DUPLICATES_FIRST = 1,
                        EDICT_DUPLICATES_LAST = 2,
                        EDICT_DUPLICATES_MEAN = 3
};
/* The builder is used up by it, and is still to be freed. */
EDICT_EXPORT int edict_builder_dataset(edict_builder* builder, int duplicates, edict_dataset** out);
EDICT_EXPORT void edict_builder_free(edict_builder* builder);

/* A file as the command-line tool reads and writes it. `options`: JSON with what is not to be
 * recognised, as the tool's options of the same names: id, time, label, group (names of columns, or
 * "none"), variable, value (columns of the long form), statics, features, categories, ignored
 * (lists of names), missing (a list of what stands for a missing value), decimal, time_format,
 * time_unit, origin, duplicates (mean, as without it, first, last or error); NULL: nothing. With a
 * model, `like`, the rest is done as for the model's training data: the same columns, categories,
 * unit and origin of times; NULL: what the columns are is recognised. */
EDICT_EXPORT int edict_dataset_read(const char* path, const char* options, const edict_model* like,
                                    edict_dataset** out);
EDICT_EXPORT int edict_dataset_write(const edict_dataset* dataset, const char* path);

/* Texts as date-times, read as the times of a file are. `microseconds`: [count], since 1970; of UTC
 * where a text names a zone, else as written; NaN where it is not a date-time. Of 03/04/2024
 * another of the texts decides which is the month, by a number above 12. `zone`: [count], minutes
 * east of UTC, EDICT_NO_ZONE where none is named. */
#define EDICT_NO_ZONE INT32_MIN
EDICT_EXPORT int edict_read_dates(int64_t count, const char* const* texts, double* microseconds,
                                  int32_t* zone);

/* The different texts of a column as the cells of a file are read: "5.2 mmol/L", "97 %", "<0.1",
 * "1.234,5", "yes". `options`: JSON with column (its name, for messages), decimal (point or comma),
 * unit (the one that a model knows the column in), numbers (whether a model knows it as such) and
 * names (whether they are names in any case, as labels are), counts (how many cells hold each text,
 * by which remarks are told from categories); "{}": nothing. `values`: [count], NaN where nothing is known. `out`: JSON with kind (numbers;
 * else categories, texts or mistakes, where a number is none, and `values` are as before), unit
 * (taken off), notes, a list of what was done to them, unknown, the texts that say that nothing is
 * known (NA, -; not None beside mild and severe), and problem, the first mistake. Texts that may
 * mean two things are an error. */
EDICT_EXPORT int edict_read_cells(int64_t count, const char* const* cells, const char* options,
                                  double* values, edict_bytes** out);

/* Numbers of a column that stand for a missing value, as -999 far outside of all others does: JSON,
 * a list of {"value", "cells"}, the same that edict_dataset_read recognises in a file. */
EDICT_EXPORT int edict_find_codes(int64_t count, const double* values, edict_bytes** out);

typedef struct edict_dataset_size {
  int64_t series, events, observations;
  int64_t features, statics, classes, groups;
} edict_dataset_size;
EDICT_EXPORT int edict_dataset_sizes(const edict_dataset* dataset, edict_dataset_size* sizes,
                                     size_t size);

/* One number for everything in it. */
EDICT_EXPORT int edict_dataset_fingerprint(const edict_dataset* dataset, uint64_t* fingerprint);

enum edict_names {
  EDICT_NAMES_SERIES = 0, /* the ids */
  EDICT_NAMES_FEATURES = 1,
  EDICT_NAMES_STATICS = 2,
  EDICT_NAMES_CLASSES = 3,
  EDICT_NAMES_GROUPS = 4
};
/* The names one after the other, each with a zero byte behind it. */
EDICT_EXPORT int edict_dataset_names(const edict_dataset* dataset, int which, edict_bytes** out);

/* first_event [series + 1]: the events of series i are first_event[i] .. first_event[i + 1];
 * times [events]; first_observation [events + 1], likewise; feature and value [observations];
 * labels and groups [series]; statics [series x statics]. */
EDICT_EXPORT int edict_dataset_arrays(const edict_dataset* dataset, int64_t* first_event,
                                      double* times, int64_t* first_observation, int32_t* feature,
                                      double* value, int32_t* labels, int32_t* groups,
                                      double* statics);

/* What the times mean: JSON with kind ("number", "date", ...), unit, from_first, epoch, zone; and
 * the moment that is 0 in each series, in microseconds since 1970, [series]. */
EDICT_EXPORT int edict_dataset_dates(const edict_dataset* dataset, double* origin,
                                     edict_bytes** out);

/* Which columns of a table it came from, as JSON: id, time, label, group (names, "" for none, id
 * "none" where the table is one series), statics, features (lists of names), categories (a list of
 * {"column", "static", "values"}: texts that became a column name=value for each), duplicates; and
 * recognised, sentences about what had to be guessed. */
EDICT_EXPORT int edict_dataset_reading(const edict_dataset* dataset, edict_bytes** out);

/* The listed series in that order, with what was observed before `until` (INFINITY: everything).
 * Names of features, classes and groups stay. A series that is listed again, as in a bootstrap, is
 * there again as "a (copy 2)", which is on the same side of a split as "a". */
EDICT_EXPORT int edict_dataset_subset(const edict_dataset* dataset, int64_t count,
                                      const int64_t* series, double until, edict_dataset** out);
/* The same data with other labels, as edict_builder_labels takes them. */
EDICT_EXPORT int edict_dataset_relabel(const edict_dataset* dataset, int64_t classes,
                                       const char* const* names, const int32_t* of_series,
                                       edict_dataset** out);
/* What is in it, in numbers, as JSON. */
EDICT_EXPORT int edict_dataset_summary(const edict_dataset* dataset, edict_bytes** out);
EDICT_EXPORT void edict_dataset_free(edict_dataset* dataset);

/* ---- models -------------------------------------------------------------------------------- */

/* How an observation is tamed before it is absorbed. NULL stands for none of it. */
enum edict_guard_kind { EDICT_GUARD_NONE = 0, EDICT_GUARD_EDGR = 1, EDICT_GUARD_POPULATION = 2 };
enum edict_guard_deviation { EDICT_DEVIATION_EPISTEMIC = 0, EDICT_DEVIATION_PREDICTIVE = 1 };
typedef struct edict_guard {
  int32_t kind;      /* EDGR clips to what the model expects, population to the training data */
  int32_t deviation; /* which deviation EDGR counts in */
  double eta;        /* deviations that an observation may be off; published: 1.96 */
} edict_guard;

/* The settings that edict_train would choose for these data beside the given ones, and why, as
 * JSON: choices, a list of {"key", "value", "why", "given"}; notes, a list of sentences; and toml,
 * all of it as a file with comments. */
EDICT_EXPORT int edict_fit_settings(const edict_dataset* dataset, int64_t assignments,
                                    const char* const* assignment, edict_bytes** out);

/* How a model is trained. All zero: a single model with the settings that fit the data. */
typedef struct edict_training {
  const char* toml;    /* settings as in a file, "" for the defaults; NULL: those that fit
                          the data */
  int64_t assignments; /* how many of the next, "key=value", which hold before both */
  const char* const* assignment;
  int64_t members;         /* of an ensemble, which differ by their seeds; 0 and 1: one model */
  const edict_model* from; /* a trained model to start from instead of anew, with its settings,
                              scales and split: then toml is NULL, only train.… and loss.…
                              may be assigned, and there is one member; or NULL */
  double budget;           /* seconds that training may take, after which the best epoch so far
                              is kept; 0: no limit */
  const char* out_path;    /* where the best model so far, its checkpoint and its metrics are
                              written after every epoch; or NULL */
  int32_t resume;          /* not 0: continue from the checkpoint of out_path, if there is one */
  int32_t threads;
} edict_training;

/* Trains a model. `training` may be NULL, `size` is sizeof *training. Few series, where they are
 * long, are cut into pieces and split by time (edict_model_info has the `piece`, in events; 0:
 * whole series). Stopped through `control` (which may be NULL) it returns EDICT_INTERRUPTED, and
 * *out is the best model of the epochs that were complete, NULL if there was none or an ensemble
 * was trained. */
EDICT_EXPORT int edict_train(const edict_dataset* dataset, const edict_training* training,
                             size_t size, edict_control* control, edict_model** out);

/* A cross-validation: as many trainings as `folds`, each judged on the series of its fold, and where
 * there are labels a classifier on each. `training` as for edict_train, without `from` and `budget`;
 * its `out_path` is the folder where the models are kept, or NULL. JSON: folds, and metrics, each
 * with its mean, std and value in every fold. */
EDICT_EXPORT int edict_cross_validate(const edict_dataset* dataset, const edict_training* training,
                                      size_t size, int64_t folds, edict_control* control,
                                      edict_bytes** out);

/* A copy whose intervals are calibrated, on series that its weights were not trained on: `split` is
 * "validation", those of its training, or "unseen", new ones, which then count as seen; NULL:
 * "validation". `report` (which may be NULL) as JSON: the scores before and after, on how many
 * series, and by how many it was fitted. */
EDICT_EXPORT int edict_calibrate(const edict_model* model, const edict_dataset* dataset,
                                 const char* split, int threads, edict_bytes** report,
                                 edict_model** out);

/* A model that also tells the data's classes apart, on top of a trained one. Settings: classify.*
 * and readout.* only. `seeds`: of the classifiers among which the validation part chooses; none:
 * three. */
EDICT_EXPORT int edict_classify(const edict_model* model, const edict_dataset* dataset,
                                int64_t assignments, const char* const* assignment, int64_t seeds,
                                const int64_t* seed, int threads, edict_control* control,
                                edict_model** out);

/* A model file, or its bytes in memory. */
EDICT_EXPORT int edict_model_load(const char* path, edict_model** out);
EDICT_EXPORT int edict_model_save(const edict_model* model, const char* path);
EDICT_EXPORT int edict_model_from_bytes(const void* data, size_t size, edict_model** out);
EDICT_EXPORT int edict_model_to_bytes(const edict_model* model, edict_bytes** out);

typedef struct edict_model_size {
  int64_t features, statics, classes; /* classes: 0 without a classifier */
  int64_t hidden;                     /* of the state h(t), of all members together */
  int64_t parameters;
  int32_t distribution; /* whether it predicts one: 1 or 0 */
  int32_t reserved;
  uint64_t fingerprint;
} edict_model_size;
EDICT_EXPORT int edict_model_sizes(const edict_model* model, edict_model_size* sizes, size_t size);

/* The names of features, statics or classes, as edict_dataset_names writes them; `which`: enum
 * edict_names. */
EDICT_EXPORT int edict_model_names(const edict_model* model, int which, edict_bytes** out);

/* JSON: kind, features, statics, classes, config (every setting), t_cut, horizon, mean and scale of
 * each feature, their correlations at one moment (rows of a matrix, or null: of the normal scores
 * of what is observed), what its times mean, its reading (as edict_dataset_reading tells it), the
 * events of a piece of a series that it learnt from (0: they were whole), how many series it has
 * seen, and, where it was trained here, the epochs and notes: sentences on the data, and on how
 * training went otherwise than intended. */
EDICT_EXPORT int edict_model_info(const edict_model* model, edict_bytes** out);

/* Features and static covariates are found by name, here and in every function below. This tells,
 * as a JSON list of sentences, what of the dataset is ignored and what of the model's missing. */
EDICT_EXPORT int edict_model_match(const edict_model* model, const edict_dataset* dataset,
                                   edict_bytes** out);

enum edict_part { EDICT_TRAIN = 0, EDICT_VALIDATION = 1, EDICT_TEST = 2, EDICT_UNSEEN = 3 };
/* Which part each series had in the model's training; `parts`: [series]. */
EDICT_EXPORT int edict_model_parts(const edict_model* model, const edict_dataset* dataset,
                                   int32_t* parts);

enum edict_times {
  EDICT_TIMES_COMMON = 0, /* [count], for all series */
  EDICT_TIMES_OWN = 1,    /* [series x count] */
  EDICT_TIMES_AHEAD = 2   /* [count], after each series' last observation, with that absorbed */
};
/* The distribution of every feature at some times, given what was observed before each: Student-t
 * with `dof` degrees of freedom (INFINITY: Gaussian), `mean` and `scale`; its variance is aleatoric
 * + epistemic. `times`: ascending; `which` tells whose. Each array to fill is [series x count x
 * features]. Observations from `until` on are not absorbed (INFINITY: all are). `clipped`:
 * observations that the guard changed. */
EDICT_EXPORT int edict_model_predict(const edict_model* model, const edict_dataset* dataset,
                                     int64_t count, const double* times, int which, double until,
                                     const edict_guard* guard, int threads, edict_control* control,
                                     double* mean, double* aleatoric, double* epistemic,
                                     double* scale, double* dof, int64_t* clipped);

/* Class probabilities: with everything observed, [series x classes]; or, with `count` ascending
 * times, before the observations of each moment, [series x count x classes]. */
EDICT_EXPORT int edict_model_probabilities(const edict_model* model, const edict_dataset* dataset,
                                           int64_t count, const double* times,
                                           const edict_guard* guard, int threads,
                                           edict_control* control, double* probabilities);

/* The state h(T) after everything observed, [series x hidden]. */
EDICT_EXPORT int edict_model_encode(const edict_model* model, const edict_dataset* dataset,
                                    const edict_guard* guard, int threads, edict_control* control,
                                    float* states);

enum {
  EDICT_SIDES_PAST = 0, /* what came up to the moment that is asked for */
  EDICT_SIDES_BOTH = 1, /* what came later too; the model was trained with train.smooth */
  EDICT_SIDES_KNOWN = 2 /* both, of a model that was trained so, else the past */
};
/* How good the model is, as JSON: interpolation, informed_interpolation (after the first event) and
 * extrapolation, each with mse, nll, crps, ece, coverage; breakdown by feature and horizon beside the
 * last value and the training mean; ensemble, joint, classifier (null where there is none); series,
 * split, and notes, a list of sentences. From both sides it is the interpolation that changes.
 * `part`: "train", "validation", "test", "unseen" or "all"; data of which the model knows no series
 * are judged whole. */
EDICT_EXPORT int edict_model_evaluate(const edict_model* model, const edict_dataset* dataset,
                                      const char* part, int sides, const edict_guard* guard,
                                      int threads, edict_control* control, edict_bytes** out);
/* The table filled: each value as observed, else its mean given what was seen of the series on
 * these sides of its moment, and its predictive deviation, 0 where it was observed. A row an event
 * of the dataset, [events x features of the model]; or, with `count` ascending times, [series x
 * count x features].
 */
EDICT_EXPORT int edict_model_impute(const edict_model* model, const edict_dataset* dataset,
                                    int64_t count, const double* times, int sides,
                                    const edict_guard* guard, int threads, edict_control* control,
                                    double* value, double* deviation);

/* What was expected of every observation just before it came, and how surprising it was: z, its
 * distance in deviations; log_score, minus the log density; tail, how often something at least as
 * far off is to be expected. Arrays are [observations], in the order of edict_dataset_arrays; the
 * dataset's columns must be the model's. Observations from `until` on are judged and not absorbed.
 */
EDICT_EXPORT int edict_model_surprise(const edict_model* model, const edict_dataset* dataset,
                                      double until, const edict_guard* guard, int threads,
                                      edict_control* control, double* mean, double* aleatoric,
                                      double* epistemic, double* scale, double* dof, double* z,
                                      double* log_score, double* tail);
EDICT_EXPORT void edict_model_free(edict_model* model);

/* Functions of the distributions, element by element: the p-quantile, and P(X <= x). All arrays are
 * [count]; `p` between 0 and 1, both excluded; where `x` is NaN, so is the answer. */
EDICT_EXPORT int edict_quantile(int64_t count, const double* mean, const double* scale,
                                const double* dof, const double* p, double* out);
EDICT_EXPORT int edict_cdf(int64_t count, const double* mean, const double* scale,
                           const double* dof, const double* x, double* out);

/* ---- streams ------------------------------------------------------------------------------- */

/* Series as they happen: observations go in when they come, the distribution can be asked for at
 * any later moment without disturbing anything. A set of streams shares one model; a stream is
 * known by its place in the set. Batches cost less than half of one at a time and give the same
 * bits, which are those of edict_model_predict. */
typedef struct edict_streams edict_streams;

/* `start`: [count], where each clock starts; NULL: where that of a series does, which is the
 * model's origin, or the first event where the model was trained with data.start=first. `statics`:
 * [count x statics], NULL: missing. */
EDICT_EXPORT int edict_streams_new(const edict_model* model, int64_t count, const double* start,
                                   const double* statics, const edict_guard* guard,
                                   edict_streams** out);
/* More streams, at the end. */
EDICT_EXPORT int edict_streams_add(edict_streams* streams, int64_t count, const double* start,
                                   const double* statics);
EDICT_EXPORT int64_t edict_streams_count(const edict_streams* streams);
/* Event e belongs to stream[e] and has the observations first[e] .. first[e + 1] of feature and
 * value. A stream may occur once in a call. After an error every stream is as before. */
EDICT_EXPORT int edict_streams_observe(edict_streams* streams, int64_t events,
                                       const int64_t* stream, const double* times,
                                       const int64_t* first, const int32_t* feature,
                                       const double* value);
/* The same from a table: `values`: [events x features], NaN where nothing was observed. */
EDICT_EXPORT int edict_streams_observe_rows(edict_streams* streams, int64_t events,
                                            const int64_t* stream, const double* times,
                                            const double* values);
/* Each array to fill is [questions x features]. */
EDICT_EXPORT int edict_streams_predict(edict_streams* streams, int64_t questions,
                                       const int64_t* stream, const double* times, double* mean,
                                       double* aleatoric, double* epistemic, double* scale,
                                       double* dof);
/* When each stream observed last, or its start; minus infinity where its first event is to be the
 * start. [streams]. */
EDICT_EXPORT int edict_streams_times(const edict_streams* streams, double* times);
/* The state of one stream as bytes, to be brought back by a later program with the same model. */
EDICT_EXPORT int edict_streams_save(const edict_streams* streams, int64_t stream,
                                    edict_bytes** out);
EDICT_EXPORT int edict_streams_restore(edict_streams* streams, int64_t stream, const void* data,
                                       size_t size);
EDICT_EXPORT void edict_streams_free(edict_streams* streams);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-deprecated-headers,modernize-use-using) */

#endif
