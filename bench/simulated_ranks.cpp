// A step of edict-mpi on machines that are not there: the collectives of base/threads/ranks.h in
// the order in which a batch calls them, run by SimGrid's SMPI, with measured times in the place of
// computation. bench/simulate builds and runs it; what it prints is simulated.
//
//   simulated_ranks BATCH CHUNK PARAMETERS CHUNK_SECONDS STEP_SECONDS
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

// SMPI lets the simulated clock run on.
void compute(double seconds) { usleep(static_cast<useconds_t>(seconds * 1e6)); }

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 6) return 2;
  const long batch = std::atol(argv[1]), chunk = std::atol(argv[2]),
             parameters = std::atol(argv[3]);
  const double chunk_seconds = std::atof(argv[4]);
  const double step_seconds = std::atof(argv[5]);  // of Adam and what else every rank does alike
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long chunks = (batch + chunk - 1) / chunk;
  const auto own_chunks = [&](int r) { return r < chunks ? (chunks - r + size - 1) / size : 0; };
  const auto segment = [&](int r) { return parameters * (r + 1) / size - parameters * r / size; };
  constexpr long kLosses = 72;     // bytes of a chunk's losses
  constexpr double kAdd = 0.3e-9;  // seconds to add a number
  std::vector<int> send(size), receive(size), from(size), to(size), sums(size), places(size);
  long sent = 0, received = 0, gathered = 0;
  for (int r = 0; r < size; ++r) {
    to[r] = static_cast<int>(sent), from[r] = static_cast<int>(received);
    places[r] = static_cast<int>(gathered);
    send[r] = static_cast<int>(own_chunks(rank) * (4 * segment(r) + kLosses));
    receive[r] = static_cast<int>(own_chunks(r) * (4 * segment(rank) + kLosses));
    sums[r] = static_cast<int>(4 * segment(r));
    sent += send[r], received += receive[r], gathered += sums[r];
  }
  // What is in the buffers does not matter: all ranks of the simulation share them.
  char* const out = static_cast<char*>(SMPI_SHARED_MALLOC(static_cast<std::size_t>(sent) + 1));
  char* const in = static_cast<char*>(SMPI_SHARED_MALLOC(static_cast<std::size_t>(received) + 1));
  char* const all = static_cast<char*>(SMPI_SHARED_MALLOC(static_cast<std::size_t>(gathered) + 1));
  constexpr int kSteps = 1;  // simulated, so that all are alike
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int step = 0; step < kSteps; ++step) {
    compute(static_cast<double>(own_chunks(rank)) * chunk_seconds);
    int status[2] = {0, 0}, agreed[2];
    MPI_Allreduce(status, agreed, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Alltoall(send.data(), 1, MPI_INT, receive.data(), 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(out, send.data(), to.data(), MPI_BYTE, in, receive.data(), from.data(), MPI_BYTE,
                  MPI_COMM_WORLD);
    compute(static_cast<double>(chunks * segment(rank)) * kAdd);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, sums.data(), 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(out, sums[rank], MPI_BYTE, all, sums.data(), places.data(), MPI_BYTE,
                   MPI_COMM_WORLD);
    compute(step_seconds);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = (MPI_Wtime() - begin) / kSteps;
  if (rank == 0) std::printf("%ld %ld %d %.6f\n", batch, chunk, size, seconds);
  SMPI_SHARED_FREE(out);
  SMPI_SHARED_FREE(in);
  SMPI_SHARED_FREE(all);
  MPI_Finalize();
  return 0;
}
