#pragma once

#include "deck/deck.hpp"
#include "yaml/fields.hpp"

/// The field tables of a deck: each key is a row, from which it is read, written and described.
namespace overlap::deck {

// The rows of the deck, of each section, of a task and of a criterion.
const yaml::Table<Workload>& table_of(const Workload&);
const yaml::Table<CustomTask>& table_of(const CustomTask&);
const yaml::Table<Chunks>& table_of(const Chunks&);
const yaml::Table<Memory>& table_of(const Memory&);
const yaml::Table<Issue>& table_of(const Issue&);
const yaml::Table<HostWork>& table_of(const HostWork&);
const yaml::Table<Disturb>& table_of(const Disturb&);
const yaml::Table<Measure>& table_of(const Measure&);
const yaml::Table<Criterion>& table_of(const Criterion&);
const yaml::Table<Deck>& table_of(const Deck&);

/// The deck with every default filled in, a deck itself.
yaml::Value resolved(const Deck& deck);

/// JSON Schema of resolved(), with the key `sweep` of a sweep's results.
yaml::Value resolved_schema();

/// The generated part of the page docs/decks.md: a table for each section.
std::string reference_markdown();

// Parts of reading that depend on more than one key (checks.cpp). Each throws Error{usage}.

void read_type(const yaml::Reader& workload, Workload& into);
/// Box, array and origin.
void read_box(const yaml::Reader& workload, Workload& into);
void read_pitch(const yaml::Reader& workload, Workload& into);
void read_tasks(const yaml::Reader& workload, Workload& into);
void read_task_duration(const yaml::Reader& task, CustomTask& into);
/// The limit `key` of a criterion, in the unit of its metric.
std::optional<double> read_limit(const yaml::Reader& criterion, const std::string& key,
                                 Metric metric);
void read_chunks(const yaml::Reader& deck, Deck& into);
void read_issue(const yaml::Reader& deck, Deck& into);
void read_acceptance(const yaml::Reader& deck, Deck& into);
/// Sizes and types of a workload that do not fit together.
void check_workload(const yaml::Reader& workload, Workload& workload_read);
/// Values that other sections exclude.
void check_deck(const yaml::Reader& deck, const Deck& read);

/// Far beyond any machine, and small enough that bytes never overflow 64 bits.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 44;
inline constexpr std::int64_t most_chunks = std::int64_t{1} << 20;
inline constexpr std::int64_t most_lanes = 1024;

/// A time of work, above 0.
yaml::Kind<double> duration();

}  // namespace overlap::deck
