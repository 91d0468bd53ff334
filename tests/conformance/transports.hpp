#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/cluster/cluster.hpp"

namespace rehearsal::test {

/// A transport that has to pass the suite.
struct TransportUnderTest {
  std::string name;  ///< letters and digits: part of the test's name
  std::function<std::unique_ptr<Clock>()> make_clock;
  /// What makes the transports of one cluster; it holds what they share and outlives them.
  std::function<Cluster::MakeTransport(const plan::Plan&)> make;
};

/// All of them; a new transport is added in transports.cpp, and nowhere else.
std::vector<TransportUnderTest> transports_under_test();

}  // namespace rehearsal::test
