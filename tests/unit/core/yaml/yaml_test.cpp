#include "core/yaml/yaml.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace rehearsal::yaml {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string failure_of(std::string_view text) {
  const auto document = parse(text, "a.yaml");
  return document ? "" : document.error().message;
}

// Parses "value: TEXT" and hands the value over.
template <typename Read>
auto read(std::string_view text, Read reader) {
  const auto document = parse("value: " + std::string(text), "a.yaml");
  if (!document) throw std::runtime_error(document.error().message);
  return reader(*document->root().as_mapping({"value"})->optional("value"));
}

TEST(YamlParse, ReadsMappingsListsAndScalars) {
  const auto document =
      parse("name: a job\nranks: [0, 1]\nnested:\n  - {x: 1}\n  - x: 2\n", "a.yaml");
  ASSERT_TRUE(document);
  const auto root = document->root().as_mapping({"name", "ranks", "nested", "unused"});
  ASSERT_TRUE(root);
  EXPECT_EQ(*root->required("name")->text(), "a job");
  EXPECT_EQ(root->required("ranks")->items()->size(), 2U);
  EXPECT_FALSE(root->optional("unused"));
  const auto nested = root->required("nested")->items();
  EXPECT_EQ(*nested->at(1).as_mapping({"x"})->required("x")->integer(0, 9), 2U);
  EXPECT_EQ(nested->at(1).path(), "nested[1]");
  EXPECT_EQ(nested->at(1).position(), "a.yaml:5:5");
}

TEST(YamlParse, RefusesWhatMakesAFileMeanMoreThanItSays) {
  EXPECT_EQ(failure_of("a: &x 1\nb: 2\n"),
            "a.yaml:1:4: anchor '&x' is not allowed; write the value out where it is used");
  EXPECT_THAT(failure_of("a: *x\n"), StartsWith("a.yaml:1:4: "));
  EXPECT_THAT(failure_of("a: &x [*x]\n"), HasSubstr("anchor '&x' is not allowed"));
  EXPECT_THAT(failure_of("a: !!int 3\n"), HasSubstr("tag 'tag:yaml.org,2002:int' is not allowed"));
  EXPECT_THAT(failure_of("a: !mine {b: 1}\n"), HasSubstr("tag '!mine' is not allowed"));
  EXPECT_THAT(failure_of("a: {<<: {b: 1}}\n"), HasSubstr("a.yaml:1:5: a: a merge key"));
  EXPECT_EQ(failure_of("a: 1\nb: 2\na: 3\n"),
            "a.yaml:3:1: key 'a' stands here a second time; every key once");
  EXPECT_THAT(failure_of("a: 1\n---\nb: 2\n"), HasSubstr("a second document starts here"));
  EXPECT_THAT(failure_of("{: 1}\n"), HasSubstr("an empty key"));
  EXPECT_THAT(failure_of("[a]: 1\n"), HasSubstr("a list or mapping as key"));
  EXPECT_THAT(failure_of("? [a]\n: 1\n"), HasSubstr("a list or mapping as key"));
}

TEST(YamlParse, RefusesEmptyInput) {
  EXPECT_EQ(failure_of(""), "a.yaml:1:1: the file is empty");
  EXPECT_EQ(failure_of("# only a comment\n"), "a.yaml:1:1: the file is empty");
  EXPECT_EQ(failure_of("---\n"), "a.yaml:1:1: the file is empty");
}

TEST(YamlParse, RefusesTruncatedInput) {
  EXPECT_THAT(failure_of("a: [1, 2"), StartsWith("a.yaml:1:8: not valid YAML: "));
  EXPECT_THAT(failure_of("a: \"open"), HasSubstr("not valid YAML"));
  EXPECT_THAT(failure_of("a: {b: 1\nc: 2\n"), HasSubstr("not valid YAML"));
}

TEST(YamlParse, RefusesWhatIsNotText) {
  EXPECT_EQ(failure_of(std::string_view("a: 1\nb: \0\n", 10)),
            "a.yaml:2:4: the file holds the byte '\\x00', which no text has; YAML in UTF-8");
  EXPECT_THAT(failure_of("\xff\xfe"
                         "a"),
              HasSubstr("a.yaml:1:1: the file holds the byte"));
}

TEST(YamlParse, RefusesOversizedInput) {
  std::string text = "a: 1\n#";
  text.resize(kDocumentBytesMax, 'x');
  EXPECT_TRUE(parse(text, "a.yaml"));
  text += 'x';
  const auto document = parse(text, "a.yaml");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().code, ErrorCode::too_large);
  EXPECT_EQ(document.error().message, "a.yaml: 1048577 bytes; at most 1MiB");
}

TEST(YamlParse, RefusesDeepNesting) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + "1" + std::string(depth, ']');
  };
  EXPECT_EQ(failure_of(nested(kDepthMax)), "");
  EXPECT_THAT(failure_of(std::string(1'000'000, '[')), HasSubstr("more than 1000 brackets"));
  EXPECT_THAT(failure_of(nested(kDepthMax + 1)), HasSubstr("nested deeper than 32 levels"));
  EXPECT_THAT(failure_of(std::string(kDocumentBytesMax, '[')), HasSubstr("a.yaml:"));
  std::string dashes;
  for (int i = 0; i < 100'000; ++i) dashes += "- ";
  EXPECT_THAT(failure_of(dashes), HasSubstr("nested deeper than 32 levels"));
}

