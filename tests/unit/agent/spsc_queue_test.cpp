#include "agent/spsc_queue.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace rehearsal::agent {
namespace {

TEST(SpscQueueTest, FullIsAReturnValueAndLeavesTheValueAlone) {
  SpscQueue<std::unique_ptr<int>> queue(2);
  EXPECT_EQ(queue.room(), 2U);
  EXPECT_TRUE(queue.push(std::make_unique<int>(1)));
  EXPECT_TRUE(queue.push(std::make_unique<int>(2)));
  auto third = std::make_unique<int>(3);
  EXPECT_FALSE(queue.push(std::move(third)));
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(**queue.pop(), 1);
  EXPECT_TRUE(queue.push(std::move(third)));
  EXPECT_EQ(**queue.pop(), 2);
  EXPECT_EQ(**queue.pop(), 3);
  EXPECT_FALSE(queue.pop().has_value());
}

TEST(SpscQueueTest, AnotherThreadSeesEverythingInOrder) {
  constexpr int kCount = 100'000;
  SpscQueue<int> queue(64);
  std::thread producer([&] {
    for (int i = 0; i < kCount; ++i) {
      int value = i;
      while (!queue.push(std::move(value))) std::this_thread::yield();
    }
  });
  for (int expected = 0; expected < kCount;) {
    const auto value = queue.pop();
    if (!value) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(*value, expected++);
  }
  producer.join();
}

}  // namespace
}  // namespace rehearsal::agent
