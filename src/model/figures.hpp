#pragma once

#include <string>
#include <variant>
#include <vector>

#include "model/device.hpp"

namespace overlap::model {

enum class FigureKind { copies, kernels, calls };  ///< as in Spread

/// A figure that is measured: a curve, or a time or factor.
struct Figure {
  std::string name;  ///< as in Device::doubtful
  FigureKind kind;
  std::variant<Curve*, double*> value;
};

inline double spread_of(const Spread& spread, FigureKind kind) {
  return kind == FigureKind::copies    ? spread.copies
         : kind == FigureKind::kernels ? spread.kernels
                                       : spread.calls;
}

/// All measured figures of a device but its numbers of queues, in an order that depends only on its
/// kernels and roofs.
std::vector<Figure> figures(Device& device);

}  // namespace overlap::model
