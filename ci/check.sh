#!/usr/bin/env bash
# What continuous integration runs: formats, include directions, and the tests of every build, in the roots that the
# quick start uses (see root.sh). Logs and builds lie in build/check-*, but for the quick start's build. Exit code 1 if any
# step fails.
# shellcheck disable=SC2317 # step calls the functions
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=root.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/root.sh"
cd "$project"

table=() failed=0

# step NAME CMD...: one row of the table; the output is shown when the step fails.
step() {
  local name=$1 log=$project/build/check-$1.log start=$SECONDS result=pass
  logged "$log" "$name" "${@:2}" || result=FAIL
  if [[ $result == FAIL ]]; then
    failed=1
    tail -n 100 "$log" >&2
  fi
  grep -h 'tests passed' "$log" || true
  say "$name: $result in $((SECONDS - start)) s, log: $log"
  table+=("$(printf '%-16s %-4s %6d s' "$name" "$result" $((SECONDS - start)))")
}

# Prints the files that are not as clang-format would have them, with the number of places.
format() {
  "${inside[@]}" "${clean[@]}" bash -euo pipefail -c \
    'git ls-files -z "*.hpp" "*.cpp" "*.cu" | xargs -0 clang-format --dry-run -Werror 2>&1 |
      sed -n "s/:.* error: .*//p" | uniq -c'
}

includes() {
  "${inside[@]}" "${clean[@]}" sh -euc 'ci/check_includes.py --self-test && ci/check_includes.py'
}

# build_and_test NAME CMAKE-ARGS...
build_and_test() {
  local build=$project/build/check-$1 targets=(all) which=()
  local together=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=4)
  case $1 in # unit tests have neither threads nor Kokkos, and whole runs take sanitizers minutes
    *-asan) which=(-E '^acceptance_(model|sweep)$') ;;
    *-tsan) targets=(miniapp overlap_exec) which=(-R '^overlap_exec|^acceptance_output$') ;;
    kokkos5-*) targets=(miniapp overlap_exec) which=(-R '^overlap_exec|^acceptance_(decks|output)$') ;;
  esac
  configure "$build" -DOVERLAP_WERROR=ON -DOVERLAP_TESTS=ON "${together[@]}" "${@:2}" &&
    "${inside[@]}" "${clean[@]}" cmake --build "$build" --target "${targets[@]}" &&
    "${inside[@]}" "${clean[@]}" ctest --test-dir "$build" --output-on-failure --no-tests=error -j2 "${which[@]}"
}

# pages FOLDER: what the test in the browser opens, from the quick start's build.
pages() {
  local miniapp=(
    "${inside[@]}" "${clean[@]}" "$project/build/quickstart-kokkos4/miniapp/miniapp" input/increment.yaml --quiet)
  mkdir -p "$1" &&
    "${miniapp[@]}" --timeline "$1/small.html" --json "$1/small.json" &&
    "${miniapp[@]}" --predict h200 --timeline "$1/gpu.html" &&
    "${miniapp[@]}" --predict h200 --set chunks.count=3400 --timeline "$1/large.html"
}

browser() { # FOLDER: of the pages; screenshots go there, too
  "${inside[@]}" "${clean[@]}" python3 tests/browser/timeline_browser_test.py "$1"
}

writable "$project/build" || fail "cannot write to $project/build: use a checkout of your own"
use_root 4
step format format
step includes includes
step quickstart ci/quickstart_test.sh
step kokkos4-default ci/quickstart.sh --test # each file by itself, in the quick start's build
step pages pages "$project/build/check-pages"
for preset in asan tsan; do
  step "kokkos4-$preset" build_and_test "kokkos4-$preset" --preset "$preset"
done
use_root browser
step browser browser "$project/build/check-pages"
use_root 5
step kokkos5-default build_and_test kokkos5-default --preset default
if type -P nvcc >/dev/null && [[ -x ci/compile_cuda.sh ]]; then
  step cuda-compile ci/compile_cuda.sh
fi

printf '%s\n' "${table[@]}"
exit $failed
