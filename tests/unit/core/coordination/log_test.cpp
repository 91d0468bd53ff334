#include "core/coordination/log.hpp"

#include <gtest/gtest.h>

namespace rehearsal::coordination {
namespace {

TEST(LogLine, FieldsAreQuotedWhereTheyNeedIt) {
  const Log log = log_line(LogLevel::warning, "agent lost",
                           {{"run", "e1-r1"}, {"reason", "said \"no\""}, {"note", ""}});
  EXPECT_EQ(log.text, "agent lost run=e1-r1 reason=\"said \\\"no\\\"\" note=\"\"");
}

TEST(OneLine, WhatAPeerSaysCannotForgeALine) {
  EXPECT_EQ(one_line("a\nrun started"), "a run started");
  EXPECT_LT(one_line(std::string(5000, 'x')).size(), 500u);
}

TEST(Cut, CutsBetweenCharacters) {
  EXPECT_EQ(cut("aé", 2), "a");
  EXPECT_EQ(cut("aé", 3), "aé");
  EXPECT_EQ(cut("abc", 2), "ab");
}

TEST(Plain, MayComeFromAnywhere) {
  EXPECT_EQ(plain("gesch\xC3"), "gesch?");
  EXPECT_EQ(plain("a\nb"), "a b");
  EXPECT_TRUE(plain(std::string(5000, 'x')).ends_with(" …"));
}

}  // namespace
}  // namespace rehearsal::coordination
