#include "deck/fields.hpp"
#include "deck/words.hpp"

namespace overlap::deck {
namespace {

template <class Section>
std::string described(const std::string& title, const std::string& intro) {
  return fmt::format("\n## {}\n\n{}\n\n{}", title, intro, reference(table_of(Section{})));
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
  return described<Deck>("Top level", "The sections, each a map unless the table says otherwise.") +
         described<Workload>("workload",
                             "What is computed. Which keys there are depends on `kind`.") +
         described<CustomTask>(
             "workload.tasks",
             "The tasks of a custom workload. Which keys a task has depends on its "
             "`stage`.") +
         described<Chunks>("chunks", "How the data are cut: by `count` or by `bytes`.") +
         described<Memory>("memory", "Where the data lie.") +
         described<Issue>("issue", "How tasks reach the device.") +
         described<HostWork>("host_work", "Computation by the host; without the section none.") +
         described<Disturb>("disturb",
                            "A call that may break concurrency; without the section none.") +
         described<Measure>("measure", "How often everything runs.") +
         described<Criterion>("acceptance", "A list of criteria, each a map with these keys.") +
         list_of<WorkloadKind>("Workloads") + list_of<Order>("Issue orders") +
         list_of<Metric>("Units of metrics");
}

}  // namespace overlap::deck
