#include "describe/describe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "deck_file.hpp"

/// Structs as no deck or result has them, with everything that a description can say.
namespace overlap {
namespace {

using describe::Json;
using describe::Reader;

enum class Shape { box, disc };
constexpr auto words_of(Shape) { return describe::in_order<Shape>("box", "disc"); }

struct Point {
  double x = 0;
  int n = 1;
  bool operator==(const Point&) const = default;
};

void describe(describe::Visitor& v, Point& p) {
  v("x", p.x, "Abscissa.");
  v("n", p.n, "How often.", describe::from_zero);
}

struct Toy {
  std::string name;
  Shape shape = Shape::box;
  double width = 2;
  std::optional<double> radius;
  Point origin;
  std::optional<double> limit;
  std::vector<double> samples;
  std::vector<Point> points;
  std::optional<Point> centre;
  std::map<std::string, Point> corners;
  bool round = false;
  std::int64_t bytes = 64;
  std::int64_t later = 7;
  Json rest;
};

void describe(describe::Visitor& v, Toy& t) {
  v("name", t.name, "Its name.", describe::required);
  v.selector("shape", t.shape, "Its shape.");
  if (t.shape == Shape::box) v("width", t.width, "Its width.", describe::above_zero);
  if (t.shape == Shape::disc) v("radius", t.radius, "Its radius.");
  v("origin", t.origin, "Where\nit is.");
  v("limit", t.limit, "Its limit.", describe::optional(describe::part("a fraction", 0, 1)),
    describe::defaults_to("not set"));
  v("samples", t.samples, "Its samples.", describe::from_zero);
  v("points", t.points, "Its points.");
  v("centre", t.centre, "Its centre.");
  v("corners", t.corners, "Its corners.");
  v("round", t.round, "Whether it is.");
  v("bytes", t.bytes, "Its size.", describe::bytes(1, 1024));
  v("later", t.later, "Added later.", describe::unless(t.later == 7, describe::count(0, 9)),
    describe::defaults_to("`7`"));
  v("rest", t.rest, "What has no struct.", describe::Raw());
  if (const Reader* const map = v.reader(); map != nullptr && t.samples.size() == 3) {
    map->at("samples").fail_allowed("any but three");
  }
}

constexpr const char* disc = R"({
  "name": "a\nb", "shape": "disc", "radius": null, "origin": {"x": 0, "n": 1}, "samples": [1, 2.5e-3], "unknown": {"a": [1]},
  "points": [{"x": null, "n": 3}, {"n": 1, "x": 1e300}], "centre": null,
  "corners": {"left": {"x": 1, "n": 0}}, "round": true, "bytes": 5, "rest": {"b": [1, "x", null, false, 1.50]}
})";

Toy from_json(const std::string& text) {
  const describe::Document document = describe::parse_json("toy.json", text);
  Toy toy;
  describe::read(Reader(document), toy);
  return toy;
}

