// MPI_Allreduce of floats, back to back.   openmpi_all_reduce BYTES ITERATIONS WARM_UP
#define OMPI_SKIP_MPICXX 1  // the C interface is enough
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 64);
  const auto count = static_cast<std::size_t>(std::atoll(argv[1])) / sizeof(float);
  const int iterations = std::atoi(argv[2]);
  const int warm_up = std::atoi(argv[3]);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<float> in(count, 1.0F);
  std::vector<float> out(count);
  double started = 0;
  for (int i = 0; i < warm_up + iterations; ++i) {
    if (i == warm_up) {
      MPI_Barrier(MPI_COMM_WORLD);
      started = MPI_Wtime();
    }
    MPI_Allreduce(in.data(), out.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  }
  if (rank == 0) std::printf("{\"seconds\": %.9f}\n", (MPI_Wtime() - started) / iterations);
  MPI_Finalize();
  return 0;
}
