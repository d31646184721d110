#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "deck/deck.hpp"
#include "deck/words.hpp"
#include "deck_file.hpp"
#include "experiment/judge.hpp"
#include "model/load.hpp"
#include "model/predict.hpp"
#include "schedule/build.hpp"
#include "schedule/hazard.hpp"

/// Every published figure of the seeds, what the model says about it from the shipped decks and
/// device files, and the table of docs/model.md that shows both.
namespace overlap::model {
namespace {

const std::string root = OVERLAP_SOURCE_DIR "/";

/// What figures are given in.
enum class Unit { milliseconds, chunk_stages, gflops, speedup };

struct Figure {
  std::string device;
  std::string deck;
  deck::Order order;
  std::string published;  ///< with the digits of the seed
  Unit unit;
  double within;  ///< of the published value, as a part of it
  std::vector<std::string> overrides = {};
};

/// The device was made from the figure.
constexpr double by_definition = 1e-5;
constexpr double exactly = 1e-9;

// The order is that of the tables in docs/model.md.
std::vector<Figure> figures() {
  using enum deck::Order;
  using enum Unit;
  const std::string increment = "input/increment.yaml";
  const std::string pipeline = "input/seeds/pipeline_seed.yaml";
  const std::string in_core = "input/rowsum_seed.yaml";
  const std::string out_of_core = "input/rowsum_out_of_core_seed.yaml";
  const std::vector<std::string> pageable = {"memory.host=pageable"};
  const std::vector<std::string> eight_tiles = {"workload.tile_n=1024"};
  return {
      {"ideal_1copy", increment, sequential, "12", chunk_stages, exactly},
      {"ideal_1copy", increment, depth_first, "12", chunk_stages, exactly},
      {"ideal_1copy", increment, breadth_first, "8", chunk_stages, exactly},
      {"ideal_2copy_delayed_signal", increment, sequential, "12", chunk_stages, exactly},
      {"ideal_2copy_delayed_signal", increment, depth_first, "6", chunk_stages, exactly},
      {"ideal_2copy_delayed_signal", increment, breadth_first, "9", chunk_stages, exactly},
      {"ideal_hyperq", increment, sequential, "12", chunk_stages, exactly},
      {"ideal_hyperq", increment, depth_first, "6", chunk_stages, exactly},
      {"ideal_hyperq", increment, breadth_first, "6", chunk_stages, exactly},

      {"c1060", increment, sequential, "12.92381", milliseconds, by_definition},
      {"c1060", increment, depth_first, "13.63690", milliseconds, 0.15},
      {"c1060", increment, breadth_first, "8.845888", milliseconds, 0.15},
      {"c2050", increment, sequential, "9.984512", milliseconds, by_definition},
      {"c2050", increment, depth_first, "5.735584", milliseconds, 0.15},
      {"c2050", increment, breadth_first, "7.597984", milliseconds, 0.15},
      {"k20c", increment, sequential, "7.101760", milliseconds, by_definition},
      {"k20c", increment, depth_first, "3.974144", milliseconds, 0.15},
      {"k20c", increment, breadth_first, "3.967616", milliseconds, 0.15},

      {"fermi", pipeline, sequential, "41.917", milliseconds, by_definition},
      {"fermi", pipeline, by_engine, "16.558", milliseconds, 0.17},
      {"fermi", pipeline, by_engine, "2.5", speedup, 0.14},
      {"kepler", pipeline, sequential, "52.19", milliseconds, by_definition},
      {"kepler", pipeline, by_engine, "16.271", milliseconds, 0.48},
      {"kepler", pipeline, by_engine, "3.2", speedup, 0.33},

      {"rtx5070ti", in_core, sequential, "303.726", milliseconds, by_definition},
      {"rtx5070ti", in_core, depth_first, "299.870", milliseconds, 0.02},
      {"rtx5070ti", in_core, breadth_first, "273.592", milliseconds, 0.06},
      {"rtx5070ti", out_of_core, depth_first, "5669.758", milliseconds, by_definition, pageable},
      {"rtx5070ti", out_of_core, breadth_first, "3936.489", milliseconds, 0.45, pageable},

      {"c2070", "input/seeds/dgemm_serial.yaml", custom, "125", gflops, by_definition},
      {"c2070", "input/seeds/dgemm_2way.yaml", custom, "177", gflops, 0.06},
      {"c2070", "input/seeds/dgemm_3way.yaml", custom, "262", gflops, 0.02},
      {"c2070", "input/seeds/dgemm_4way.yaml", custom, "282", gflops, 0.03},
      {"c2070", "input/dgemm.yaml", two_way, "177", gflops, 0.06, eight_tiles},
      {"c2070", "input/dgemm.yaml", three_way, "262", gflops, 0.02, eight_tiles},
      {"c2070", "input/dgemm.yaml", four_way, "282", gflops, 0.03, eight_tiles},
      {"c2070",
       "input/sweeps/dgemm_rank.yaml",
       four_way,
       "330",
       gflops,
       0.01,
       {"workload.k=2048", "workload.host_share=12.5%", "issue.orders=[four_way]"}},
  };
}

schedule::Schedule schedule_of(const deck::Deck& deck, deck::Order order) {
  const schedule::Costs costs = schedule::costs(deck.workload, deck.workload.intensity.repeats);
  return schedule::build(costs, schedule::layout(deck, costs, std::nullopt), order,
                         deck.issue.lanes);
}

experiment::Case predicted_case(const Figure& figure, deck::Order order) {
  const deck::DeckPoint point = deck::load_points(root + figure.deck, figure.overrides).front();
  const auto cases = experiment::predictions(point, {load_device(figure.device)}).cases;
  return *std::ranges::find(cases, order, [](const auto& one) { return one.run.order; });
}
double seconds(const Figure& figure, deck::Order order) {
  return predicted_case(figure, order).prediction->complete_s;
}
double seconds(const Figure& figure) { return seconds(figure, figure.order); }

double predicted(const Figure& figure) {
  const experiment::Case found = predicted_case(figure, figure.order);
  const double time = found.prediction->complete_s;
  const double product = experiment::product_flops(found.schedule);
  switch (figure.unit) {
    case Unit::chunk_stages:
      return time / load_device(figure.device).unit_s;
    case Unit::gflops:  // of a task list, which does not know them, those of the published product
      return 1e-9 * (product > 0 ? product : 2.0 * 8192 * 8192 * 288) / time;
    case Unit::speedup:
      return seconds(figure, deck::Order::sequential) / time;
    case Unit::milliseconds:
      break;
  }
  return 1e3 * time;
}

/// (predicted - published) / published
double error(const Figure& figure) {
  const double published = std::stod(figure.published);
  return (predicted(figure) - published) / published;
}

std::string command(const Figure& figure) {
  std::string text = "miniapp --predict " + figure.device;
  for (const std::string& setting : figure.overrides) {
    const bool quoted = setting.find('[') != std::string::npos;
    text += quoted ? fmt::format(" --set '{}'", setting) : " --set " + setting;
  }
  return text + " " + figure.deck;
}

const char* unit_name(Unit unit) {
  constexpr std::array<const char*, 4> names = {"ms", "units", "Gflop/s", "x"};
  return names[static_cast<std::size_t>(unit)];
}

/// Four digits, but no fewer than before the point.
std::string rounded(double value) {
  const int before = value < 1 ? 1 : 1 + static_cast<int>(std::floor(std::log10(value)));
  return fmt::format("{:.{}f}", value, std::max(0, 4 - before));
}

/// The figure's line in docs/model.md.
std::string row(const Figure& figure) {
  const bool whole = figure.unit == Unit::chunk_stages;
  const double part = std::round(1000 * error(figure)) / 10;
  return fmt::format("| {} | {} {} | {} {} | {} | `{}` |", deck::to_string(figure.order),
                     figure.published, unit_name(figure.unit),
                     whole ? fmt::format("{:.3g}", predicted(figure)) : rounded(predicted(figure)),
                     unit_name(figure.unit), part == 0 ? "0" : fmt::format("{:+.1f} %", part),
                     command(figure));
}

TEST(Seeds, EveryFigureIsPredictedWithinItsTolerance) {
  for (const Figure& figure : figures()) {
    EXPECT_LE(std::abs(error(figure)), figure.within) << row(figure);
  }
}

TEST(Seeds, DepthAndBreadthFirstAreInThePublishedOrder) {
  const auto milliseconds = [](const char* device, deck::Order order) {
    return 1e3 * seconds({device, "input/increment.yaml", order, "", Unit::milliseconds, 0});
  };
  using enum deck::Order;
  EXPECT_LT(milliseconds("c1060", breadth_first), milliseconds("c1060", depth_first));
  EXPECT_LT(milliseconds("c2050", depth_first), milliseconds("c2050", breadth_first));
  const double depth = milliseconds("k20c", depth_first);
  EXPECT_NEAR(milliseconds("k20c", breadth_first), depth, 0.01 * depth);
}

TEST(Seeds, MoreConcurrencyIsFasterAsPublished) {
  double before = 0;
  for (const char* amount : {"serial", "2way", "3way", "4way"}) {
    const double now = predicted({"c2070", fmt::format("input/seeds/dgemm_{}.yaml", amount),
                                  deck::Order::custom, "", Unit::gflops, 0});
    EXPECT_GT(now, before) << amount;
    before = now;
  }
}

/// The C2070's rate for the kernel, which is derived from the serial figure, and the processor's.
TEST(Seeds, DgemmDecksAskForTheDevicesRate) {
  constexpr double tile_flops = 2.0 * 8192 * 1024 * 288;
  const double kernel_s = load_device("c2070").kernel("dgemm/float64")->seconds(1, tile_flops);
  for (const char* amount : {"serial", "2way", "3way", "4way"}) {
    const deck::Deck deck = load(root + fmt::format("input/seeds/dgemm_{}.yaml", amount));
    double bytes_up = 0;
    double bytes_down = 0;
    double flops = 0;
    for (const deck::CustomTask& task : deck.workload.tasks) {
      const auto bytes = static_cast<double>(task.bytes);
      if (task.stage == schedule::Stage::h2d) bytes_up += bytes;
      if (task.stage == schedule::Stage::d2h) bytes_down += bytes;
      if (task.stage == schedule::Stage::kernel) {
        EXPECT_NEAR(task.duration_s, kernel_s, 1e-6 * kernel_s) << amount << " " << task.name;
      }
      if (task.stage == schedule::Stage::host) {
        EXPECT_NEAR(task.duration_s, tile_flops / 43e9, 1e-6) << amount << " " << task.name;
      }
      if (task.duration_s > 0) flops += tile_flops;
    }
    EXPECT_EQ(flops, 2.0 * 8192 * 8192 * 288) << amount;
    const double tiles = amount == std::string("4way") ? 7 : 8;  // on the device
    EXPECT_EQ(bytes_up, 8.0 * (8192 * 288 + tiles * 1024 * (288 + 8192))) << amount;
    EXPECT_EQ(bytes_down, 8.0 * tiles * 1024 * 8192) << amount;
  }
}

TEST(Seeds, DecksHaveNoHazards) {
  for (const char* name :
       {"pipeline_seed", "dgemm_serial", "dgemm_2way", "dgemm_3way", "dgemm_4way"}) {
    const deck::Deck deck = load(root + "input/seeds/" + name + ".yaml");
    for (const deck::Order order : deck.issue.orders) {
      EXPECT_THAT(schedule::find_hazards(schedule_of(deck, order)), testing::IsEmpty())
          << name << " " << deck::to_string(order);
    }
  }
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Seeds, SizesOfTheRowSumsNameTheRepositoryThatHasThem) {
  int files = 0;
  for (const char* folder : {"docs", "input"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root + folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".md" && extension != ".yaml") continue;
      const std::string text = content_of(entry.path());
      if (text.find("3·10⁹") == text.npos && text.find("3e9 ints") == text.npos &&
          text.find("4.5e9 ints") == text.npos) {
        continue;
      }
      EXPECT_THAT(text, testing::HasSubstr("chukwuk/CUDA_streams")) << entry.path();
      ++files;
    }
  }
  EXPECT_EQ(files, 5);
}

/// What docs/model.md says was tried for the published times out of core, which no change explains.
TEST(Seeds, NothingTriedExplainsBothTimesOutOfCore) {
  const auto tried = [](const std::string& words, deck::HostMemory memory, const auto& change) {
    Device device = load_device("rtx5070ti");
    change(device);
    deck::DeckPoint point = deck::load_points(root + "input/rowsum_out_of_core_seed.yaml").front();
    point.deck.memory.host = memory;
    std::string line = "| " + words;
    int explained = 0;
    for (const auto& [order, published_ms] : {std::pair(deck::Order::depth_first, 5669.758),
                                              std::pair(deck::Order::breadth_first, 3936.489)}) {
      const double ms = 1e3 * predict(schedule_of(point.deck, order), device).complete_s;
      line += fmt::format(" | {:.0f} ms ({:.2f})", ms, ms / published_ms);
      explained += std::abs(ms / published_ms - 1) < 0.1 ? 1 : 0;
    }
    EXPECT_LT(explained, 2) << line;
    EXPECT_THAT(content_of(root + "docs/model.md"), testing::HasSubstr("\n" + line + " |\n"));
  };
  const auto holds_nothing = [](Device& device) {
    device.h2d.unblocked_bytes = device.d2h.unblocked_bytes = 1e12;
  };
  using enum deck::HostMemory;
  tried("pageable rate from depth first (the device file)", pageable, [](Device&) {});
  tried("pageable rate from breadth first", pageable, [](Device& device) {
    device.h2d.pageable = device.d2h.pageable = Curve::line(0, 5.3347e9);
  });
  tried("page-locked memory", pinned, [](Device&) {});
  tried("pageable copies that do not hold the host", pageable, holds_nothing);
  tried("the same, and two copy engines", pageable, [&](Device& device) {
    holds_nothing(device);
    device.copy_engines = 2;
  });
}

/// The claims of a deck, judged for a device; `where` replaces the places where they hold.
std::vector<experiment::Check> judged(const std::string& deck, const std::string& device,
                                      const std::vector<std::string>& where = {}) {
  deck::DeckPoint point = deck::load_points(root + deck).at(0);
  for (deck::Criterion& criterion : point.deck.acceptance) {
    if (!where.empty() && !criterion.where.empty()) criterion.where = where;
  }
  return experiment::judge(experiment::predictions(point, {load_device(device)}), {}).checks;
}

TEST(Claims, EveryDeckOfASeedStatesOneThatHoldsForItsCard) {
  int decks = 0;
  for (const char* folder : {"rennich", "seeds"}) {
    for (const auto& file : std::filesystem::directory_iterator(root + "input/" + folder)) {
      const std::string path = fmt::format("input/{}/{}", folder, file.path().filename().string());
      const deck::Deck deck = load(root + path);
      std::set<std::string> cards;
      for (const deck::Criterion& criterion : deck.acceptance) {
        for (const std::string& place : criterion.where) {
          if (place != deck::any_gpu) cards.insert(place);
        }
      }
      EXPECT_FALSE(cards.empty()) << path;
      for (const std::string& card : cards) {
        const auto checks = judged(path, card);
        EXPECT_FALSE(checks.empty()) << path;
        for (const experiment::Check& check : checks) {
          EXPECT_EQ(check.verdict, experiment::Verdict::pass) << path << ": " << check.text;
        }
      }
      ++decks;
    }
  }
  EXPECT_GE(decks, 14);
}

TEST(Claims, FailWhereTheDeviceContradictsThem) {
  const auto failed = [](const char* deck, const char* device) {
    const auto checks = judged(fmt::format("input/{}.yaml", deck), device, {device});
    return std::ranges::count(checks, experiment::Verdict::fail, &experiment::Check::verdict);
  };
  // On Hyper-Q the order does not matter, so that depth first or breadth first is not slower.
  for (const char* deck : {"blocked_kernel", "blocked_queue", "three_streams"}) {
    EXPECT_EQ(failed(fmt::format("rennich/{}", deck).c_str(), "k20c"), 1) << deck;
  }
  EXPECT_EQ(failed("rennich/kernel_sizes", "k20c"), 2);
  EXPECT_EQ(failed("rennich/concurrency_3way", "c1060"), 1);  // one copy engine
  EXPECT_EQ(failed("rennich/concurrency_4way", "c1060"), 1);
  for (const char* amount : {"serial", "2way", "3way", "4way"}) {  // a link ten times as fast
    EXPECT_EQ(failed(fmt::format("seeds/dgemm_{}", amount).c_str(), "h200"), 1) << amount;
  }
  EXPECT_EQ(failed("seeds/pipeline_seed", "h200"), 1);
}

/// Everything in the tables' rows follows from figures(): docs/model.md cannot rot.
TEST(Seeds, TheDocumentShowsTheseNumbers) {
  std::vector<std::string> expected;
  for (const Figure& figure : figures()) expected.push_back(row(figure));
  std::ifstream file(root + "docs/model.md");
  ASSERT_TRUE(file.good());
  std::vector<std::string> found;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| ") && line.find("`miniapp --predict ") != std::string::npos) {
      found.push_back(line);
    }
  }
  EXPECT_EQ(found, expected) << fmt::format("{}", fmt::join(expected, "\n"));
}

}  // namespace
}  // namespace overlap::model
