#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "deck/words.hpp"
#include "deck_file.hpp"
#include "experiment/plan.hpp"
#include "model/load.hpp"
#include "model/predict.hpp"
#include "schedule/build.hpp"

// What the model predicts for runs that were measured: those of tests/data/h200_runs.json on an
// H200 in the session whose calibration is input/devices/h200.yaml, the matrix products of
// tests/data/h200_products.json in other sessions, and random points that
// tests/model/collect_runs.py drew, in chunks of at least 256 KiB, each file with the device file
// made just before. Smaller chunks wait for the host, whose costs change within seconds.
namespace overlap::model {
namespace {

template <class Enum>
Enum from_word(const std::string& name) {
  for (const auto& word : deck::words<Enum>) {
    if (word.name == name) return word.value;
  }
  throw std::runtime_error("unknown word " + name);
}

schedule::Schedule schedule_of(const nlohmann::json& run) {
  constexpr std::int64_t mebibyte = 1 << 20;
  deck::Deck deck;
  deck.workload.kind = from_word<deck::WorkloadKind>(run["workload"]);
  const std::int64_t bytes = run["mebibytes"].get<std::int64_t>() * mebibyte;
  deck.workload.elements = bytes / 4;
  deck.workload.rows = bytes / 24;
  const bool sums = deck.workload.kind == deck::WorkloadKind::rowsum;
  deck.workload.type = sums ? deck::ElementType::int32 : deck::ElementType::float32;
  deck.chunks.count = run["chunks"];
  const auto costs = schedule::costs(deck.workload, run["repeats"]);
  return schedule::build(costs, schedule::layout(deck, costs, std::nullopt),
                         from_word<deck::Order>(run["order"]), run["lanes"]);
}

nlohmann::json data_of(const std::string& name) {
  std::ifstream file(OVERLAP_SOURCE_DIR "/tests/data/" + name);
  return nlohmann::json::parse(file);
}

nlohmann::json runs_of(const std::string& name) { return data_of(name)["runs"]; }

/// Relative errors of the predicted times, sorted.
std::vector<double> errors(bool tuning) {
  const Device device = load_device("h200");
  std::vector<double> errors;
  for (const auto& run : runs_of("h200_runs.json")) {
    if (run["tuning"] != tuning) continue;
    const double predicted = predict(schedule_of(run), device).complete_s;
    errors.push_back(std::abs(predicted / run["median"].get<double>() - 1));
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

void expect_close(const std::vector<double>& errors) {
  ASSERT_GE(errors.size(), 60U);
  const double median = errors[errors.size() / 2];
  const double most = errors[errors.size() * 95 / 100];
  std::cout << errors.size() << " runs: median error " << 100 * median << " %, 95th percentile "
            << 100 * most << " %\n";
  EXPECT_LE(median, 0.05);
  EXPECT_LE(most, 0.12);
}

TEST(H200, RunsThatTheModelWasTunedOn) { expect_close(errors(true)); }
TEST(H200, RunsThatItNeverSaw) { expect_close(errors(false)); }

TEST(H200, Products) {
  const Device device = load_device("h200");
  const auto runs = runs_of("h200_products.json");
  ASSERT_GE(runs.size(), 50U);
  for (const auto& run : runs) {
    deck::Deck deck;
    deck.workload.kind = deck::WorkloadKind::dgemm;
    deck.workload.type = from_word<deck::ElementType>(run["type"]);
    deck.workload.m = run["m"];
    deck.workload.n = run["n"];
    deck.workload.k = run["k"];
    deck.workload.tile_m = run["tile_m"];
    deck.workload.tile_n = run["tile_n"];
    deck.workload.beta = run["beta"];
    deck.chunks.count = 1;
    if (!run["device_limit"].is_null()) deck.memory.device_limit = run["device_limit"];
    const auto costs = schedule::costs(deck.workload, 1);
    const auto schedule = schedule::build(costs, schedule::layout(deck, costs, std::nullopt),
                                          from_word<deck::Order>(run["order"]), run["lanes"]);
    const double predicted = predict(schedule, device).complete_s;
    EXPECT_NEAR(predicted / run["median"].get<double>(), 1, 0.05) << run;
  }
}

/// The prediction for the only order of a deck.
double predicted_s(const nlohmann::json& run, const Device& device) {
  const DeckFile file(run["deck"].get<std::string>());
  const deck::DeckPoint point = deck::load_points(file.path()).at(0);
  experiment::Facts facts = experiment::facts_of(point.deck, device);
  if (!run["repeats"].is_null()) facts.repeats = run["repeats"];
  const auto draft = experiment::draft(point.deck, facts);
  EXPECT_EQ(draft.schedules.size(), 1U);
  return predict(draft.schedules.at(0), device).complete_s;
}

struct Measured {
  const char* file;
  double median;  ///< largest accepted relative errors
  double most_of_ten;
};

constexpr Measured random_points[] = {{"h200_random.json", 0.03, 0.1},
                                      {"h200_random_2.json", 0.03, 0.1},
                                      {"h100_random.json", 0.03, 0.1}};

TEST(Measured, RandomPoints) {
  for (const auto& [name, median, most_of_ten] : random_points) {
    const nlohmann::json data = data_of(name);
    const DeckFile file(data["device"].get<std::string>());
    const Device device = load_device(file.path());
    std::vector<double> errors;
    for (const auto& run : data["runs"]) {
      errors.push_back(std::abs(predicted_s(run, device) / run["median"].get<double>() - 1));
    }
    ASSERT_GE(errors.size(), 24U);
    std::sort(errors.begin(), errors.end());
    EXPECT_LE(errors[errors.size() / 2], median) << name;
    EXPECT_LE(errors[errors.size() * 9 / 10], most_of_ten) << name;
  }
}

/// What data sheets and publications say of an H100, and no measurement of it.
TEST(Measured, RandomPointsOfADescribedDevice) {
  std::vector<double> errors;
  for (const auto& run : runs_of("h100_random.json")) {
    const double predicted = predicted_s(run, load_device("h100"));
    errors.push_back(std::abs(predicted / run["median"].get<double>() - 1));
  }
  std::sort(errors.begin(), errors.end());
  // As reports with a described device say.
  EXPECT_EQ(errors.size(), 67U);
  EXPECT_LE(errors[errors.size() / 2], 0.06);
  EXPECT_LE(errors[errors.size() * 95 / 100], 0.2);
  EXPECT_LE(errors.back(), 0.425);
}

}  // namespace
}  // namespace overlap::model
