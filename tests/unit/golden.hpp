#pragma once

#include <string>
#include <vector>

#include "deck/deck.hpp"
#include "deck_file.hpp"
#include "generated.hpp"
#include "hand_schedule.hpp"

/// Texts in tests/data/golden that must stay the same to the byte, and what they are made from.
namespace overlap {

struct Golden {
  std::string file;
  std::string text;
};

inline void expect_golden(const std::vector<Golden>& rows) {
  for (const auto& [file, text] : rows) {
    test::expect_generated(OVERLAP_SOURCE_DIR "/tests/data/golden/" + file, text);
  }
}

/// `text` without what stands between a beginning and an end, as often as they come.
inline std::string without(std::string text, const std::string& begin, const std::string& end) {
  for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    text.erase(at, text.find(end, at) - at);
  }
  return text;
}

inline std::string without_style(const std::string& text) {
  return without(text, "<style>", "</style>");
}

/// The points of a deck, as if it lay where the tests run.
inline std::vector<deck::DeckPoint> golden_points(const std::string& text) {
  const DeckFile file(text);
  std::vector<deck::DeckPoint> points = deck::load_points(file.path());
  for (deck::DeckPoint& point : points) {
    point.deck.path = "hand.yaml";
    point.deck.title = "By hand";
  }
  return points;
}

/// A device whose every cost is different from all others.
inline model::Device golden_device() {
  using model::Curve;
  model::Device device = model::device_of(model::Queues::connection);
  device.name = "hand";
  device.h2d.pinned = Curve::line(2e-6, 10e9);
  device.h2d.pageable = Curve({{4096, 5e-6}, {65536, 23e-6}, {1 << 20, 310e-6}});
  device.h2d.unblocked_bytes = 8192;
  device.d2h.pinned = Curve::line(3e-6, 12e9);
  device.h2d.duplex = slower(device.h2d.pinned, 1.25);
  device.d2h.duplex = slower(device.d2h.pinned, 1.15);
  for (const char* const name : {"increment", "rowsum", "pipeline", "dgemm"}) {
    device.kernels[name] = {{{0, Curve::line(4e-6, 90e9)},
                             {8, Curve::line(5e-6, 50e9)},
                             {64, Curve::line(6e-6, 20e9)}}};
  }
  device.copy_connections = 2;
  device.connections = 3;
  device.kernels_slowed = 1.07;
  device.host = {.copy_s = 1.1e-6,
                 .kernel_s = 2.3e-6,
                 .record_s = 0.7e-6,
                 .wait_s = 0.5e-6,
                 .query_s = 0.9e-6,
                 .synchronize_s = 1.7e-6};
  device.latency = {.start_s = 1.3e-6, .lane_s = 0.6e-6, .event_s = 1.9e-6, .notice_s = 3.1e-6};
  return device;
}

}  // namespace overlap
