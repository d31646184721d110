#!/usr/bin/env bash
# Continuous integration: formats, rules of the sources, and the tests of every build, in the roots that the quick start
# uses (see root.sh). A step fails where a tool is missing; only --without leaves it out. Logs and builds lie in
# build/check-*, but for the quick start's build. Exit code 1 if any step fails, 2 for bad usage.
# shellcheck disable=SC2317,SC2329 # the table calls the functions
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=root.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/root.sh"
cd "$project"

# Prints the files that are not as clang-format would have them, with the number of places.
format() {
  "${inside[@]}" "${clean[@]}" bash -euo pipefail -c \
    'git ls-files -z "*.hpp" "*.cpp" "*.cu" | xargs -0 clang-format --dry-run -Werror 2>&1 |
      sed -n "s/:.* error: .*//p" | uniq -c'
}

checker() { # SCRIPT: one that proves itself before it checks
  "${inside[@]}" "${clean[@]}" "$1" --self-test && "${inside[@]}" "${clean[@]}" "$1"
}

compile() { # BACKEND
  ci/compile.sh "$1" --self-test && ci/compile.sh "$1"
}

quick="-DCMAKE_CXX_FLAGS_RELEASE=-Og -DNDEBUG" # to compile

# build_and_test NAME CMAKE-ARGS...
build_and_test() {
  local build=$project/build/check-$1 targets=(all) which=() speed=() unity=ON werror=ON
  case $1 in # some whole runs take sanitizers minutes
    *-asan) which=(-E '^acceptance_(decks|model|precision|readme|side_by_side|sweep)$') ;;
    *-tsan) targets=(overlap_exec) which=(-R '^overlap_exec') ;;
    oldest) unity=OFF werror=OFF ;; # g++ 12 warns of overlaps that cannot be (GCC bug 105651)
    kokkos5-*) speed=("$quick") targets=(miniapp overlap_exec) which=(-R '^overlap_exec|^acceptance_(decks|output)$') ;;
  esac
  configure "$build" "-DCMAKE_UNITY_BUILD=$unity" "-DOVERLAP_WERROR=$werror" -DOVERLAP_TESTS=ON "${speed[@]}" "${@:2}" &&
    "${inside[@]}" "${clean[@]}" cmake --build "$build" --target "${targets[@]}" &&
    "${inside[@]}" "${clean[@]}" ctest --test-dir "$build" --output-on-failure --no-tests=error -j2 "${which[@]}"
}

# pages FOLDER: what the test in the browser opens, from the quick start's build.
pages() {
  "${inside[@]}" "${clean[@]}" "OVERLAP_PAGES=$1" "$project/build/quickstart-kokkos4/tests/overlap_unit" --gtest_filter=Page.ForTheBrowser
}

browser() { # screenshots lie next to the pages
  local folder=$project/build/check-pages
  mkdir -p "$folder" && ci/quickstart.sh --test -R '^Page[.]' && alone 4 pages "$folder" &&
    "${inside[@]}" "${clean[@]}" python3 tests/browser/report_browser_test.py "$folder"
}

# Ten thousand result files, with limits on time and memory.
merge() {
  ci/quickstart.sh --version >/dev/null &&
    "${inside[@]}" "${clean[@]}" MERGE_FILES=10000 MINIAPP="$project/build/quickstart-kokkos4/miniapp/miniapp" SOURCE="$project" \
      python3 tests/acceptance/merge_test.py
}

# A hundred of each signal at random times in each command; SEED says when.
interrupts() {
  ci/quickstart.sh --version >/dev/null &&
    "${inside[@]}" "${clean[@]}" TIMES=100 "SEED=${SEED:-$RANDOM}" \
      MINIAPP="$project/build/quickstart-kokkos4/miniapp/miniapp" SOURCE="$project" python3 tests/acceptance/interrupt_test.py
}

