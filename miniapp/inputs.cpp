#include "inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/units.hpp"
#include "deck/fields.hpp"
#include "experiment/plan.hpp"
#include "model/load.hpp"
#include "report/reports.hpp"
#include "report/writers.hpp"

namespace overlap {
namespace {

using base::ExitCode;

/// Throws base::Error{usage} if a sweep is combined with other decks or with outputs that need
/// traces, or if --resume has no sweep.
void require_alone(const Options& options, const Inputs& inputs) {
  const auto fail = [](const std::string& message) { throw base::Error(ExitCode::usage, message); };
  const auto sweep = std::find_if(inputs.decks.begin(), inputs.decks.end(),
                                  [](const auto& points) { return points.front().is_swept(); });
  if (sweep == inputs.decks.end()) {
    if (options.resume) fail("--resume without a sweep; allowed: with a deck that has a sweep");
    return;
  }
  const std::string& path = sweep->front().deck.path;
  if (inputs.decks.size() > 1) {
    fail(path + ": found a sweep and other decks; allowed: a sweep alone, or --set sweep={}");
  }
  for (const Output& output : options.outputs) {
    if (output.writer->takes_sweeps) continue;
    fail(fmt::format(
        "{}: found {} with a sweep, whose points are not traced; allowed: {}, or --set sweep={{}}",
        path, output.writer->option, report::sweep_options()));
  }
}

/// Reads the references of all decks. Rejects --reference if no criterion uses it.
void read_references(const Options& options, Inputs& inputs) {
  bool is_used = false;
  for (const auto& points : inputs.decks) {
    const auto& files = inputs.references.emplace_back(
        results::load_references(points.front().deck, options.reference));
    is_used = is_used || files.contains(deck::given_reference);
  }
  if (is_used || options.reference.empty()) return;
  throw base::Error(ExitCode::usage,
                    "--reference: found no criterion with reference: given; allowed: with a deck "
                    "that has one");
}

/// Replaces the point of each deck by one point per phase. Throws base::Error{usage} for a sweep.
void split_phases(Inputs& inputs) {
  for (std::vector<deck::DeckPoint>& points : inputs.decks) {
    if (points.front().is_swept()) {
      throw base::Error(ExitCode::usage,
                        points.front().deck.path +
                            ": found a sweep with --fleet; allowed: a deck without a sweep, or "
                            "--set sweep={}");
    }
    const deck::DeckPoint point = points.front();
    points.clear();
    for (const deck::Phase phase : point.deck.fleet.phases) {
      points.push_back(point);
      points.back().phase = phase;
    }
  }
}

/// Throws base::Error{usage} for a deck with criteria that require --fleet.
void require_no_phases(const Inputs& inputs) {
  for (const auto& points : inputs.decks) {
    const deck::Deck& deck = points.front().deck;
    for (std::size_t i = 0; i < deck.acceptance.size(); ++i) {
      const deck::Criterion& criterion = deck.acceptance[i];
      const bool compares = deck::row_of(criterion.metric).needs == deck::Needs::alone;
      if (!compares && criterion.phase != deck::Phase::together) continue;
      throw deck::error_at(deck, ExitCode::usage, fmt::format("acceptance[{}]", i),
                           fmt::format("found {} without --fleet; allowed: with --fleet; run it as "
                                       "mpirun -n GPUS miniapp --fleet DECK",
                                       compares ? "metric contention" : "phase together"));
    }
  }
}

/// Adds the start of their identity to the names of decks that have the same. Throws
/// base::Error{usage} where that is the same, too.
void tell_decks_apart(Inputs& inputs) {
  std::map<std::string, std::map<std::string, std::string>> paths;  // by name and identity
  for (const auto& points : inputs.decks) {
    const deck::Deck& deck = points.front().deck;
    const auto [entry, is_new] = paths[deck.name()].emplace(deck::identity(deck), deck.path);
    if (is_new) continue;
    throw base::Error(ExitCode::usage,
                      fmt::format("{}: found the name of {}, which runs the same; allowed: each "
                                  "deck once",
                                  deck.path, entry->second));
  }
  for (auto& points : inputs.decks) {
    if (paths[points.front().deck.name()].size() == 1) continue;
    for (deck::DeckPoint& point : points)
      point.deck.mark = deck::mark_of(deck::identity(point.deck));
  }
}

}  // namespace

base::Error named(const deck::Deck& deck, const base::Error& error) {
  const std::string text = error.what(), path = base::one_line(deck.path);
  return {error.code(), text.starts_with(path) ? text : path + ": " + text};
}

Inputs read_inputs(const Options& options) {
  Inputs inputs;
  for (const std::string& path : options.decks) {
    inputs.decks.push_back(deck::load_points(path, options.overrides));
  }
  require_alone(options, inputs);
  tell_decks_apart(inputs);
  if (options.fleet) {
    split_phases(inputs);
  } else if (options.predict.empty() && !options.dry_run) {
    require_no_phases(inputs);
  }
  read_references(options, inputs);
  if (!options.device.empty() && options.device != no_device) {
    inputs.device = model::load_device(options.device);
  }
  inputs.predicted = model::load_devices(options.predict);
  for (const auto& points : inputs.decks) {
    for (const deck::DeckPoint& point : points) {
      try {
        experiment::check(point, inputs.device ? &*inputs.device : nullptr);
      } catch (const base::Error& error) {
        if (error.code() == ExitCode::interrupted) return inputs;  // whose results will say so
        throw named(point.deck, error);
      }
    }
  }
  return inputs;
}

std::string dry_run(const Inputs& inputs) {
  std::string text;
  for (const auto& points : inputs.decks) {
    const bool sweeps = points.front().is_swept();
    if (inputs.decks.size() > 1) text += fmt::format("deck {}\n", points.front().deck.name());
    if (sweeps) text += base::counted(points.size(), "point") + "\n";
    for (const deck::DeckPoint& point : points) {
      const experiment::Facts facts = inputs.device
                                          ? experiment::facts_of(point.deck, *inputs.device)
                                          : experiment::facts_of(point.deck);
      const experiment::Plan plan = experiment::plan(point, facts);
      if (sweeps) {
        for (const auto& [key, value] : point.values) text += fmt::format("  {}={}", key, value);
        text += "\n";
        continue;
      }
      for (const experiment::Case& planned : plan.cases) text += report::schedule_table(planned);
    }
  }
  return text;
}

}  // namespace overlap
