#include "fuzz/targets.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "edict/core/error.h"
#include "edict/data/fingerprint.h"
#include "edict/data/packed_file.h"
#include "edict/data/time_axis.h"
#include "edict/datasets/synthetic.h"
#include "edict/model/config.h"
#include "edict/model/model.h"
#include "edict/model/safetensors.h"
#include "edict/model/stream.h"
#include "edict/protocol/split.h"
#include "edict/server/alarms.h"
#include "edict/server/api.h"
#include "edict/server/incoming.h"
#include "edict/sources/csv.h"
#include "edict/train/checkpoint.h"
#include "fuzz/call_sequence.h"
#include "messy_files.h"
#include "temporary_folder.h"

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

// What only reads files is given one.
std::filesystem::path written(std::string_view bytes) {
  static const TemporaryFolder folder;
  const std::filesystem::path path = folder / "f";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Mapped, not read: every array is checked before anybody follows an index in it.
void packed(std::string_view bytes) {
  const std::filesystem::path path = written(bytes);
  attempt(path.string(), [&] {
    const Dataset data = open_packed(path);
    data.check();
    fingerprint(data);
  });
}

void checkpoint(std::string_view bytes) {
  const std::filesystem::path path = written(bytes);
  attempt(path.string(), [&] {
    static Model model = from_tensors(to_tensors(*smallest()), "f");
    model.params = smallest()->params;
    Adam adam(model.params.size());
    load_checkpoint(path, 5, model, adam);
    promise(model.params.allFinite() && adam.m.allFinite() && adam.v.allFinite(),
            "a run goes on from numbers");
  });
}

// Bodies that the live server is sent: what is taken are values of the model's features.
template <class Read>
void body(const Read& read) {
  static const server::StreamClock clock(*smallest(), "h");
  static const server::Intake intake(*smallest(), clock);
  try {
    for (const server::Row& row : read(intake)) {
      promise(
          row.feature >= 0 && static_cast<std::size_t>(row.feature) < smallest()->features.size(),
          "a row is of a feature");
      promise(std::isfinite(row.value) && std::isfinite(row.time.value), "a row is of numbers");
      promise(server::name_problem(row.stream).empty(), "a stream has a name");
    }
  } catch (const server::BadInput& error) {
    promise(!error.problems().empty(), "a refusal says why");
    for (const server::Problem& problem : error.problems())
      promise(!problem.detail.empty(), "a refusal says why");
  }
}

void json_body(std::string_view bytes) {
  body([&](const server::Intake& intake) { return intake.json(bytes); });
}
void csv_body(std::string_view bytes) {
  body([&](const server::Intake& intake) { return intake.csv(bytes); });
}
void line_protocol(std::string_view bytes) {
  body([&](const server::Intake& intake) {
    std::size_t ignored = 0;
    return intake.line_protocol(bytes, "ns", 1.7e15, ignored);
  });
}

void address(std::string_view bytes) {
  const auto target = server::parse_target(bytes);
  if (!target) return;
  for (const std::string& part : target->path)
    promise(part.size() <= bytes.size(), "what is decoded is not longer than it was");
}

void rules(std::string_view bytes) {
  try {
    const auto read = server::read_rules(bytes, *smallest());
    const std::string again = server::to_json(read, *smallest()).dump();
    promise(server::to_json(server::read_rules(again, *smallest()), *smallest()).dump() == again,
            "rules are the same when they are read again");
  } catch (const server::BadInput& error) {
    promise(!error.problems().empty(), "a refusal says why");
  }
}

void calls(std::string_view bytes) {
  static const std::string model_bytes = tensor_bytes(to_tensors(*smallest()));
  call_sequence(bytes, model_bytes);
}

std::vector<std::string> packed_files() {
  const TemporaryFolder folder;
  write_packed(generate_synthetic(3, 1), folder / "p");
  return {bytes_of(folder / "p")};
}

std::vector<std::string> checkpoints() {
  const TemporaryFolder folder;
  const Model& model = *smallest();
  save_checkpoint({5, 0, 0, {}, model.params}, model, Adam(model.params.size()), folder / "c");
  return {bytes_of(folder / "c")};
}

std::vector<std::string> json_bodies() {
  return {
      "{\"stream\":\"a\",\"time\":1.5,\"values\":{\"x1\":80,\"x2\":null}}\n"
      "{\"stream\":\"b\",\"time\":\"2026-11-16T18:50:00Z\",\"values\":{\"x3\":-2e-3}}\n",
      "[{\"stream\":\"\\u00e4\",\"time\":0,\"values\":{\"x1\":1}}]"};
}

std::vector<std::string> csv_bodies() {
  return {"stream,time,x1,x2\na,0,1,\nb,1.5,,2\n", "id,time,feature,value\na,0,x1,1\n"};
}

std::vector<std::string> influx_lines() {
  return {"vitals,stream=a x1=80,x2=7i 1700000000000000000\nvitals,host=b\\ c x3=\"text\",x1=t\n",
          "x1 value=3.5 1700000000000000001\n# remark\n"};
}

std::vector<std::string> addresses() {
  return {"/v1/streams/bed%203%2F4?features=a,b&x=1+2", "/", "/v1/events?since=5"};
}

std::vector<std::string> rule_files() {
  return {
      "[[rule]]\nname = \"low\"\nkind = \"crosses\"\nfeature = \"x1\"\nbelow = 0.5\n"
      "within = 0.5\nprobability = 0.3\npriority = \"high\"\npending = 60\n",
      "{\"rules\":[{\"name\":\"lost\",\"kind\":\"silence\",\"for\":2},"
      "{\"name\":\"odd\",\"kind\":\"outside\",\"level\":0.999}]}"};
}

std::vector<std::string> call_scripts() {
  using namespace std::string_literals;
  return {"\x00\x02\x03\x00\x00\x01\x02\x00\x00\x01\x01\x80\x90\x85\x95\x04\x00\x06\x01\x99"s,
          "\x07\x04\x00\x08\x01\x00\x01\x00\x90\x80\x09\x00\xa0\x0a\x00\x0b\x01\x00\x09\x00\xa0"s};
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
                               {"stream_state", stream_state, states},
                               {"packed", packed, packed_files},
                               {"checkpoint", checkpoint, checkpoints},
                               {"json_body", json_body, json_bodies},
                               {"csv_body", csv_body, csv_bodies},
                               {"line_protocol", line_protocol, influx_lines},
                               {"address", address, addresses},
                               {"rules", rules, rule_files},
                               {"calls", calls, call_scripts}};
  return all;
}

}  // namespace edict::fuzz
