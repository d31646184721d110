#pragma once

#include "deck/deck.hpp"
#include "describe/describe.hpp"

/// The keys of the deck: one description per section, which reads, writes and documents it.
namespace overlap::deck {

using describe::Json;
using describe::Visitor;

void describe(Visitor& v, Deck& d);
void describe(Visitor& v, Workload& w);
/// A task of a custom workload; `tasks`: all of them.
void describe(Visitor& v, CustomTask& t, const std::vector<CustomTask>& tasks);
void describe(Visitor& v, Require& r);
/// A criterion of a deck whose sections before `acceptance` are read; a result file's of any deck.
void describe(Visitor& v, Criterion& c, const Deck& deck);

/// The deck with all defaults filled in, itself a valid deck.
Json resolved(const Deck& deck);

/// SHA-256 of the kind of the workload and of all keys of the sections that affect execution
/// (workload, chunks, memory, issue, host_work, disturb) that differ from their defaults: a key
/// that is added or dropped changes no other deck. A reference applies to decks with the same
/// identity.
std::string identity(const Deck& deck);

/// The start of an identity, which tells decks of one name apart.
inline std::string mark_of(const std::string& identity) { return "@" + identity.substr(0, 7); }

/// JSON Schema of resolved(), plus the key `sweep` of sweep results.
Json resolved_schema();

/// The generated part of docs/decks.md: one table per section.
std::string reference_markdown();

/// Upper limits of keys: beyond any machine, yet small enough that byte counts fit into 64 bits.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 44;
inline constexpr std::int64_t most_chunks = std::int64_t{1} << 20;
inline constexpr std::int64_t most_lanes = 1024;
inline constexpr std::int64_t most_threads = 64;
inline constexpr int most_devices = 1024;  ///< of a node
/// Of all orders of a deck together: planned, predicted and written as JSON they take about 1 GB.
inline constexpr std::int64_t most_tasks = std::int64_t{1} << 19;

/// A duration of work: seconds, above 0.
describe::Real duration();

}  // namespace overlap::deck
