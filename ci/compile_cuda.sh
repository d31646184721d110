#!/usr/bin/env bash
# Compiles every CUDA translation unit, without a GPU and without a CUDA Kokkos: nvcc reads the headers of Debian's
# libkokkos-dev with the configuration of cuda_headers/ before them. Device code is compiled, host code checked (of tests
# by nvcc alone, which is quicker); nothing is linked. One line for each file that fails, with the compiler's first errors;
# what is up to date is skipped. Logs, and an empty file for each unit that compiles: build/cuda_objects.
#
# CUDAHOSTCXX names the host compiler, JOBS how many run at once (2).
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=root.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/root.sh"

if ! type -P nvcc >/dev/null; then say "skipped: no nvcc on PATH"; exit 77; fi
use_root 5 # sets $root and $project

cd "$project"
out=build/cuda_objects
mkdir -p "$out/include"

# Only these headers, and none of the root's own C and C++ library, which this machine's compiler does not know.
for headers in kokkos yaml-cpp CLI fmt nlohmann gtest gmock; do
  ln -sfn "$root/usr/include/$headers" "$out/include/$headers"
done

host_compiler=${CUDAHOSTCXX:-$(type -P g++-12 || type -P g++)}
# 20208: a host function with long double, where nvcc takes it for one of both sides.
# shellcheck disable=SC2054 # nvcc's commas
flags=(-x cu -std=c++20 -arch=sm_90 --extended-lambda --expt-relaxed-constexpr -ccbin "$host_compiler"
  -Xcompiler -Wall,-Wextra,-Wshadow,-Wno-missing-field-initializers,-fsyntax-only -Werror all-warnings -diag-suppress 20208
  -isystem ci/cuda_headers -isystem "$out/include" -isystem "$out/include/kokkos" -I src)

# What every object depends on beside our own sources, which the compiler lists for each.
setup=$(nvcc --version; "$host_compiler" --version; echo "${flags[@]}"; cat "$root/made-of"
  find ci/cuda_headers -type f -exec cat {} +)
[[ -e $out/setup && $(<"$out/setup") == "$setup" ]] || printf '%s\n' "$setup" >"$out/setup"

up_to_date() { # OBJECT: compared by when its compilation began, as a file may change meanwhile
  local began=$1.began words source
  [[ -e $1 && ! $out/setup -nt $began ]] || return 1
  mapfile -t words < <(tr -s ' \\\n' '\n' <"$1.d") # OBJECT : SOURCES
  for source in "${words[@]:2}"; do
    [[ -e $source && ! $source -nt $began ]] || return 1
  done
}

compile() { # SOURCE
  local object=$out/$1.o until=-c
  [[ $1 != tests/* ]] || until=--cuda # nvcc's own output, which no host compiler sees
  up_to_date "$object" && return
  mkdir -p "$(dirname "$object")"
  rm -f "$object"
  touch "$object.began"
  if nvcc "${flags[@]}" -MMD -MF "$object.d" $until "$1" -o "$object" >"$object.log" 2>&1; then
    : >"$object"
  else
    printf '%s\n' "FAILED $1" "$(grep -E -m 3 'error|fatal' "$object.log" || head -n 3 "$object.log")" | sed '2,$s/^/  /'
  fi
}

# All that uses Kokkos: of the tests, everything but tests/unit.
mapfile -t sources < <(
  find src/workload src/lanes src/measure miniapp -name '*.cpp'
  find tests -path tests/unit -prune -o \( -name '*.cpp' -o -name '*.cu' \) -print
)
for source in "${sources[@]}"; do
  while (($(jobs -rp | wc -l) >= ${JOBS:-2})); do wait -n || true; done
  compile "$source" &
done
wait

failed=0
for source in "${sources[@]}"; do [[ -e $out/$source.o ]] || failed=$((failed + 1)); done
say "${#sources[@]} CUDA translation units, $failed failed ($SECONDS s)"
((failed == 0)) || exit 1
