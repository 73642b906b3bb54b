#include "front/server/ingest/incoming.h"

#include <fmt/core.h>

#include "base/text/utf8.h"
#include "front/server/ingest/collected.h"

namespace edict::server {
namespace {

std::string summary(const std::vector<Problem>& problems, std::size_t count) {
  const Problem& first = problems.front();
  std::string text = first.detail;
  if (!first.field.empty()) text = fmt::format("{}: {}", first.field, text);
  if (first.line > 0) text = fmt::format("line {}: {}", first.line, text);
  if (count > 1) text += fmt::format(" (and {} more)", count - 1);
  return text;
}

}  // namespace

BadInput::BadInput(std::vector<Problem> found)
    : Error(summary(found, found.size())), problems_(std::move(found)) {}

void Refused::add(Problem problem) {
  ++count;
  if (problems.size() < kMostProblems) problems.push_back(std::move(problem));
}

void Refused::add(Refused others) {
  const std::size_t all = count + others.count;
  kept += others.kept;
  for (Problem& problem : others.problems) add(std::move(problem));
  count = all;
}

std::string Refused::text() const { return summary(problems, count); }

std::string name_problem(std::string_view name) {
  if (name.empty()) return "is empty; give the stream a name";
  if (name.size() > kLongestName)
    return fmt::format("is longer than {} bytes; shorten it", kLongestName);
  if (!valid_utf8(name)) return "is not UTF-8";
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "holds a control character";
  return {};
}

Intake::Intake(const Model& model, const StreamClock& clock)
    : clock_(clock), id_column_(model.reading.id), time_column_(model.reading.time) {
  for (std::size_t j = 0; j < model.features.size(); ++j)
    features_.emplace(model.features[j], static_cast<std::int32_t>(j));
}

std::int32_t Intake::feature(std::string_view name) const {
  const auto found = features_.find(name);
  return found == features_.end() ? -1 : found->second;
}

}  // namespace edict::server
