#include "core/import/wire.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rehearsal::importer {
namespace {

TEST(Wire, FieldsOfEveryType) {
  const std::string bytes(
      "\x08\x96\x01\x12\x02hi\x1d\x01\x00\x00\x00\x21\x02\x00\x00\x00\x00\x00\x00\x00", 21);
  WireReader reader(bytes);
  auto field = reader.field();
  ASSERT_TRUE(field);
  EXPECT_EQ(field->number, 1U);
  EXPECT_EQ(field->value, 150U);
  field = reader.field();
  ASSERT_TRUE(field && field->is_bytes);
  EXPECT_EQ(field->bytes, "hi");
  EXPECT_EQ(reader.field()->value, 1U);
  EXPECT_EQ(reader.field()->value, 2U);
  EXPECT_TRUE(reader.done());
}

TEST(Wire, MalformedIsNone) {
  for (const std::string bytes : {"\x08", "\x0a\x05hi", "\x0b", "\x0d\x01", "\x09\x01"}) {
    EXPECT_FALSE(WireReader(bytes).field()) << bytes.size();
  }
  EXPECT_FALSE(WireReader(std::string(1, '\0')).field()) << "field number 0";
  EXPECT_FALSE(WireReader(std::string(11, '\xff')).varint()) << "over 64 bits";
}

}  // namespace
}  // namespace rehearsal::importer
