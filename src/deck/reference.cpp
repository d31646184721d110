#include "deck/fields.hpp"
#include "deck/words.hpp"

namespace overlap::deck {
namespace {

constexpr const char* head = R"(# Decks

For everybody who runs an experiment: what a deck may contain. A deck is a YAML file that describes one experiment, or
with `sweep` several. Every key has a default, except `workload.kind`; an unknown key is an error that names the nearest
valid one.

```yaml
title: Row sums of a 2-D array
workload: {kind: rowsum, rows: 8000000, columns: 6}
chunks:   {count: 4}
memory:   {host: pinned}
issue:    {orders: [sequential, depth_first, breadth_first], lanes: 4}
measure:  {warmup: 3, repetitions: 10}
acceptance:
  - {metric: max_error, max: 0}
  - {metric: speedup, order: depth_first, min: 1.1}
```

Save it as `mine.yaml` and run it:

```
miniapp mine.yaml
miniapp --set chunks.count=8 --set memory.host=pageable mine.yaml
```

`--set` replaces the value of one key, or a whole list or map: `--set 'issue.orders=[sequential, auto]'`. A key may have
an anchor (`&name`) and be repeated by an alias (`*name`); changing one of them leaves the other unchanged.

- Counts take the suffixes Ki, Mi, Gi, Ti: `16 Mi`.
- Sizes take B, kB, MB, GB, TB or KiB, MiB, GiB, TiB: `16 MiB`. Without a unit: bytes.
- Times take ns, us, ms, s: `50 us`. Without a unit: seconds.

The tables are generated from the program's own.
)";

template <class Section>
std::string section(const std::string& title, const std::string& intro) {
  return fmt::format("\n## {}\n\n{}\n\n{}", title, intro, reference(table<Section>()));
}

/// Words with their help.
template <class Enum>
std::string list_of(const std::string& title) {
  std::string text = fmt::format("\n## {}\n\n| word | meaning |\n| --- | --- |\n", title);
  for (const auto& word : words<Enum>) {
    text += fmt::format("| `{}` | {} |\n", word.name, word.help);
  }
  return text;
}

}  // namespace

std::string reference_markdown() {
  return head +
         section<Deck>("Top level", "The sections, each a map unless the table says otherwise.") +
         section<Workload>("workload",
                           "What is computed. Which keys there are depends on `kind`.") +
         section<CustomTask>("workload.tasks",
                             "The tasks of a custom workload. Which keys a task has depends on its "
                             "`stage`.") +
         section<Chunks>("chunks", "How the data are cut: by `count` or by `bytes`.") +
         section<Memory>("memory", "Where the data lie.") +
         section<Issue>("issue", "How tasks reach the device.") +
         section<HostWork>("host_work", "Computation by the host; without the section none.") +
         section<Disturb>("disturb",
                          "A call that may break concurrency; without the section none.") +
         section<Measure>("measure", "How often everything runs.") +
         section<Criterion>("acceptance", "A list of criteria, each a map with these keys.") +
         list_of<WorkloadKind>("Workloads") + list_of<Order>("Issue orders") +
         list_of<Metric>("Units of metrics");
}

}  // namespace overlap::deck
