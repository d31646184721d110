#include <fstream>
#include <string>

#include "results/compare.hpp"
#include "results/fleet.hpp"

/// Writes the JSON Schemas of all result files into a folder, as part of the build.
namespace overlap::results {
namespace {

using describe::Json;

Json document(const char* name, const std::string& what, const Json& body) {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", name},
                 {"description", what + " Fields may be added within a version: readers ignore "
                                        "what they do not know."}};
  schema.update(body);
  return schema;
}

/// A result, or those of several decks.
Json result_document() {
  const Json result = {{"$ref", "#/$defs/result"}};
  const Json list = {{"type", "array"}, {"minItems", 1}, {"items", result}};
  const Json several = {
      {"type", "object"}, {"required", {"results"}}, {"properties", {{"results", list}}}};
  return document(
      result_schema, "Result file of miniapp.",
      {{"oneOf", {result, several}}, {"$defs", {{"result", describe::schema<Result>()}}}});
}

bool write(const std::string& folder, std::string name, const Json& schema) {
  name.replace(name.find('/'), 1, "-");
  std::ofstream file(folder + "/" + name + ".schema.json");
  file << schema.dump(2) << "\n";
  return file.good();
}

}  // namespace
}  // namespace overlap::results

int main(int argc, char** argv) {
  using namespace overlap::results;
  if (argc != 2) return 3;
  const std::string folder = argv[1];
  const bool written = write(folder, result_schema, result_document()) &&
                       write(folder, fleet_schema,
                             document(fleet_schema, "What miniapp found about many devices.",
                                      overlap::describe::schema<Fleet>())) &&
                       write(folder, comparison_schema,
                             document(comparison_schema, "What miniapp compare found.",
                                      overlap::describe::schema<Comparisons>()));
  return written ? 0 : 1;
}
