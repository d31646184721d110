#!/usr/bin/env bash
# Builds miniapp in a root of Debian unstable that it makes itself (see root.sh), and runs it in the current folder. What
# needs no Kokkos is left to a build without it, unless there is one with it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=root.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/root.sh"

usage="usage: quickstart.sh [--kokkos 4|5] DECK [miniapp options]
       quickstart.sh [--kokkos 4|5] --test [ctest options]
       quickstart.sh [--kokkos 4|5] --build TARGET... [-- COMMAND, which runs in the folder of the build]"

kokkos=4 targets=(miniapp) does=run rest=()
while (($# > 0)); do
  case $1 in
    --kokkos)
      [[ ${2-} == [45] ]] || fail "--kokkos takes 4 or 5, not '${2-}'"
      kokkos=$2
      shift
      ;;
    --test) does=test targets=(all) ;;
    --build)
      does=build targets=()
      while [[ -n ${2-} && $2 != -- ]]; do
        targets+=("$2")
        shift
      done
      ((${#targets[@]} > 0)) || fail "--build takes names of targets"
      rest=("${@:3}")
      break
      ;;
    *) rest+=("$1") ;;
  esac
  shift
done
set -- "${rest[@]}"
if [[ $does == run && $# == 0 ]]; then printf '%s\n' "$usage" >&2; exit 70; fi

build=$project/build/quickstart-kokkos$kokkos with="with Kokkos $kokkos" options=()
if [[ $does == run && ! -x $build/miniapp/miniapp && (" merge compare baseline show " == *" $1 "* || " $* " == *" --predict"[\ =]*) ]]; then
  build=$project/build/quickstart-without-kokkos with="without Kokkos" options=(-DOVERLAP_KOKKOS=OFF)
fi
log=$build.log
writable "$project/build" || fail "cannot write to $project/build: use a checkout of your own"
use_root "$kokkos"
lock "$build.lock"
configured "$build" ||
  logged "$log" "configuring in $build" configure "$build" -DCMAKE_BUILD_TYPE=Release -DOVERLAP_TESTS=ON "${options[@]}" ||
  fail "CMake could not configure the build: $(reason "$log"); log: $log"
if [[ $does == build ]]; then
  "${inside[@]}" "${clean[@]}" cmake --build "$build" --target "${targets[@]}" >&2 || exit 70
  exec {lock_fd}>&-
  if (($# > 0)); then cd "$build" && exec "${inside[@]}" "${clean[@]}" "$@"; fi
  exit 0
fi
# Only what is compiled or linked is worth a word: with all up to date, ninja still looks for new files and commits.
say_at='(Building|Linking) CXX' logged "$log" "building ${targets[*]} $with in $build" \
  "${inside[@]}" "${clean[@]}" cmake --build "$build" --target "${targets[@]}" ||
  fail "the build failed: $(reason "$log"); log: $log"
exec {lock_fd}>&-

if [[ $does == test ]]; then
  exec "${inside[@]}" "${clean[@]}" ctest --test-dir "$build" --output-on-failure --no-tests=error -j2 "$@"
fi
# The machine's libraries do not fit the root's.
exec "${inside[@]}" env -u LD_LIBRARY_PATH "$build/miniapp/miniapp" "$@"
