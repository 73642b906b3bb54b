#include "research/study.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <new>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/claims.h"
#include "data/fingerprint.h"
#include "data/read/csv/csv.h"
#include "model/registry.h"
#include "research/import/synthetic.h"

namespace edict::study {
namespace {

namespace fs = std::filesystem;

struct Loaded {
  std::string path;  // from inside a run's folder
  std::uint64_t fingerprint;
};

// Synthetic is written to data/ once, so that the runs' commands have a file to name.
fs::path file_of(const PlannedData& plan, const StudyOptions& options) {
  if (!plan.file.empty()) return options.data / plan.file;
  const fs::path path =
      options.out / "data" / fmt::format("{}-{}-{}.csv", plan.name, plan.series, plan.seed);
  if (!fs::exists(path)) {
    make_folder(path.parent_path());
    write_csv(generate_synthetic(plan.series, static_cast<std::uint64_t>(plan.seed)), path);
  }
  return path;
}

void say(const StudyOptions& options, const std::string& text) {
  if (options.line) options.line(text);
}

bool at_hand(const PlannedData& plan, const StudyOptions& options) {
  if (plan.file.empty() || fs::exists(options.data / plan.file)) return true;
  const std::string what =
      fmt::format("{}: {} is not there; make it with `edict import` (docs/how-to/datasets.md)", plan.title,
                  (options.data / plan.file).string());
  if (options.need_all) throw Error(what);
  say(options, "left out: " + what);
  return false;
}

struct Scheduled {
  StudiedRun outcome;
  std::unique_ptr<Run> run;  // none where it failed before it began
};

// The runs of one planned model, one a training seed.
std::vector<Scheduled> schedule(const Plan& plan, const PlannedModel& model,
                                const StudiedData& data, const Loaded& loaded,
                                const fs::path& runs) {
  std::vector<Scheduled> result;
  StudiedRun outcome;
  outcome.dataset = model.dataset;
  outcome.method = model.method;
  outcome.guards = model.guards;
  try {
    RunSpec spec{data.plan,    loaded.path, model.method, config_of(plan, model),
                 model.guards, plan.levels, plan.seeds};
    const bool several = !model_kind(spec.config.model.kind).has_distribution;
    std::vector<std::int64_t> seeds = model.train_seeds;
    if (seeds.empty())
      seeds = several ? plan.seeds : std::vector<std::int64_t>{spec.config.train.seed};
    for (const std::int64_t seed : seeds) {
      spec.config.train.seed = seed;
      // Models that are trained from several seeds meet the noise of their own, as published.
      if (several && seeds.size() > 1) spec.seeds = {seed};
      outcome.seed = seed;
      auto run = std::make_unique<Run>(spec, data.data, loaded.fingerprint, runs);
      outcome.folder = run->name();
      result.push_back({outcome, std::move(run)});
    }
  } catch (const Error& e) {
    outcome.failure = e.what();
    result.push_back({outcome, nullptr});
  }
  return result;
}

}  // namespace

std::size_t Study::failures() const {
  return static_cast<std::size_t>(std::count_if(
      runs.begin(), runs.end(), [](const StudiedRun& run) { return run.failure.has_value(); }));
}

Study conduct(const Plan& plan, const StudyOptions& options) {
  Study study;
  study.plan = plan;
  std::vector<PlannedData> there;
  for (const PlannedData& data : plan.datasets)
    if (at_hand(data, options)) there.push_back(data);
  const fs::path runs = options.out / "runs";
  make_folder(runs);
  ThreadPool pool(options.threads);

  std::vector<Loaded> loaded;
  study.datasets.reserve(there.size());  // runs keep references
  for (const PlannedData& data : there) {
    const fs::path path = file_of(data, options);
    study.datasets.push_back({data, read_csv(path)});
    loaded.push_back({fs::proximate(path, runs / "x").generic_string(),
                      fingerprint(study.datasets.back().data)});
  }
  std::vector<Scheduled> scheduled;
  for (const PlannedModel& model : plan.models)
    for (std::size_t d = 0; d < study.datasets.size(); ++d)
      if (study.datasets[d].plan.name == model.dataset)
        for (Scheduled& one : schedule(plan, model, study.datasets[d], loaded[d], runs))
          scheduled.push_back(std::move(one));

  double all = 0, before = 0;
  std::size_t finished = 0;
  for (const Scheduled& one : scheduled)
    if (one.run) {
      all += one.run->pending();
      finished += one.run->pending() == 0;
    }
  if (finished > 0)
    say(options, fmt::format("{} of {} runs are finished already", finished, scheduled.size()));
  const auto conduct_one = [&](std::size_t i) {
    auto& [outcome, run] = scheduled[i];
    const std::string label =
        fmt::format("[{}/{}] {} on {}", i + 1, scheduled.size(), outcome.method, outcome.dataset);
    if (run && !study.interrupted) {
      const double pending = run->pending();
      RunHooks hooks{options.stop, [&](double share, const std::string& note) {
                       if (options.progress)
                         options.progress((before + share * pending) / std::max(all, 1e-9),
                                          label + ", " + note);
                     }};
      try {
        if (pending > 0) hooks.progress(0, "begins");
        run->conduct(pool, hooks);
        if (pending > 0) say(options, label + ": done");
      } catch (const Interrupted&) {
        study.interrupted = true;
      } catch (const std::bad_alloc&) {
        outcome.failure = "out of memory";
      } catch (const std::exception& e) {
        outcome.failure = e.what();
      }
      before += pending;
    }
    if (outcome.failure) say(options, fmt::format("{}: failed: {}", label, *outcome.failure));
  };
  if (options.claim) {
    const auto name = [&](std::size_t i) {
      return scheduled[i].run ? scheduled[i].run->name() : fmt::format("run-{}", i);
    };
    const auto done = [&](std::size_t i) {
      return study.interrupted || !scheduled[i].run || scheduled[i].run->pending() == 0;
    };
    try {
      work_through(Claims(options.out / "claims"), scheduled.size(), name, done, conduct_one,
                   options.stop);
    } catch (const Interrupted&) {
      study.interrupted = true;
    }
  } else {
    for (std::size_t i = 0; i < scheduled.size(); ++i) conduct_one(i);
  }
  for (auto& [outcome, run] : scheduled) {
    if (run) outcome.results = run->results();
    study.runs.push_back(std::move(outcome));
  }
  return study;
}

}  // namespace edict::study
