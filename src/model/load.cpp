#include "model/load.hpp"

#include <algorithm>
#include <filesystem>

#include "model/fields.hpp"
#include "yaml/shipped.hpp"

namespace overlap::model {
Device load_device(const std::string& name_or_path) {
  const std::string path = yaml::path_of(name_or_path, "devices", "device");
  const yaml::Document document = yaml::read_document(path, "device file");
  const yaml::Reader reader(*document.root, "device file");
  Device device;
  read(device_table(), reader, device);
  if (device.unit_s > 0 && reader.at("kernels").has("rates")) {
    reader.at("kernels").at_key("rates").fail(fmt::format(
        "found with unit ({}); the two are mutually exclusive", reader.at("unit").origin()));
  }
  device.path = path;
  device.name = yaml::name_of(path);
  if (device.title.empty()) device.title = device.name;
  return device;
}

std::vector<std::string> device_names() { return yaml::shipped_names("devices"); }

}  // namespace overlap::model
