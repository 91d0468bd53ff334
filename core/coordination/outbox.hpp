#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/coordination/log.hpp"

namespace rehearsal::coordination {

/// Gathers the actions of one event, in order.
class Outbox {
 public:
  void send(SessionId session, protocol::Envelope message) {
    actions_.push_back(Send{session, std::move(message)});
  }
  void close(SessionId session, std::string reason) {
    actions_.push_back(Close{session, std::move(reason)});
  }
  void store(StoreRun run) { actions_.push_back(std::move(run)); }
  void log(LogLevel level, std::string_view event, std::initializer_list<Field> fields) {
    actions_.push_back(log_line(level, event, fields));
  }

  ComputationId compute(std::function<Computation()> make) {
    const ComputationId id{++computations_};
    actions_.push_back(Compute{id, std::move(make)});
    return id;
  }

  std::vector<Action> take() { return std::exchange(actions_, {}); }

 private:
  std::vector<Action> actions_;
  std::uint64_t computations_ = 0;
};

}  // namespace rehearsal::coordination
