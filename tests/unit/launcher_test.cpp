#include "base/launcher.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "generated.hpp"

namespace overlap::base {
namespace {

/// The launch in an environment with these variables alone.
Launch launch_with(const std::map<std::string, std::string>& variables) {
  for (const Launcher& row : launchers) {
    for (const auto name : {row.rank, row.size, row.local_rank, row.local_size, row.launch}) {
      if (!name.empty()) unsetenv(std::string(name).c_str());
    }
  }
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  const Launch found = launch();
  for (const auto& [name, value] : variables) unsetenv(name.c_str());
  return found;
}

TEST(Launchers, SayWhichRankThisIs) {
  for (const Launcher& row : launchers) {
    std::map<std::string, std::string> variables;
    const auto set = [&](std::string_view name, const char* value) {
      if (!name.empty()) variables[std::string(name)] = value;
      return !name.empty();
    };
    set(row.rank, "5");
    const bool has_size = set(row.size, "8");
    const bool has_local_rank = set(row.local_rank, "1");
    const bool has_local_size = set(row.local_size, "4");
    set(row.launch, "77");
    const Launch found = launch_with(variables);
    EXPECT_EQ(found.id, row.launch.empty() ? "" : "77") << row.name;
    EXPECT_EQ(found.rank, 5) << row.name;
    EXPECT_EQ(found.ranks, has_size ? std::optional(8) : std::nullopt) << row.name;
    EXPECT_EQ(found.local_rank, has_local_rank ? std::optional(1) : std::nullopt) << row.name;
    EXPECT_EQ(found.local_ranks, has_local_size ? std::optional(4) : std::nullopt) << row.name;
    EXPECT_TRUE(found.several()) << row.name;
    EXPECT_EQ(found.label(), has_size ? "8 ranks" : "several ranks") << row.name;
  }
}

TEST(Launchers, OfTheInnermostLaunchCount) {
  // mpirun in an interactive step of Slurm
  const Launch inner = launch_with({{"OMPI_COMM_WORLD_RANK", "2"},
                                    {"OMPI_COMM_WORLD_SIZE", "4"},
                                    {"PMIX_RANK", "2"},
                                    {"SLURM_PROCID", "0"},
                                    {"SLURM_STEP_NUM_TASKS", "1"},
                                    {"SLURM_STEP_TASKS_PER_NODE", "1"},
                                    {"SLURM_LOCALID", "0"}});
  EXPECT_EQ(inner.rank, 2);
  EXPECT_EQ(inner.ranks, 4);
  EXPECT_EQ(inner.local_rank, std::nullopt);
  EXPECT_EQ(inner.local_ranks, std::nullopt);
  // Its first rank has the number that the step has, too.
  const Launch first = launch_with({{"PMI_RANK", "0"},
                                    {"PMI_SIZE", "4"},
                                    {"SLURM_PROCID", "0"},
                                    {"SLURM_STEP_ID", "0"},
                                    {"SLURM_STEP_NUM_TASKS", "1"},
                                    {"SLURM_STEP_TASKS_PER_NODE", "1"}});
  EXPECT_EQ(first.local_ranks, std::nullopt);
  EXPECT_EQ(first.id, "");
  // srun --mpi=pmix: one launch, of which each tells a part
  const Launch same = launch_with({{"PMIX_RANK", "3"},
                                   {"SLURM_PROCID", "3"},
                                   {"SLURM_STEP_NUM_TASKS", "4"},
                                   {"SLURM_LOCALID", "1"},
                                   {"SLURM_STEP_ID", "7"},
                                   {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}});
  EXPECT_EQ(same.rank, 3);
  EXPECT_EQ(same.ranks, 4);
  EXPECT_EQ(same.local_rank, 1);
  EXPECT_EQ(same.local_ranks, 2);
  EXPECT_EQ(same.id, "7");
}

TEST(Launchers, MayLeaveTheRankUnknown) {
  for (const auto& [name, value] : {std::pair("PMI_SIZE", "2"), {"MPI_LOCALRANKID", "1"}}) {
    const Launch found = launch_with({{name, value}});
    EXPECT_EQ(found.rank, std::nullopt);
    EXPECT_TRUE(found.several()) << name;
  }
  for (const auto& [name, value] : {std::pair("PMIX_RANK", "0"),
                                    {"PMI_SIZE", "1"},
                                    {"PMI_SIZE", "2,1"},
                                    {"PMI_SIZE", "-2"},
                                    {"PMI_SIZE", "99999999999"},
                                    {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"},
                                    {"NONE", "2"}}) {
    EXPECT_FALSE(launch_with({{name, value}}).several()) << name << " " << value;
  }
}

TEST(Nodes, OfOneNameAreToldApartByTheirBootIds) {
  EXPECT_EQ(node_names({{"a", "y"}, {"b", "z"}, {"a", "x"}, {"a", "y"}, {"a", ""}, {"c", ""}}),
            (std::vector<std::string>{"a#2", "b", "a", "a#2", "a", "c"}));
}

TEST(Launchers, AreOnThePage) {
  const std::string path = OVERLAP_SOURCE_DIR "/docs/fleet.md";
  const std::string page = test::content(path);
  const std::string head =
      "| launcher | rank | ranks | rank on its node | ranks on its node | launch |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  const auto begin = page.find(head);
  ASSERT_NE(begin, std::string::npos);
  std::string table = head;
  for (const Launcher& row : launchers) {
    table += fmt::format("| {} |", row.name);
    for (const auto name : {row.rank, row.size, row.local_rank, row.local_size, row.launch}) {
      table += name.empty() ? " |" : fmt::format(" `{}` |", name);
    }
    table += "\n";
  }
  const auto end = page.find("\n\n", begin) + 1;
  test::expect_generated(path, page.substr(0, begin) + table + page.substr(end));
}

}  // namespace
}  // namespace overlap::base
