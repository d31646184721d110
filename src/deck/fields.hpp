#pragma once

#include "deck/deck.hpp"
#include "yaml/fields.hpp"

/// Field tables of the deck: one row per key, which reads, writes and documents it.
namespace overlap::deck {

/// Rows of the section `workload`, and of one task of a custom workload.
const yaml::Table<Workload>& workload_table();
const yaml::Table<CustomTask>& task_table();

/// Rows of the section `require`.
const yaml::Table<Require>& require_table();

/// Rows of a criterion, and the form of their list.
const yaml::Table<Criterion>& criterion_table();
inline constexpr const char* criteria = "a list of criteria, such as [{metric: speedup, min: 1.3}]";

/// Reads a deck and checks constraints between its keys. Throws Error{usage}.
void read(const yaml::Reader& reader, Deck& deck);

/// Reads the section `workload` and checks constraints between its keys. Throws Error{usage}.
void read(const yaml::Reader& reader, Workload& workload);

/// Reads the section `acceptance` and checks it against the sections before it. Throws
/// Error{usage}.
void read_acceptance(const yaml::Reader& deck, Deck& into);

/// The deck with all defaults filled in, itself a valid deck.
yaml::Json resolved(const Deck& deck);

/// SHA-256 of the resolved sections that affect execution: workload, chunks, memory, issue,
/// host_work, disturb. A reference applies to decks with the same identity.
std::string identity(const Deck& deck);

/// The start of an identity, which tells decks of one name apart.
inline std::string mark_of(const std::string& identity) { return "@" + identity.substr(0, 7); }

/// JSON Schema of resolved(), plus the key `sweep` of sweep results.
yaml::Json resolved_schema();

/// The generated part of docs/decks.md: one table per section.
std::string reference_markdown();

/// Upper limits of keys: beyond any machine, yet small enough that byte counts fit into 64 bits.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 44;
inline constexpr std::int64_t most_chunks = std::int64_t{1} << 20;
inline constexpr std::int64_t most_lanes = 1024;
inline constexpr std::int64_t most_devices = 1024;  ///< of a node
/// Of all orders of a deck together: planned, predicted and written as JSON they take about 1 GB.
inline constexpr std::int64_t most_tasks = std::int64_t{1} << 19;

/// JSON Schema: the key is present.
inline yaml::Json given(const char* key) { return {{"required", {key}}}; }

/// A kind for durations of work: seconds, above 0.
yaml::Kind<double> duration();

}  // namespace overlap::deck
