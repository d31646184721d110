#!/usr/bin/env bash
# Builds miniapp in a root of Debian unstable that it makes itself (see root.sh), and runs it in the current folder. What
# needs no Kokkos is left to a build without it, unless there is one with it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=root.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/root.sh"

usage="usage: quickstart.sh [--kokkos 4|5|none] DECK [miniapp options]
       quickstart.sh [--kokkos 4|5|none] --test [ctest options]
       quickstart.sh [--kokkos 4|5|none] --build TARGET... [-- COMMAND, which runs in the folder of the build]"

kokkos='' targets=(miniapp) does=run rest=()
while (($# > 0)); do
  case $1 in
    --kokkos)
      [[ ${2-} =~ ^(4|5|none)$ ]] || fail "--kokkos takes 4, 5 or none, not '${2-}'"
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

if [[ -z $kokkos ]]; then
  kokkos=4
  if [[ $does == run && ! -x $project/build/quickstart-kokkos4/miniapp/miniapp &&
    (" merge compare baseline show " == *" $1 "* || " $* " == *" --predict"[\ =]*) ]]; then kokkos=none; fi
fi
build=$project/build/quickstart-kokkos$kokkos
log=$build.log
writable "$project/build" || fail "cannot write to $project/build: use a checkout of your own"
use_root "${kokkos/none/4}"
lock "$build.lock"
configured "$build" ||
  logged "$log" "configuring in $build" configure "$build" -DCMAKE_BUILD_TYPE=Release -DOVERLAP_TESTS=ON \
    -DOVERLAP_KOKKOS="$([[ $kokkos == none ]] && echo OFF || echo ON)" ||
  fail "CMake could not configure the build: $(reason "$log"); log: $log"
if [[ $does == build ]]; then
  "${inside[@]}" "${clean[@]}" cmake --build "$build" --target "${targets[@]}" >&2 || exit 70
  exec {lock_fd}>&-
  if (($# > 0)); then cd "$build" && exec "${inside[@]}" "${clean[@]}" "$@"; fi
  exit 0
fi
# Only what is compiled or linked is worth a word: with all up to date, ninja still looks for new files and commits.
say_at='(Building|Linking) CXX' logged "$log" "building ${targets[*]} with Kokkos $kokkos in $build" \
  "${inside[@]}" "${clean[@]}" cmake --build "$build" --target "${targets[@]}" ||
  fail "the build failed: $(reason "$log"); log: $log"
exec {lock_fd}>&-

if [[ $does == test ]]; then
  exec "${inside[@]}" "${clean[@]}" ctest --test-dir "$build" --output-on-failure --no-tests=error -j2 "$@"
fi
# The machine's libraries do not fit the root's.
exec "${inside[@]}" env -u LD_LIBRARY_PATH "$build/miniapp/miniapp" "$@"
