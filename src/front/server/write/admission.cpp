#include "front/server/write/admission.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/not_finite.h"

namespace edict::server {
namespace {

constexpr std::size_t kMostQuarantined = 100;  // values of one request

}  // namespace

// A clock that was set back refuses nothing that it would have taken before.
Admission::Admission(LiveContext& context, const Registry& registry, Transaction& transaction,
                     Request& request)
    : context_(context),
      registry_(registry),
      transaction_(transaction),
      request_(request),
      present_(context.settings.clock ? context.now()
                                      : std::max(wall_seconds(), running_seconds())) {
  if (context_.clock.calendar()) return;
  for (const Row& row : request_.rows)
    if (row.time.wall && row.time.value / 1e6 - present_ <= context_.settings.future) {
      double& first = first_date_.emplace(row.stream, row.time.value).first->second;
      first = std::min(first, row.time.value);
    }
}

std::vector<Admission::Place> Admission::places() {
  const std::vector<Row>& rows = request_.rows;
  std::vector<Place> places(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    Place& place = places[i];
    place.stream = i > 0 && row.stream == rows[i - 1].stream ? places[i - 1].stream
                                                             : registry_.find(row.stream);
    place.origin = origin_of(row, place.stream);
    const Why why = refusal(row, place);
    if (!why.text.empty()) {
      refuse(row, place, why);
    } else if (!place.stream && !begins(row.stream)) {
      crowded_ = true;
      request_.group->outcome.refused.add(
          {row.line, "stream", fmt::format("stream '{}' {}", row.stream, registry_.too_many())});
    } else {
      place.taken = true;
    }
  }
  return places;
}

double Admission::origin_of(const Row& row, const std::shared_ptr<LiveStream>& stream) const {
  const double origin = stream ? stream->written.origin : kNaN;
  if (!std::isnan(origin) || !row.time.wall || context_.clock.calendar()) return origin;
  const auto first = first_date_.find(row.stream);
  return first == first_date_.end() ? row.time.value : first->second;
}

Admission::Why Admission::refusal(const Row& row, const Place& place) {
  const StreamClock& clock = context_.clock;
  const double raw = clock.raw(row.time, place.origin);
  if (!std::isfinite(raw)) return {"is not finite"};
  if (!clock.resolves(raw))
    return {"is so large that the model cannot tell it from the next one; check its unit", true};
  if (place.stream && raw <= place.stream->written.base)
    return {"lies before what is still kept of the stream; raise --keep"};
  if (raw < clock.earliest())
    return {"lies before the model's clock starts; train with data.start=first"};
  const std::optional<double> here = clock.raw_of_wall(1e6 * present_, place.origin);
  const double future = context_.settings.future;
  double ahead = -kInfinity;
  if (row.time.wall)
    ahead = row.time.value / 1e6 - present_;
  else if (here)
    ahead = (raw - *here) * clock.seconds_in_unit();
  if (!(ahead > future)) return {place.stream ? gap_problem(place.stream, raw) : "", true};
  constexpr double kNear = 10 * 365.25 * 86400;
  const bool thousandfold = row.time.wall && std::abs(row.time.value / 1e9 - present_) < kNear;
  return {fmt::format("lies {} after its arrival{}; --future allows {}", span_text(ahead),
                      thousandfold ? ", as milliseconds do where seconds are expected"
                                   : ": the sender's clock or the unit of its times is wrong",
                      span_text(future)),
          true};
}

// A gap that the model cannot cross would cut off everything after it.
std::string Admission::gap_problem(const std::shared_ptr<LiveStream>& stream, double raw) {
  const StreamClock& clock = context_.clock;
  const double longest = clock.longest_gap(), newest = transaction_.newest_of(stream);
  const auto problem = [&](double gap, const char* where, double other) {
    return fmt::format(
        "lies {} {} the stream's value at {}, and the model can cross {}; one of the two times is "
        "wrong: correct it, or remove that value",
        context_.gap_text(gap), where, clock.shown(other), context_.gap_text(longest));
  };
  if (newest == -kInfinity) return {};
  if (raw - newest > longest) return problem(raw - newest, "after", newest);
  if (newest - raw <= longest) return {};
  const auto next =
      transaction_.store().values(stream->id, std::nextafter(raw, -kInfinity), kInfinity, 1);
  if (next.empty() || !(next.front().time - raw > longest)) return {};
  return problem(next.front().time - raw, "before", next.front().time);
}

// Whether there is room for a stream that is new.
bool Admission::begins(const std::string& stream) {
  if (begun_.contains(stream)) return true;
  if (!registry_.has_room(begun_.size())) return false;
  begun_.insert(stream);
  return true;
}

void Admission::refuse(const Row& row, const Place& place, const Why& why) {
  const double shown = context_.clock.shown(context_.clock.raw(row.time, place.origin));
  const std::string text = fmt::format("stream '{}': time {} {}", row.stream, shown, why.text);
  Refused& refused = request_.group->outcome.refused;
  if (why.misdated && refused.kept < kMostQuarantined) {
    ++context_.counters.rejected;
    transaction_.store().add_rejected(
        {request_.came, "observations", text,
         context_.row_text(row.stream, shown, row.feature, row.value)});
    ++refused.kept;
  }
  refused.add({row.line, "time", text});
}

}  // namespace edict::server
