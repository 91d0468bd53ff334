// Gloo's ring all_reduce of floats over TCP, back to back, rendezvous through files.
//
//   gloo_all_reduce RANK RANKS ADDRESS FOLDER BYTES ITERATIONS WARM_UP
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 8) return 64;
  const int rank = std::atoi(argv[1]);
  const int ranks = std::atoi(argv[2]);
  const auto count = static_cast<std::size_t>(std::atoll(argv[5])) / sizeof(float);
  const int iterations = std::atoi(argv[6]);
  const int warm_up = std::atoi(argv[7]);

  gloo::transport::tcp::attr attributes;
  attributes.hostname = argv[3];
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  gloo::rendezvous::FileStore store(argv[4]);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  context->connectFullMesh(store, device);

  std::vector<float> data(count, 1.0F);
  gloo::AllreduceOptions options(context);
  options.setOutput(data.data(), count);
  options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
  options.setReduceFunction(
      [](void* c, const void* a, const void* b, std::size_t n) { gloo::sum<float>(c, a, b, n); });
  gloo::BarrierOptions barrier(context);
  auto started = std::chrono::steady_clock::now();
  for (int i = 0; i < warm_up + iterations; ++i) {
    if (i == warm_up) {
      gloo::barrier(barrier);
      started = std::chrono::steady_clock::now();
    }
    gloo::allreduce(options);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
  gloo::barrier(barrier);
  if (rank == 0) std::printf("{\"seconds\": %.9f}\n", taken.count() / iterations);
  return 0;
}
