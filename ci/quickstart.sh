#!/usr/bin/env bash
# Builds miniapp in a root of Debian unstable that it makes itself (see root.sh), and runs it in the current folder.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=root.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/root.sh"

usage="usage: quickstart.sh [--kokkos 4|5] DECK [miniapp options]
       quickstart.sh [--kokkos 4|5] --test [ctest options]"

kokkos=4 target=miniapp rest=()
while (($# > 0)); do
  case $1 in
    --kokkos)
      [[ ${2-} == [45] ]] || fail "--kokkos takes 4 or 5, not '${2-}'"
      kokkos=$2
      shift
      ;;
    --test) target=all ;;
    *) rest+=("$1") ;;
  esac
  shift
done
set -- "${rest[@]}"
if [[ $target == miniapp && $# == 0 ]]; then printf '%s\n' "$usage" >&2; exit 70; fi

build=$project/build/quickstart-kokkos$kokkos
log=$build.log
writable "$project/build" || fail "cannot write to $project/build: use a checkout of your own"
use_root "$kokkos"
lock "$build.lock"
configured "$build" ||
  logged "$log" "configuring in $build" configure "$build" -DCMAKE_BUILD_TYPE=Release -DOVERLAP_TESTS=ON ||
  fail "CMake could not configure the build: $(reason "$log"); log: $log"
# Only what is compiled or linked is worth a word: with all up to date, ninja still looks for new files and commits.
say_at='(Building|Linking) CXX' logged "$log" "building $target with Kokkos $kokkos in $build" \
  "${inside[@]}" "${clean[@]}" cmake --build "$build" --target "$target" ||
  fail "the build failed: $(reason "$log"); log: $log"
exec {lock_fd}>&-

if [[ $target == all ]]; then
  exec "${inside[@]}" "${clean[@]}" ctest --test-dir "$build" --output-on-failure --no-tests=error -j2 "$@"
fi
# The machine's libraries do not fit the root's.
exec "${inside[@]}" env -u LD_LIBRARY_PATH "$build/miniapp/miniapp" "$@"
