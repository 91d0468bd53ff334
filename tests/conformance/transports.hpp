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
  /// How many ranks the suite has, one a host.
  std::vector<std::uint32_t> ranks = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};
  /// … and in the all_reduce also.
  std::vector<std::uint32_t> all_reduce_ranks = {};
  /// … and two a host.
  std::vector<std::uint32_t> paired_ranks = {2, 4, 5, 8};
};

/// All of them that this program tests: each program of the suite has a file of them, and a new
/// transport is added there, and nowhere else.
std::vector<TransportUnderTest> transports_under_test();

}  // namespace rehearsal::test
