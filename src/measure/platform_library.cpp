#include "measure/platform_library.hpp"

#include <dlfcn.h>

#include <memory>

namespace overlap::measure {

Symbols load_library(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    const std::shared_ptr<void> loaded(library, [](void* handle) { dlclose(handle); });
    return [loaded](const char* symbol) { return dlsym(loaded.get(), symbol); };
  }
  return {};
}

}  // namespace overlap::measure
