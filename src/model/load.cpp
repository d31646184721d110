#include "model/load.hpp"

#include <algorithm>
#include <filesystem>

#include "model/fields.hpp"

namespace overlap::model {
namespace {

/// The folder of input/devices: next to the installed program, else in the sources.
std::filesystem::path devices_folder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto installed = program.parent_path() / OVERLAP_INSTALLED_INPUT "/devices";
  if (!error && std::filesystem::is_directory(installed, error)) return installed;
  return OVERLAP_SOURCE_INPUT "/devices";
}

/// The path of a device file; the name alone is enough for those in input/devices.
std::string path_of(const std::string& name_or_path) {
  const bool path = name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".yaml");
  if (path) return name_or_path;
  const std::vector<std::string> names = device_names();
  if (std::find(names.begin(), names.end(), name_or_path) == names.end()) {
    throw base::Error(
        base::ExitCode::usage,
        fmt::format("{}: no such device; allowed: {}{}the path of a device file{}",
                    yaml::quoted(name_or_path), fmt::join(names, ", "),
                    names.empty() ? "" : ", or ", yaml::suggestion(name_or_path, names)));
  }
  return devices_folder() / (name_or_path + ".yaml");
}

}  // namespace

Device load_device(const std::string& name_or_path) {
  const std::string path = path_of(name_or_path);
  const yaml::Document document = yaml::read_document(path, "device file");
  const yaml::Reader reader(*document.root);
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

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(devices_folder(), error)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace overlap::model
