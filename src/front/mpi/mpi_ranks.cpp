#include "front/mpi/mpi_ranks.h"

#include <fmt/core.h>

#include <chrono>
#include <limits>
#include <numeric>
#include <thread>

#include "base/error.h"

namespace edict::mpi {
namespace {

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(
      fmt::format("MPI: {}: {}", what, std::string(text, static_cast<std::size_t>(length))));
}

int count_of(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error("MPI: more than 2 GB for one process at once; lower train.batch or train.chunk");
  return static_cast<int>(bytes);
}

// Where each piece begins in one array of all of them.
std::vector<int> begins(const std::vector<int>& counts) {
  std::vector<int> result(counts.size(), 0);
  std::size_t at = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    result[r] = count_of(at);
    at += static_cast<std::size_t>(counts[r]);
  }
  count_of(at);
  return result;
}

std::vector<Ranks::Bytes> divided(const Ranks::Bytes& all, const std::vector<int>& counts) {
  std::vector<Ranks::Bytes> pieces;
  auto at = all.begin();
  for (const int count : counts) {
    pieces.emplace_back(at, at + count);
    at += count;
  }
  return pieces;
}

// Adds the time of a scope.
class Timed {
 public:
  explicit Timed(double& seconds) : seconds_(seconds), begin_(MPI_Wtime()) {}
  ~Timed() { seconds_ += MPI_Wtime() - begin_; }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& seconds_;
  double begin_;
};

}  // namespace

MpiRanks::MpiRanks(MPI_Comm world, const std::atomic<bool>& asked_to_stop)
    : world_(world), asked_(asked_to_stop) {
  MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
  int rank = 0, size = 1;
  check(MPI_Comm_rank(world_, &rank), "rank");
  check(MPI_Comm_size(world_, &size), "size");
  check(MPI_Comm_dup(world_, &end_), "duplicate");
  rank_ = static_cast<std::size_t>(rank);
  size_ = static_cast<std::size_t>(size);
}

void MpiRanks::meet(const std::string* failure) {
  const Timed timed(seconds_);
  // The lowest rank that failed tells why.
  const int own[2] = {asked_ ? 1 : 0, failure ? static_cast<int>(size_ - rank_) : 0};
  int all[2] = {0, 0};
  check(MPI_Allreduce(own, all, 2, MPI_INT, MPI_MAX, world_), "allreduce");
  if (all[0] != 0) stop_ = true;
  if (all[1] == 0) return;
  const int teller = static_cast<int>(size_) - all[1];
  unsigned long long length = failure ? failure->size() : 0;
  check(MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG_LONG, teller, world_), "broadcast");
  std::string text = failure && static_cast<int>(rank_) == teller ? *failure : std::string();
  text.resize(length);
  check(MPI_Bcast(text.data(), count_of(length), MPI_CHAR, teller, world_), "broadcast");
  throw Error(text);
}

std::vector<Ranks::Bytes> MpiRanks::exchange(const std::vector<Bytes>& to) {
  const Timed timed(seconds_);
  std::vector<int> send(size_), receive(size_);
  Bytes out;
  for (std::size_t r = 0; r < size_; ++r) {
    send[r] = count_of(to[r].size());
    out.insert(out.end(), to[r].begin(), to[r].end());
  }
  check(MPI_Alltoall(send.data(), 1, MPI_INT, receive.data(), 1, MPI_INT, world_), "alltoall");
  const std::vector<int> from_places = begins(receive), to_places = begins(send);
  Bytes in(static_cast<std::size_t>(std::accumulate(receive.begin(), receive.end(), 0LL)));
  check(MPI_Alltoallv(out.data(), send.data(), to_places.data(), MPI_BYTE, in.data(),
                      receive.data(), from_places.data(), MPI_BYTE, world_),
        "alltoallv");
  return divided(in, receive);
}

std::vector<Ranks::Bytes> MpiRanks::gather(std::span<const std::byte> own) {
  const Timed timed(seconds_);
  const int count = count_of(own.size());
  std::vector<int> counts(size_);
  check(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, world_), "allgather");
  const std::vector<int> places = begins(counts);
  Bytes all(static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0LL)));
  check(MPI_Allgatherv(own.data(), count, MPI_BYTE, all.data(), counts.data(), places.data(),
                       MPI_BYTE, world_),
        "allgatherv");
  return divided(all, counts);
}

std::size_t MpiRanks::on_this_machine() const {
  MPI_Comm here;
  check(MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here), "split");
  int size = 1;
  check(MPI_Comm_size(here, &size), "size");
  MPI_Comm_free(&here);
  return static_cast<std::size_t>(size);
}

void MpiRanks::check_alike(const std::string& own, const std::string& what) {
  const std::vector<Bytes> all = gather(std::as_bytes(std::span(own)));
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0]) {
      const auto text = [](const Bytes& bytes) {
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      };
      throw Error(fmt::format("{} (rank 0: {}; rank {}: {})", what, text(all[0]), r, text(all[r])));
    }
}

bool MpiRanks::all_here(double seconds) {
  MPI_Request request;
  if (MPI_Ibarrier(end_, &request) != MPI_SUCCESS) return false;
  const double begin = MPI_Wtime();
  int done = 0;
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
    if (MPI_Wtime() - begin > seconds) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return done != 0;
}

}  // namespace edict::mpi
