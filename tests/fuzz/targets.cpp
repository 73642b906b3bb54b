#include "fuzz/targets.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "edict/core/error.h"
#include "edict/data/fingerprint.h"
#include "edict/data/time_axis.h"
#include "edict/datasets/synthetic.h"
#include "edict/model/config.h"
#include "edict/model/model.h"
#include "edict/model/safetensors.h"
#include "edict/model/stream.h"
#include "edict/protocol/split.h"
#include "edict/sources/csv.h"
#include "messy_files.h"

namespace edict::fuzz {
namespace {

void promise(bool kept, const char* what) {
  if (!kept) throw std::logic_error(what);
}

// Runs `work` and forgives it an Error, as long as that says where something is wrong.
template <class Work>
void attempt(std::string_view where, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    const std::string_view what = error.what();
    promise(what.starts_with(where) && what.size() > where.size(),
            "an error says what is wrong, and where");
  }
}

// A table is valid in every array, or refused; and it is the same a second time.
void csv(std::string_view bytes) {
  attempt("f.csv:", [&] {
    ReadOptions options;
    options.limits.bytes = 1 << 20;
    options.limits.columns = 256;
    const Dataset data = read_csv_text(bytes, "f.csv", options);
    data.check();
    for (std::size_t e = 0; e < data.events(); ++e)
      promise(!data.observed(e).empty(), "something was observed at every event");
    promise(fingerprint(data) == fingerprint(read_csv_text(bytes, "f.csv", options)),
            "a table is read the same way twice");
  });
}

// A date that is read is written so that it is the same moment again.
void date(std::string_view bytes) {
  const auto read = parse_date(bytes);
  if (!read) return;
  promise(std::isfinite(read->microseconds), "a date is a moment");
  const std::string text = written_date(read->microseconds, read->zone, read->style);
  const auto again = parse_date(text);
  promise(again && again->microseconds == read->microseconds && again->zone == read->zone,
          "a date is the same when it is read again");
}

// What is accepted as settings is written as settings that mean the same.
void toml(std::string_view bytes) {
  attempt("f.toml", [&] {
    Config config, again;
    read_toml_text(bytes, "f.toml", config);
    const std::string text = to_toml(config);
    read_toml_text(text, "again.toml", again);
    promise(to_toml(again) == text, "settings are the same when they are read again");
  });
}

void assignment(std::string_view bytes) {
  attempt("", [&] {
    Config config, again;
    assign(config, bytes);
    read_toml_text(to_toml(config), "again.toml", again);
    promise(to_toml(again) == to_toml(config), "settings are the same when they are read again");
  });
}

// Tensors that are accepted are written as the file that they came from means.
void tensors(std::string_view bytes) {
  attempt("f:", [&] {
    const TensorFile file = tensors_from(bytes, "f");
    const std::string again = tensor_bytes(file);
    promise(tensor_bytes(tensors_from(again, "f")) == again,
            "tensors are the same when they are read again");
  });
}

// A model is whole or refused: never one that writes something else than it read.
void model(std::string_view bytes) {
  attempt("f:", [&] {
    const Model read = from_tensors(tensors_from(bytes, "f"), "f");
    const std::string again = tensor_bytes(to_tensors(read));
    promise(tensor_bytes(to_tensors(from_tensors(tensors_from(again, "f"), "f"))) == again,
            "a model is the same when it is read again");
  });
}

void stream_state(std::string_view bytes) {
  attempt("", [&] {
    const auto data = std::as_bytes(std::span(bytes));
    const std::vector<std::byte> again = StreamState::from_bytes(data).to_bytes();
    promise(std::ranges::equal(data, again), "a state is the bytes that it was read from");
  });
}

// The smallest model that has every part.
const std::shared_ptr<const Model>& smallest() {
  static const std::shared_ptr<const Model> made = [] {
    const Dataset data = generate_synthetic(12, 1);
    Config config;
    for (const char* set : {"model.hidden=2", "model.head_hidden=2", "model.encoder_width=1"})
      assign(config, set);
    config.data.train = 0.6;
    config.data.validation = 0.2;
    return std::make_shared<const Model>(Model::create(config, data, split(data, config.data)));
  }();
  return made;
}

std::vector<std::string> tables() {
  std::vector<std::string> result = {
      "id,time,x,y,label,static:age\na,0,1.5,,u,3\na,1,,-2e5,u,\n\"b,\"\"\",0,7,8,v,4\n",
      "id,time,feature,value,group\na,0,x,1,g\na,0,y,2,g\nb,1,x,3.25,h\n"};
  for (const MessyFile& file : {messy::zones(), messy::semicolons(), messy::latin1(),
                                messy::categories(), messy::unix_time(), messy::days()})
    result.push_back(file.bytes.substr(0, 600));
  return result;
}

std::vector<std::string> dates() {
  return {"2024-03-01",          "2024-03-01 12:30",        "2024-03-01T12:30:15.123+01:00",
          "01.03.2024 08:30",    "2024/03/01T00:00:00Z",    "1999-12-31 23:59:59.999999 UTC",
          "2024-02-29T24:00+05", "1685-01-01 00:00 -11:30", "2255-12-31T23:59:59+1400"};
}

std::vector<std::string> settings() {
  return {to_toml(Config()), "[model]\nhidden = 8\nsolver = \"rk4\"\n[train]\nepochs = 3\n",
          "data.t_cut = \"auto\"\nloss = { kl = 0.1 }\n"};
}

std::vector<std::string> assignments() {
  return {"model.hidden=8", "data.t_cut=auto", "train.learning_rate=1e-3", "model.solver=dopri5",
          "train.recalibrate=true"};
}

std::vector<std::string> tensor_files() {
  return {tensor_bytes({{{"a", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"b", {}, {7}}}, {{"k", "v"}}}),
          tensor_bytes({{}, {}})};
}

std::vector<std::string> models() { return {tensor_bytes(to_tensors(*smallest()))}; }

std::vector<std::string> states() {
  Stream stream(smallest());
  const auto text = [&] {
    const std::vector<std::byte> bytes = stream.state().to_bytes();
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  std::vector<std::string> result = {text()};
  const Observation observed{0, 0.5};
  stream.observe(1.0, {&observed, 1});
  result.push_back(text());
  return result;
}

}  // namespace

std::span<const Target> targets() {
  static const Target all[] = {{"csv", csv, tables},
                               {"date", date, dates},
                               {"toml", toml, settings},
                               {"assignment", assignment, assignments},
                               {"tensors", tensors, tensor_files},
                               {"model", model, models},
                               {"stream_state", stream_state, states}};
  return all;
}

}  // namespace edict::fuzz