# What needs packages from PyPI, in an environment of their own; the quick start is its program.
integrations() {
  local environment=$project/build/check-integrations
  python3 -m venv "$environment" &&
    "$environment/bin/pip" install --quiet reframe-hpc==4.10.4 junitparser==5.0.3 lxml==6.1.3 &&
    BUILD=$project/build/quickstart-kokkos4 MINIAPP=$project/ci/quickstart.sh SOURCE=$project "$environment/bin/python" tests/acceptance/harness_test.py
}

# random NAME CMAKE-ARGS...: random decks under sanitizers; SEED says which.
random() {
  local build=$project/build/check-random-$1
  configure "$build" --preset asan -DOVERLAP_MPI=OFF "${@:2}" && "${inside[@]}" "${clean[@]}" cmake --build "$build" --target miniapp &&
    "${inside[@]}" "${clean[@]}" DECKS=200 "SEED=${SEED:-$RANDOM}" "MINIAPP=$build/miniapp/miniapp" "SOURCE=$project" \
      python3 tests/acceptance/random_test.py
}

# A real Slurm of two nodes on this machine, which is killed if it takes too long, with the program built for its MPI.
slurm() {
  local build=$project/build/check-slurm
  configure "$build" "$quick" -DOVERLAP_MPI=ON && "${inside[@]}" "${clean[@]}" cmake --build "$build" --target miniapp &&
    "${inside[@]}" "${clean[@]}" timeout -s KILL 60 tests/slurm/cluster_test.py &&
    "${inside[@]}" "${clean[@]}" "MINIAPP=$build/miniapp/miniapp" "SOURCE=$project" \
      timeout -s KILL 300 tests/slurm/cluster.sh tests/slurm/slurm_test.py
}

# Each target for a minute, both cores busy, from the committed inputs on; what it finds stays in the folder.
fuzz() {
  local build=$project/build/check-fuzz
  configure "$build" --preset fuzz && "${inside[@]}" "${clean[@]}" cmake --build "$build" --target overlap_fuzzers &&
    "${inside[@]}" "${clean[@]}" tests/fuzz/fuzz.py "$build/tests/fuzz" --seconds 60 --jobs 2
}

# The rows: step, root, command. The steps of full come after those of every run.
steps=(
  "format                 4     format"
  "includes               4     checker ci/check_includes.py"
  "sizes                  4     ci/check_sizes.sh"
  "usage                  4     ci/check_test.sh"
  "mutants                4     tests/mutants/mutants.py --self-test"
  "quickstart             4     ci/quickstart_test.sh"
  "without-kokkos         4     ci/quickstart.sh --kokkos none --build miniapp -- ctest -R ^acceptance --no-tests=error --output-on-failure"
  "kokkos4-default        4     ci/quickstart.sh --test" # in the quick start's build
  "integrations           4     integrations"
  "cuda                   5      compile cuda"
)
full_steps=(
  "asan                    hip    build_and_test asan --preset asan -DOVERLAP_KOKKOS=OFF -DCMAKE_CXX_COMPILER=clang++-21"
  "hip                     hip    compile hip"
  "kokkos5-default         5      build_and_test kokkos5-default --preset default"
  "kokkos4-asan            clang  build_and_test kokkos4-asan --preset asan -DCMAKE_CXX_COMPILER=clang++"
  "kokkos4-tsan            clang  build_and_test kokkos4-tsan --preset tsan -DCMAKE_CXX_COMPILER=clang++"
  "browser                 browser browser"
  "slurm                   slurm  slurm"
  "cuda-tests              5      ci/compile.sh cuda --tests"
  "cuda-without-kokkos     5      ci/compile.sh cuda --without-kokkos"
  "cuda-every-architecture 5      ci/compile.sh cuda --every-architecture"
  "cuda-oldest             oldest ci/compile.sh cuda --oldest"
  "hip-without-kokkos      hip    ci/compile.sh hip --without-kokkos"
  "hip-every-architecture  hip    ci/compile.sh hip --every-architecture"
  "threads                 5      compile threads"
  "oldest                  oldest build_and_test oldest --preset without-kokkos"
  "fuzz                    clang  fuzz"
  "random-kokkos4          clang  random kokkos4 -DCMAKE_CXX_COMPILER=clang++"
  "random-kokkos5          5      random kokkos5"
  "recipes                 4      checker tests/recipes/recipes.py"
  "merge                   4      merge"
  "interrupts              4      interrupts"
)

