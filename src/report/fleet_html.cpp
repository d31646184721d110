#include "report/fleet.hpp"
namespace overlap::report {
std::string fleet_html(const experiment::Fleet&, const std::string&) { return ""; }
}  // namespace overlap::report
