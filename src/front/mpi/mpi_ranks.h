// The processes that mpirun or srun started (base/threads/ranks.h), by MPI.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <string>

#include "base/threads/ranks.h"

namespace edict::mpi {

class MpiRanks : public Ranks {
 public:
  // `asked_to_stop` is set by the handler of a signal, in any of the processes.
  MpiRanks(MPI_Comm world, const std::atomic<bool>& asked_to_stop);

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }
  void meet(const std::string* failure) override;
  std::vector<Bytes> exchange(const std::vector<Bytes>& to) override;
  std::vector<Bytes> gather(std::span<const std::byte> own) override;

  // Set in all processes between the same two steps of their work.
  const std::atomic<bool>& stop_flag() const override { return stop_; }

  // How many of them are on this machine.
  std::size_t on_this_machine() const;
  // Throws the same Error in all where one of them says something else, which begins with `what`.
  void check_alike(const std::string& own, const std::string& what);
  // Whether all came here within the time: those that fail together, and not one alone.
  bool all_here(double seconds);
  double seconds_in_calls() const { return seconds_; }

 private:
  MPI_Comm world_;
  MPI_Comm end_;  // for those that leave, whatever the others are at
  const std::atomic<bool>& asked_;
  std::atomic<bool> stop_ = false;
  std::size_t rank_ = 0, size_ = 1;
  double seconds_ = 0;
};

}  // namespace edict::mpi
