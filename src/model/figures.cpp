#include "model/figures.hpp"

#include <utility>

namespace overlap::model {

std::vector<Figure> figures(Device& device) {
  std::vector<Figure> all;
  for (const auto& [key, copies] : {std::pair("h2d", &device.h2d), std::pair("d2h", &device.d2h)}) {
    const std::string prefix = std::string(key) + ".";
    all.push_back({prefix + "times", FigureKind::copies, &copies->pinned});
    all.push_back({prefix + "duplex", FigureKind::copies, &copies->duplex});
    all.push_back({prefix + "pageable", FigureKind::copies, &copies->pageable});
    all.push_back({prefix + "lines", FigureKind::copies, &copies->lines});
  }
  all.push_back({"kernels.slowed", FigureKind::kernels, &device.kernels_slowed});
  for (auto& [name, kernel] : device.kernels) {
    for (Roof& roof : kernel.roofs) {
      all.push_back({"kernels.rates." + name, FigureKind::kernels, &roof.time});
    }
  }
  for (const auto cost : host_costs) {
    all.push_back({"host", FigureKind::calls, &(device.host.*cost)});
  }
  for (double* const delay :
       {&device.latency.start_s, &device.latency.lane_s, &device.latency.event_s,
        &device.latency.notice_s, &device.latency.handover_s}) {
    all.push_back({"latency", FigureKind::calls, delay});
  }
  return all;
}

}  // namespace overlap::model