TEST(YamlParse, ManyKeysAreReadInTime) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const auto document = parse(text, "a.yaml");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root().entries()->size(), 60'000U);
}

TEST(YamlMapping, NamesUnknownKeysAndWhatIsMeant) {
  const auto document = parse("jobs:\n  - nmae: x\n", "a.yaml");
  const auto item = document->root().entries()->at(0).second.items()->at(0);
  EXPECT_EQ(item.as_mapping({"name", "hosts"}).error().message,
            "a.yaml:2:5: jobs[0].nmae: unknown key; did you mean 'name'? the keys here are name, "
            "hosts");
  EXPECT_EQ(item.as_mapping({"hosts"}).error().message,
            "a.yaml:2:5: jobs[0].nmae: unknown key; the keys here are hosts");
}

TEST(YamlMapping, NamesWhatIsMissing) {
  const auto document = parse("jobs:\nname: x\n", "a.yaml");
  const auto root = document->root().as_mapping({"name", "hosts", "jobs"});
  EXPECT_EQ(root->required("hosts").error().message,
            "a.yaml:1:1: key 'hosts' is missing; it must be given");
  EXPECT_EQ(root->required("jobs").error().message,
            "a.yaml:1:1: jobs: is empty; it must have a value");
  EXPECT_EQ(root->required("name")->as_mapping({"a"}).error().message,
            "a.yaml:2:7: name: is a single value; expected a mapping; the keys here are a");
  EXPECT_EQ(
      root->required("name")->items().error().message,
      "a.yaml:2:7: name: is a single value; expected a list, like [a, b] or one '- a' a line");
}

TEST(YamlInteger, TakesPlainDecimalOnly) {
  const auto integer = [](std::string_view text) {
    return read(text, [](Node node) { return node.integer(0, 1000); });
  };
  EXPECT_EQ(*integer("0"), 0U);
  EXPECT_EQ(*integer("1000"), 1000U);
  EXPECT_EQ(integer("1001").error().message,
            "a.yaml:1:8: value: '1001' is out of range; expected a whole number from 0 to 1000, in "
            "plain decimal digits");
  for (const char* text : {"010", "00", "1e3", "0x10", "-1", "+1", "1.0", "1_000", "0o7", "ten",
                           "~", "[1]", "'10'", "\"10\"", "99999999999999999999999"}) {
    EXPECT_FALSE(integer(text)) << text;
  }
  EXPECT_EQ(
      *read("18446744073709551615",
            [](Node node) { return node.integer(0, std::numeric_limits<std::uint64_t>::max()); }),
      std::numeric_limits<std::uint64_t>::max());
}

TEST(YamlBoolean, TakesTrueAndFalseOnly) {
  const auto boolean = [](std::string_view text) {
    return read(text, [](Node node) { return node.boolean(); });
  };
  EXPECT_TRUE(*boolean("true"));
  EXPECT_FALSE(*boolean("false"));
  for (const char* text : {"yes", "on", "True", "1", "'true'", "{}"}) EXPECT_FALSE(boolean(text));
  EXPECT_EQ(boolean("yes").error().message,
            "a.yaml:1:8: value: 'yes' is not a truth value; expected true or false");
}

TEST(YamlText, TakesAnyScalarButNoLeftOvers) {
  const auto text = [](std::string_view written) {
    return read(written, [](Node node) { return node.text(); });
  };
  EXPECT_EQ(*text("yes"), "yes");
  EXPECT_EQ(*text("10"), "10");
  EXPECT_EQ(*text("'~'"), "~");
  EXPECT_FALSE(text("~"));
  EXPECT_FALSE(text(""));
  EXPECT_FALSE(text("''"));
  EXPECT_EQ(text("CHANGEME-host").error().message,
            "a.yaml:1:8: value: 'CHANGEME-host' was left over from a template; put the real value "
            "in");
  EXPECT_EQ(*read("''", [](Node node) { return node.text_or_empty(); }), "");
}

TEST(YamlQuantities, NeedUnits) {
  EXPECT_EQ(*read("64MiB", [](Node node) { return node.bytes(); }), Bytes{64U << 20});
  EXPECT_EQ(*read("250us", [](Node node) { return node.duration(); }),
            std::chrono::microseconds{250});
  EXPECT_EQ(*read("100Gbit/s", [](Node node) { return node.bit_rate(); }),
            BitRate{100'000'000'000});
  EXPECT_EQ(read("64", [](Node node) { return node.bytes(); }).error().message,
            "a.yaml:1:8: value: '64' has no unit; write it like 64MiB, 512KiB or 100B");
  EXPECT_EQ(read("[1ms]", [](Node node) { return node.duration(); }).error().message,
            "a.yaml:1:8: value: is a list; expected a duration, like 250us");
}

enum class Colour { red, green };
std::string_view to_string(Colour colour) { return colour == Colour::red ? "red" : "green"; }

TEST(YamlOneOf, ReadsEnumeratorsByTheirName) {
  const auto colour = [](std::string_view text) {
    return read(text, [](Node node) { return node.one_of({Colour::red, Colour::green}); });
  };
  EXPECT_EQ(*colour("green"), Colour::green);
  EXPECT_EQ(
      colour("gren").error().message,
      "a.yaml:1:8: value: 'gren' is unknown; did you mean 'green'? expected one of red, green");
  EXPECT_EQ(colour("blue-violet").error().message,
            "a.yaml:1:8: value: 'blue-violet' is unknown; expected one of red, green");
}

}  // namespace
}  // namespace rehearsal::yaml