usage() { # [ERROR]
  {
    [[ -z ${1-} ]] || printf 'check: error: %s\n' "$1"
    printf '%s\n' "usage: check.sh [--full] [--without STEP]... [STEP...]" \
      "  STEP       runs only this step; kokkos4 means all steps that start with kokkos4-" \
      "  --full     adds the steps that take longer" \
      "  --without  leaves a step out"
    printf '%s\n' "steps: $(names "${steps[@]}")" "with --full: $(names "${full_steps[@]}")"
  } >&2
  [[ -z ${1-} ]] || exit 2
  exit 0
}
names() { printf '%s\n' "${@%% *}" | paste -sd ' '; }

matches() { # STEP NAME...: one of the names is the step's, or its start up to a '-'
  local name
  for name in "${@:2}"; do [[ $1 != "$name" && $1 != "$name"-* ]] || return 0; done
  return 1
}
known() { # NAME
  local row
  for row in "${steps[@]}" "${full_steps[@]}"; do ! matches "${row%% *}" "$1" || return 0; done
  return 1
}

only=() without=() full=0
while (($# > 0)); do
  case $1 in
    --help | -h) usage ;;
    --full) full=1 ;;
    --without)
      [[ -n ${2-} ]] || usage "--without takes the name of a step"
      known "$2" || usage "found --without $2; no such step"
      without+=("$2")
      shift
      ;;
    -*) usage "found $1; no such option" ;;
    *)
      known "$1" || usage "found $1; no such step"
      only+=("$1")
      ;;
  esac
  shift
done

table=() failed=0

# A shell of its own: what stops it fails the step, not the run.
alone() (
  use_root "$1"
  "${@:2}"
)

# step NAME ROOT CMD...: one row of the table; the output is shown when the step fails.
step() {
  local name=$1 log=$project/build/check-$1.log start=$SECONDS result=pass
  if matches "$name" "${without[@]}"; then
    table+=("$(printf '%-24s left out' "$name")")
    return
  fi
  logged "$log" "$name" alone "${@:2}" || result=FAIL
  if [[ $result == FAIL ]]; then
    failed=1
    tail -n 100 "$log" >&2
  fi
  grep -h 'tests passed' "$log" || true
  say "$name: $result in $((SECONDS - start)) s, log: $log"
  table+=("$(printf '%-24s %-8s %6d s' "$name" "$result" $((SECONDS - start)))")
}

# The roots of all steps that will run.
make_roots() {
  local row name root
  for row in "${chosen[@]}"; do
    read -r name root _ <<<"$row"
    matches "$name" "${without[@]}" || alone "$root" true || true
  done
}

writable "$project/build" || fail "cannot write to $project/build: use a checkout of your own"
for row in "${full_steps[@]}"; do # those named in full run without --full, too
  if ((full == 1)) || [[ " ${only[*]} " == *" ${row%% *} "* ]]; then steps+=("$row"); fi
done
chosen=()
for row in "${steps[@]}"; do
  if ((${#only[@]} == 0)) || matches "${row%% *}" "${only[@]}"; then chosen+=("$row"); fi
done
for row in "${chosen[@]}"; do
  read -ra words <<<"$row"
  step "${words[@]}"
  # The first step has installed what making roots takes; the other roots are made beside the next builds.
  if ((${#table[@]} == 1)); then make_roots >"$project/build/check-roots.log" 2>&1 & fi
done

printf '%s\n' "${table[@]}"
exit $failed
