#!/usr/bin/env bash
# Compiles with nvcc, without a GPU and without a CUDA Kokkos: nvcc reads the headers of Debian's libkokkos-dev with the
# configuration of cuda_headers/ before them. Nothing is linked. One line for each unit that fails, with the compiler's
# first errors; what is up to date is skipped.
#
# compile_cuda.sh                       all that uses Kokkos: device code is compiled, host code checked (of tests by nvcc
#                                       alone, which is quicker); and the libraries without Kokkos, as nvcc_wrapper
#                                       compiles them where it is the compiler of the whole build
# compile_cuda.sh --every-architecture  the program's device code for each major architecture that nvcc knows
# compile_cuda.sh --oldest              the libraries without Kokkos with the oldest packages supported
#
# Logs, and an empty file for each unit that compiles: build/cuda_objects*. CUDAHOSTCXX names the host compiler, JOBS how
# many run at once (2).
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=root.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/root.sh"

what=${1-}
case $what in
  '') headers_from=5 architecture=sm_90 ;;
  --every-architecture) headers_from=5 architecture=all-major ;;
  --oldest) headers_from=oldest architecture=sm_90 ;;
  *) printf 'usage: compile_cuda.sh [--every-architecture | --oldest]\n' >&2; exit 2 ;;
esac

# Not installed here: Debian's nvcc is in non-free, releases behind CUDA's own, and takes 2.5 GB.
PATH=$PATH:/usr/local/cuda/bin
[[ -x $(type -P nvcc) ]] || fail "nvcc is neither on PATH nor in /usr/local/cuda/bin: install the CUDA toolkit, or leave" \
  "these steps out with ci/check.sh --without cuda"
if [[ -z ${CUDAHOSTCXX-} ]]; then need g++:g++; fi
host_compiler=${CUDAHOSTCXX:-$(type -P g++-12 || type -P g++)}
use_root "$headers_from" # sets $root and $project

cd "$project"
out=build/cuda_objects${what#-}
mkdir -p "$out/include"

# Only these headers, and none of the root's own C and C++ library, which this machine's compiler does not know.
for headers in kokkos yaml-cpp CLI fmt nlohmann pugixml.hpp pugiconfig.hpp gtest gmock; do
  ln -sfn "$root/usr/include/$headers" "$out/include/$headers"
done

common=(-x cu -std=c++20 "-arch=$architecture" -ccbin "$host_compiler" -Werror all-warnings)
host_warnings=-Xcompiler=-Wall,-Wextra,-Wshadow,-Wconversion,-Wsign-conversion,-Wno-missing-field-initializers,-fsyntax-only
# What overlap_settings defines for every target.
mapfile -t definitions < <(sed -n 's/^target_compile_definitions(overlap_settings INTERFACE \(.*\))$/-D\1/p' CMakeLists.txt)
# 20208: a host function with long double, where nvcc takes it for one of both sides.
flags=("${common[@]}" --extended-lambda --expt-relaxed-constexpr "$host_warnings" -diag-suppress 20208
  -isystem ci/cuda_headers -isystem "$out/include" -isystem "$out/include/kokkos" "${definitions[@]}" -I src)
# Targets that do not link Kokkos get none of its flags.
plain_flags=("${common[@]}" "$host_warnings" -isystem "$out/include" "${definitions[@]}"
  '-DOVERLAP_SOURCE_INPUT="input"' '-DOVERLAP_INSTALLED_INPUT="input"' -I src)

# What every object depends on beside our own sources, which the compiler lists for each.
setup=$(nvcc --version; "$host_compiler" --version; echo "${flags[@]}" "${plain_flags[@]}"; cat "$root/made-of"
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

compile() { # SOURCE kokkos|plain
  local object until=-c with=("${flags[@]}")
  object=$out/$1.o
  if [[ $1 == tests/* ]]; then until=--cuda; fi # nvcc's own output, which no host compiler sees
  if [[ $2 == plain ]]; then with=("${plain_flags[@]}"); fi
  up_to_date "$object" && return
  mkdir -p "$(dirname "$object")"
  rm -f "$object"
  touch "$object.began"
  if nvcc "${with[@]}" -MMD -MF "$object.d" $until "$1" -o "$object" >"$object.log" 2>&1; then
    : >"$object"
  else
    printf '%s\n' "FAILED $1" "$(grep -E -m 3 'error|fatal' "$object.log" || head -n 3 "$object.log")" | sed '2,$s/^/  /'
  fi
}

sources_without_kokkos() {
  local folder
  for folder in src/*/; do
    [[ $folder =~ ^src/(workload|lanes|measure|fleet)/$ ]] || find "$folder" -name '*.cpp'
  done
}

# All that uses Kokkos, but what needs MPI and hwloc, which the root lacks; of the tests, everything but tests/unit and
# tests/fuzz.
sources_with_kokkos() {
  find src/{workload,lanes,measure,fleet} miniapp -name '*.cpp' ! -name '*_mpi.cpp' ! -name '*_hwloc.cpp'
  [[ $what == --every-architecture ]] ||
    find tests \( -path tests/unit -o -path tests/fuzz \) -prune -o \( -name '*.cpp' -o -name '*.cu' \) -print
}

kokkos=() plain=()
if [[ $what != --oldest ]]; then mapfile -t kokkos < <(sources_with_kokkos); fi
if [[ $what != --every-architecture ]]; then mapfile -t plain < <(sources_without_kokkos); fi
sources=("${kokkos[@]}" "${plain[@]}")
for ((number = 0; number < ${#sources[@]}; ++number)); do
  while (($(jobs -rp | wc -l) >= ${JOBS:-2})); do wait -n || true; done
  compile "${sources[number]}" "$( ((number < ${#kokkos[@]})) && echo kokkos || echo plain)" &
done
wait

failed=0
for source in "${sources[@]}"; do [[ -e $out/$source.o ]] || failed=$((failed + 1)); done
say "${#sources[@]} units, $failed failed ($SECONDS s)"
((failed == 0)) || exit 1
