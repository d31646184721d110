#pragma once

#include "deck/deck.hpp"
#include "yaml/fields.hpp"

/// The field tables of a deck: each key is a row, from which it is read, written and described.
namespace overlap::deck {

/// The rows of the section `workload`, and of a task of a custom one.
const yaml::Table<Workload>& workload_table();
const yaml::Table<CustomTask>& task_table();

/// The rows of the section `require`.
const yaml::Table<Require>& require_table();

/// Reads a deck and what depends on more than one of its keys. Throws Error{usage}.
void read(const yaml::Reader& reader, Deck& deck);

/// The section `workload`, and what depends on more than one of its keys. Throws Error{usage}.
void read(const yaml::Reader& reader, Workload& workload);

/// The deck with every default filled in, a deck itself.
yaml::Json resolved(const Deck& deck);

/// What references to a deck's figures belong to: SHA-256 of all resolved keys that change what
/// runs, and not of how often it runs, how it is judged and what it is called.
std::string identity(const Deck& deck);

/// JSON Schema of resolved(), with the key `sweep` of a sweep's results.
yaml::Json resolved_schema();

/// The generated part of the page docs/decks.md: a table for each section.
std::string reference_markdown();

/// Far beyond any machine, and small enough that bytes never overflow 64 bits.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 44;
inline constexpr std::int64_t most_chunks = std::int64_t{1} << 20;
inline constexpr std::int64_t most_lanes = 1024;
/// Of all orders of a deck together: planned, predicted and written as JSON they take about 1 GB.
inline constexpr std::int64_t most_tasks = std::int64_t{1} << 19;

/// A time of work, above 0.
yaml::Kind<double> duration();

}  // namespace overlap::deck
