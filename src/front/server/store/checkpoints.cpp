#include "front/server/store/checkpoints.h"

#include <algorithm>

namespace edict::server {
namespace {

// At least so many of each distance between two, which is a power of two times kKeepEvery.
constexpr std::int64_t kOfEach = 4;
constexpr std::size_t kMostLate = 64;

}  // namespace

void Checkpoints::set_kept(std::vector<KeptState> kept) {
  list_.clear();
  obsolete_.clear();
  unwritten_ = false;
  for (KeptState& state : kept) list_.push_back({std::move(state), true});
}

void Checkpoints::add(KeptState state) {
  list_.push_back({std::move(state), false});
  unwritten_ = true;
  thin();
}

// One after so many events stays while it lies no further back than kOfEach times the largest power
// of two that divides their number.
void Checkpoints::thin() {
  const std::int64_t newest = list_.back().state.events;
  std::erase_if(list_, [&](const Entry& entry) {
    const std::int64_t events = entry.state.events;
    if (newest - events <= kOfEach * (events & -events) || entry.state.time <= base_) return false;
    if (entry.kept) obsolete_.push_back(entry.state.time);
    return true;
  });
}

void Checkpoints::drop_from(double time) {
  while (!list_.empty() && list_.back().state.time >= time) list_.pop_back();
}

void Checkpoints::set_base(double base) {
  base_ = base;
  std::erase_if(list_, [&](const Entry& entry) { return entry.state.time < base; });
}

Checkpoints::Unwritten Checkpoints::take_unwritten() {
  Unwritten unwritten;
  unwritten.obsolete.swap(obsolete_);
  for (Entry& entry : list_) {
    if (entry.kept) {
      std::vector<std::byte>().swap(entry.state.bytes);
      continue;
    }
    entry.kept = true;
    unwritten.states.push_back(entry.state);
  }
  unwritten_ = false;
  return unwritten;
}

const KeptState* Checkpoints::newest_here(double before) const {
  for (auto entry = list_.rbegin(); entry != list_.rend(); ++entry)
    if (entry->state.time < before && !entry->state.bytes.empty()) return &entry->state;
  return nullptr;
}

const KeptState* Checkpoints::newest_received(double received) const {
  for (auto entry = list_.rbegin(); entry != list_.rend(); ++entry)
    if (entry->state.received <= received) return &entry->state;
  return nullptr;
}

void add_late(std::vector<LateCommit>& late, LateCommit own) {
  while (!late.empty() && late.back().time >= own.time) late.pop_back();
  if (late.size() == kMostLate) {
    // Two as one, which says no less than both.
    late[1].time = late[0].time;
    late.erase(late.begin());
  }
  late.push_back(own);
}

double valid_before(const std::vector<LateCommit>& late, std::uint64_t through) {
  for (const LateCommit& one : late)
    if (one.commit > through) return one.time;
  return std::numeric_limits<double>::infinity();
}

void forget_late(std::vector<LateCommit>& late, std::uint64_t through) {
  std::erase_if(late, [&](const LateCommit& one) { return one.commit <= through; });
}

}  // namespace edict::server