/// The message of an error; its code must be of a bad file of results, or of a bad deck.
std::string complaint(base::ExitCode code, auto act) {
  try {
    act();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "";
}

/// Of the JSON file with something in place of something else.
std::string json_complaint(const std::string& part, const std::string& by) {
  std::string text = disc;
  const auto at = text.find(part);
  if (at == std::string::npos) return "no such part";
  text.replace(at, part.size(), by);
  return complaint(base::ExitCode::runtime_error, [&] { from_json(text); });
}

Toy from_yaml(const DeckFile& file) {
  const describe::Document document = describe::read_yaml(file.path(), "toy file");
  Toy toy;
  describe::read(Reader(document), toy);
  return toy;
}

/// With '@' for the path of the file.
std::string yaml_complaint(const std::string& text) {
  const DeckFile file(text);
  return base::replaced(complaint(base::ExitCode::usage, [&] { from_yaml(file); }), file.path(),
                        "@");
}

TEST(Describe, ReadsJson) {
  const Toy toy = from_json(disc);
  EXPECT_EQ(toy.name, "a\\nb");
  EXPECT_EQ(toy.shape, Shape::disc);
  EXPECT_EQ(toy.width, 2);
  EXPECT_EQ(toy.radius, std::nullopt);
  EXPECT_EQ(toy.samples, (std::vector{1, 2.5e-3}));
  ASSERT_EQ(toy.points.size(), 2U);
  EXPECT_TRUE(std::isnan(toy.points[0].x));
  EXPECT_EQ(toy.points[0].n, 3);
  EXPECT_EQ(toy.points[1], (Point{1e300, 1}));
  EXPECT_EQ(toy.corners, (std::map<std::string, Point>{{"left", {1, 0}}}));
  EXPECT_TRUE(toy.round);
  EXPECT_EQ(toy.bytes, 5);
  EXPECT_EQ(toy.rest.dump(), R"({"b":[1,"x",null,false,1.5]})");
}

TEST(Describe, WritesWhatItReads) {
  const Json json = describe::write(from_json(disc));
  EXPECT_EQ(
      json.dump(),
      R"({"name":"a\\nb","shape":"disc","radius":null,"origin":{"x":0.0,"n":1},"samples":[1.0,0.0025],)"
      R"("points":[{"x":null,"n":3},{"x":1e+300,"n":1}],"centre":null,)"
      R"("corners":{"left":{"x":1.0,"n":0}},"round":true,"bytes":5,)"
      R"("rest":{"b":[1,"x",null,false,1.5]}})");
  EXPECT_EQ(describe::write(from_json(json.dump())), json);
  Toy box;
  box.points = {{.x = std::numeric_limits<double>::infinity()}};
  box.later = 8;
  EXPECT_EQ(describe::write(box)["points"].dump(), R"([{"x":null,"n":1}])");
  EXPECT_EQ(describe::write(box)["later"], 8);
  EXPECT_FALSE(describe::write(box).contains("radius"));
}

TEST(Suggestion, FindsSlipsOnly) {
  const std::vector<std::string> words = {"count", "bytes", "lanes"};
  EXPECT_EQ(describe::suggestion("cuont", words), "; did you mean 'count'?");
  EXPECT_EQ(describe::suggestion("byte", words), "; did you mean 'bytes'?");
  EXPECT_EQ(describe::suggestion("BYTES", words), "; did you mean 'bytes'?");
  EXPECT_EQ(describe::suggestion("Bytes-to-copy", words), "; did you mean 'bytes'?");
  EXPECT_EQ(describe::suggestion("by", words), "");
  EXPECT_EQ(describe::suggestion("streams", words), "");
}

TEST(Describe, JsonErrorsNameFileAndPath) {
  const auto bad = json_complaint;
  EXPECT_EQ(bad("\"disc\"", "\"disk\""),
            "toy.json: shape: found 'disk'; allowed: box, disc; did you mean 'disc'?");
  EXPECT_EQ(bad("2.5e-3", "-1"), "toy.json: samples[1]: found -1; allowed: a number from 0");
  EXPECT_EQ(bad("2.5e-3", "\"x\""), "toy.json: samples[1]: found 'x'; allowed: a number from 0");
  EXPECT_EQ(bad("1e300", "{}"), "toy.json: points[1].x: found a map; allowed: a number");
  EXPECT_EQ(bad(", \"x\": 1e300", ""), "toy.json: points[1].x: found nothing; allowed: a number");
  EXPECT_EQ(bad("\"n\": 3", "\"n\": 3.5"),
            "toy.json: points[0].n: found 3.5; allowed: a whole number from 0");
  EXPECT_EQ(bad("\"n\": 3", "\"n\": 3000000000"),
            "toy.json: points[0].n: found 3000000000; allowed: a whole number from 0");
  EXPECT_EQ(bad("\"a\\nb\"", "5"), "toy.json: name: found 5; allowed: text");
  EXPECT_EQ(bad("true", "\"yes\""), "toy.json: round: found 'yes'; allowed: true, false");
  EXPECT_EQ(bad("\"round\": true, ", ""), "toy.json: round: found nothing; allowed: true, false");
  EXPECT_EQ(bad("\"left\": {\"x\": 1", "\"left\": {\"x\": []"),
            "toy.json: corners.left.x: found a list; allowed: a number");
  EXPECT_EQ(bad("[1, 2.5e-3]", "[1, 2, 3]"),
            "toy.json: samples: found a list; allowed: any but three");
  EXPECT_EQ(bad("\"round\": true", "\"round\" true"),
            "toy.json:4:53: found no valid JSON; allowed: a result file");
  EXPECT_EQ(bad("1e300", "1e3000"), "toy.json: found no valid JSON; allowed: a result file");
  EXPECT_EQ(bad("1e300", std::string(1000, '[')),
            "toy.json: found no valid JSON; allowed: a result file");
  EXPECT_EQ(complaint(base::ExitCode::runtime_error, [] { from_json("[1]"); }),
            "toy.json: result file: found a list; allowed: a map");
  EXPECT_EQ(complaint(base::ExitCode::runtime_error, [] { from_json(""); }),
            "toy.json:1:1: found no valid JSON; allowed: a result file");
}

TEST(Describe, ReadsYaml) {
  const Toy toy = from_yaml(
      DeckFile("name: 'x: y'\nwidth: 3\nlimit: 5 %\nsamples: [1, 2]\npoints: [&p {x: 1}, *p]\n"
               "bytes: 1 KiB\nround: true\nrest: {a: [1]}\n"));
  EXPECT_EQ(toy.name, "x: y");
  EXPECT_EQ(toy.width, 3);
  EXPECT_EQ(toy.limit, 0.05);
  EXPECT_EQ(toy.points, (std::vector<Point>{{1, 1}, {1, 1}}));
  EXPECT_EQ(toy.bytes, 1024);
  EXPECT_TRUE(toy.round);
  EXPECT_EQ(toy.rest.dump(), R"({"a":["1"]})");
  EXPECT_EQ(from_yaml(DeckFile("name: a\n")).bytes, 64);
  EXPECT_EQ(from_yaml(DeckFile("shape: disc\nname: a\nradius: 1\n")).radius, 1);
}

TEST(Describe, YamlErrorsNameThePlace) {
  const std::string keys =
      "name, shape, width, radius, origin, limit, samples, points, centre, corners, round, bytes, "
      "later, "
      "rest";
  EXPECT_EQ(yaml_complaint(""), "@: name: found nothing; allowed: text");
  EXPECT_EQ(yaml_complaint("[1]"),
            "@:1:1: toy file: found a list; allowed: a map with the keys " + keys);
  EXPECT_EQ(yaml_complaint("name: a\nnmae: b\n"),
            "@:2:1: nmae: unknown key; allowed: " + keys + "; did you mean 'name'?");
  EXPECT_EQ(yaml_complaint("name: a\nname: b\n"),
            "@:2:1: name: found twice, first at @:1:1; allowed: once");
  EXPECT_EQ(yaml_complaint("name: a\nradius: 1\n"),
            "@:2:1: radius: found with shape box (by default); allowed: with shape disc");
  EXPECT_EQ(yaml_complaint("name: ä\npoints: [{x: ä, y: 1}]\n"),
            "@:2:18: points[0].y: unknown key; allowed: x, n; did you mean 'x'?");
  EXPECT_EQ(yaml_complaint("name: a\nlimit: 2\n"), "@:2:8: limit: found '2'; allowed: a fraction");
  EXPECT_EQ(yaml_complaint("name: a\nbytes: 3 kib\n"),
            "@:2:8: bytes: found '3 kib'; allowed: a size of at least 1 B and at most 1 KiB, such "
            "as 65536, 16 MiB or 2 GB; units: TiB, GiB, MiB, KiB, B, TB, GB, MB, KB, kB");
  // Spaces that look like ' ', but are not.
  EXPECT_THAT(yaml_complaint("name: a\nbytes: 1\u00a0KiB\n"),
              testing::HasSubstr("found '1\\u00a0KiB'; "));
  EXPECT_THAT(yaml_complaint("name: a\nbytes: 1\u202fKiB\n"),
              testing::HasSubstr("found '1\\u202fKiB'; "));
}

TEST(Describe, MakesASchema) {
  const Json schema = describe::schema<Toy>();
  const auto of = [&](const char* key) { return schema["properties"][key].dump(); };
  EXPECT_EQ(of("width"), R"({"description":"Its width.","type":"number","exclusiveMinimum":0.0})");
  EXPECT_EQ(of("radius"), R"({"description":"Its radius.","type":["number","null"]})");
  EXPECT_EQ(of("shape"), R"({"description":"Its shape.","type":"string","enum":["box","disc"]})");
  EXPECT_EQ(of("bytes"),
            R"({"description":"Its size.","type":"integer","minimum":1,"maximum":1024})");
  const std::string point =
      R"("type":"object","required":["x","n"],"properties":{"x":{"description":"Abscissa.",)"
      R"("type":"number"},"n":{"description":"How often.","type":"integer","minimum":0}}})";
  EXPECT_EQ(of("centre"),
            R"({"description":"Its centre.","anyOf":[{)" + point + R"(,{"type":"null"}]})");
  EXPECT_EQ(
      schema["required"].dump(),
      R"(["name","shape","origin","samples","points","centre","corners","round","bytes","rest"])");
  EXPECT_EQ(schema["allOf"].dump(),
            R"([{"if":{"properties":{"shape":{"const":"box"}}},"then":{"required":["width"]}},)"
            R"({"if":{"properties":{"shape":{"const":"disc"}}},"then":{"required":["radius"]}}])");
}

TEST(Describe, WritesCommentedYaml) {
  Toy toy;
  toy.name = "x";
  toy.corners = {{"left", {1, 2}}};
  toy.points = {{0.5, 1}, {2, 1}};
  toy.rest = Json::parse(R"({"times": [[1, 2]]})");
  EXPECT_EQ(describe::to_yaml(toy), R"(name: x  # Its name.
shape: box  # Its shape.
width: 2  # Its width.

# Where
# it is.
origin:
  x: 0  # Abscissa.
  n: 1  # How often.
samples: []  # Its samples.
points:  # Its points.
  - {x: 0.5, n: 1}
  - {x: 2, n: 1}
corners:  # Its corners.
  left: {x: 1, n: 2}
round: false  # Whether it is.
bytes: 64  # Its size.
rest: {times: [[1, 2]]}  # What has no struct.
)");
}

TEST(Describe, MakesAReference) {
  EXPECT_EQ(describe::map_reference([](describe::Visitor& v) {
              Toy toy;
              describe(v, toy);
            }),
            R"(| key | values | default | unit | meaning |
| --- | --- | --- | --- | --- |
| `name` | text | required |  | Its name. |
| `shape` | box, disc | `box` |  | Its shape. |
| `width` | a number above 0 | `2` |  | Its width. Only with shape box. |
| `radius` | a number, or null |  |  | Its radius. Only with shape disc. |
| `origin` | a map, see below |  |  | Where
it is. |
| `limit` | a fraction | not set |  | Its limit. |
| `samples` | a list | `[]` |  | Its samples. |
| `points` | a list | `[]` |  | Its points. |
| `centre` | a map with the keys x, n, or null |  |  | Its centre. |
| `corners` | a map of names | `{}` |  | Its corners. |
| `round` | true, false | `false` |  | Whether it is. |
| `bytes` | a size of at least 1 B and at most 1 KiB, such as 65536, 16 MiB or 2 GB | `64` | B | Its size. |
| `later` | a whole number from 0 to 9 | `7` |  | Added later. |
| `rest` | any value |  |  | What has no struct. |
)");
}

}  // namespace
}  // namespace overlap
