#include "agent/control/worker_port.hpp"

#include <utility>

namespace rehearsal::agent {
namespace {

class ThreadWorker final : public WorkerPort {
 public:
  explicit ThreadWorker(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}

  void connect(std::vector<coordination::KeyedAddress> addresses) override {
    worker_->connect(std::move(addresses));
  }
  void start_step(std::uint32_t iteration, std::uint32_t phase, Instant instant) override {
    worker_->start_step(iteration, phase, instant);
  }
  void stop() override { worker_->stop(); }
  void finish() override { worker_->finish(); }
  std::vector<WorkerEvent> take_events() override { return worker_->take_events(); }
  WorkerCounters counters() const override { return worker_->counters(); }

 private:
  std::unique_ptr<Worker> worker_;
};

}  // namespace

Result<std::unique_ptr<WorkerPort>> start_worker(WorkerOptions options) {
  ASSIGN_OR_RETURN(auto worker, Worker::start(std::move(options)));
  return std::make_unique<ThreadWorker>(std::move(worker));
}

}  // namespace rehearsal::agent
