// Trains f_CLF on the states h(T) of a frozen model, and, if asked, goes on with the whole model.
//
// Every series is encoded once. From each seed (weights and order of the batches) a classifier is
// trained, its best epoch chosen by validation accuracy, among equals by cross-entropy; the best
// seed, by the same measure, becomes the model's classifier, and all of them travel in it.
//
// Fine-tuning sends the classification loss back through the whole sequence, together with the
// evidential loss at classify.evidential_weight, from the best seed on. It changes the states, so
// the other seeds' classifiers no longer fit them and are dropped; and the distributions, so a
// calibration is dropped, and a model that was trained with train.calibrate is
// calibrated again, on the validation split as before.
//
// Each member of an ensemble gets classifiers of its own, on its own states, as if it stood alone.
//
// With readout.members the summary of each series is classified too
// (learn/classifier/readout_training.h), from the states as fine-tuning left them; each member of
// an ensemble gets a readout of its own.
//
// Series without a label are left out (in fine-tuning they still teach the distribution). Classes
// are all those of the data; one without a series in the training split is never learnt, so that
// series of it count as errors later.
#pragma once

#include <functional>
#include <vector>

#include "base/threads/thread_pool.h"
#include "learn/trainer.h"
#include "model/classifier/state_classifier.h"
#include "model/model.h"

namespace edict {

struct ClassifierOptions {
  ClassifySettings settings;
  std::vector<std::int64_t> seeds;  // empty: settings.seed and the two after it
  StopFlag stop = nullptr;          // asked before every epoch, in fine-tuning every batch
  std::function<void(std::int64_t epoch, std::int64_t batch, std::int64_t batches)> on_batch;
  std::function<void(const EpochRow&)> on_epoch;      // of fine-tuning; row 0 is where it starts
  std::function<void(std::size_t member)> on_member;  // before each, counted from 0
};

// The best epoch of one seed.
struct ClassifierRun {
  std::int64_t seed = 0, epoch = 0;
  double validation_accuracy = 0, validation_cross_entropy = 0;
  Vector<float> params;
  std::size_t member = 0;  // of an ensemble, counted from 0
  bool chosen = false;     // the best of its member's seeds
};

// How well a member's readout, and its classifier on h(T) alone, fit the validation split.
struct ReadoutFit {
  LabelFit readout, state;
  // Log probabilities of the labelled validation series before they are raised to a power, classes
  // × series, each by shares of the vote that other series chose.
  Matrix<double> held_out = {};
};

struct ClassifierResult {
  Model model;                            // its config.classify.seed is the (first) chosen seed
  std::vector<ClassifierRun> runs;        // in the order of members and seeds
  std::vector<EpochRow> fine_tuning;      // of every member in turn; empty without it
  std::vector<ReadoutFit> readouts;       // of every member in turn; empty without them
  std::vector<std::string> never_seen;    // classes without a series in the training split
  std::size_t train = 0, validation = 0;  // labelled series
  std::size_t unlabelled = 0;             // in these two splits
  bool interrupted = false;               // the model is then not to be used
};

ClassifierResult train_classifier(const Model& frozen, const Dataset& data, const Split& split,
                                  ThreadPool& pool, const ClassifierOptions& options);

}  // namespace edict
