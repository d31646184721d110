#!/usr/bin/env bash
# Compiles for a back end without its device and without a Kokkos that has it: the compiler reads the headers of Debian's
# libkokkos-dev with the configuration of backends/ before them. Nothing is linked. One line for each unit that fails, with
# the compiler's first errors; what is up to date is skipped.
#
# compile.sh cuda     with nvcc: device code is compiled, host code checked; several files of a library at once
# compile.sh hip      with clang, checks device and host code of the libraries that launch kernels or call HIP, as above
# compile.sh threads  with g++, the same for Kokkos::Threads
#
# --tests               cuda: the tests but for those without Kokkos, by nvcc alone, which is quicker
# --every-architecture  cuda, hip: the program's device code, for each major architecture that nvcc knows, for gfx90a and
#                       gfx942
# --without-kokkos      cuda, hip: the libraries without Kokkos: as nvcc_wrapper compiles them where it is the compiler of
#                       the whole build; by clang each file by itself
# --oldest              cuda: the libraries without Kokkos with the oldest packages supported
# --self-test           plants a type error in the back end's lanes and sees it found
#
# Logs, and an empty file for each unit that compiles: build/BACKEND_objects*. CUDAHOSTCXX names nvcc's host compiler, JOBS
# how many run at once (2).
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=root.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/root.sh"

backend=${1-} what=${2-}
case "$backend $what" in
  'cuda --oldest') headers_from=oldest ;;
  'cuda ' | 'cuda --tests' | 'cuda --without-kokkos' | 'cuda --every-architecture' | 'cuda --self-test' | \
    'threads ' | 'threads --self-test') headers_from=5 ;;
  'hip ' | 'hip --without-kokkos' | 'hip --every-architecture' | 'hip --self-test') headers_from=hip ;;
  *)
    printf 'usage: compile.sh cuda|hip|threads [--tests | --every-architecture | --without-kokkos | --oldest | --self-test]\n' >&2
    exit 2
    ;;
esac

if [[ $backend == cuda ]]; then
  # Not installed here: Debian's nvcc is in non-free, releases behind CUDA's own, and takes 2.5 GB.
  PATH=$PATH:/usr/local/cuda/bin
  [[ -x $(type -P nvcc) ]] || fail "nvcc is neither on PATH nor in /usr/local/cuda/bin: install the CUDA toolkit, or leave" \
    "these steps out with ci/check.sh --without cuda"
  if [[ -z ${CUDAHOSTCXX-} ]]; then need g++:g++; fi
  host_compiler=${CUDAHOSTCXX:-$(type -P g++-12 || type -P g++)}
fi
use_root "$headers_from" # sets $root, $project and $inside

cd "$project"
out=build/${backend}_objects${what#-}
mkdir -p "$out"

warnings=(-Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wno-missing-field-initializers)
# What overlap_settings defines for every target.
mapfile -t definitions < <(sed -n 's/^target_compile_definitions(overlap_settings INTERFACE \(.*\))$/-D\1/p' CMakeLists.txt)
flags=("${definitions[@]}" -I src)
configuration=(-isystem "ci/backends/$backend")
run=("${inside[@]}" "${clean[@]}")
case $backend in
  cuda)
    # Only these headers, and none of the root's own C and C++ library, which this machine's compiler does not know.
    mkdir -p "$out/include"
    for headers in kokkos yaml-cpp CLI fmt nlohmann pugixml.hpp pugiconfig.hpp gtest gmock; do
      ln -sfn "$root/usr/include/$headers" "$out/include/$headers"
    done
    architecture=sm_90 kinds=all-warnings
    if [[ $what == --every-architecture ]]; then
      # Not ptxas' advice: a bound for 2048 threads per SM is ignored where an SM has fewer.
      architecture=all-major kinds=cross-execution-space-call,reorder,deprecated-declarations,ext-lambda-captures-this
    fi
    run=()
    compiler=(nvcc -x cu -std=c++20 "-arch=$architecture" -ccbin "$host_compiler" -Werror "$kinds"
      "-Xcompiler=$(IFS=,; echo "${warnings[*]}"),-fsyntax-only" -isystem "$out/include")
    # 20208: a host function with long double, where nvcc takes it for one of both sides.
    configuration=(--extended-lambda --expt-relaxed-constexpr -diag-suppress 20208 "${configuration[@]}"
      -isystem "$out/include/kokkos") ;;
  hip)
    compiler=(clang++-21 -x hip -std=c++20 -Werror "${warnings[@]}")
    configuration+=(-isystem /usr/include/kokkos) ;;
  threads)
    compiler=(g++ -x c++ -std=c++20 -Werror "${warnings[@]}" -fsyntax-only)
    configuration+=(-isystem /usr/include/kokkos) ;;
esac
# Targets that do not link Kokkos get none of its flags.
plain_definitions=('-DOVERLAP_SOURCE_INPUT="input"' '-DOVERLAP_INSTALLED_INPUT="input"')

# What every object depends on beside our own sources, which the compiler lists for each.
setup=$("${run[@]}" "${compiler[0]}" --version; if [[ $backend == cuda ]]; then "$host_compiler" --version; fi
  echo "${compiler[@]}" "${flags[@]}" "${configuration[@]}"; cat "$root/made-of" "${BASH_SOURCE[0]}"
  find "ci/backends/$backend" -type f -exec cat {} +)
[[ -e $out/setup && $(<"$out/setup") == "$setup" ]] || printf '%s\n' "$setup" >"$out/setup"

up_to_date() { # OBJECT: compared by when its compilation began, as a file may change meanwhile
  local began=$1.began words source
  [[ -e $1 && ! $out/setup -nt $began ]] || return 1
  mapfile -t words < <(tr -s ' \\\n' '\n' <"$1.d") # OBJECT : SOURCES
  for source in "${words[@]:2}"; do
    [[ -e $source && ! $source -nt $began ]] || return 1
  done
}

# How far a unit is compiled, and for which architecture: rows of arguments.
until_rows() { # SOURCE OBJECT kokkos|plain
  case $backend$what in
    hip--every-architecture) printf -- '-c -o %s --offload-arch=%s -DKOKKOS_ARCH_AMD_%s\n' "$2" gfx90a GFX90A "$2" gfx942 GFX942 ;;
    hip*) if [[ $3 == plain ]]; then echo "-x c++ -fsyntax-only"; else echo "-fsyntax-only --offload-arch=gfx90a -DKOKKOS_ARCH_AMD_GFX90A"; fi ;;
    threads*) echo ;;
    # nvcc's own output, which no host compiler sees, will do for tests; some find <hip/hip_runtime.h> in their folder.
    cuda*) if [[ $1 == tests/* ]]; then echo "--cuda -o $2 -I $(dirname "$1")"; else echo "-c -o $2"; fi ;;
  esac
}

compile() { # SOURCE kokkos|plain
  local object=$out/$1.o with=("${configuration[@]}") until
  if [[ $2 == plain ]]; then with=("${plain_definitions[@]}"); fi
  up_to_date "$object" && return
  mkdir -p "$(dirname "$object")"
  rm -f "$object"
  touch "$object.began"
  while read -ra until; do
    if ! "${run[@]}" "${compiler[@]}" "${with[@]}" "${flags[@]}" -MMD -MF "$object.d" "${until[@]}" "$1" </dev/null >"$object.log" 2>&1; then
      printf '%s\n' "FAILED $1" "$(grep -E -m 3 'error|fatal' "$object.log" || head -n 3 "$object.log")" | sed '2,$s/^/  /'
      rm -f "$object"
      return
    fi
  done < <(until_rows "$1" "$object" "$2")
  : >"$object"
}

# What a build for the host compiles: files, most of them with several others of their library.
units_of_build() {
  local folder=$out/build kokkos=ON
  [[ $headers_from != oldest ]] || kokkos=OFF
  configure "$folder" "-DOVERLAP_KOKKOS=$kokkos" -DOVERLAP_MPI=OFF -DOVERLAP_TESTS=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >"$folder.log" 2>&1 ||
    fail "CMake could not configure a build for the host; log: $folder.log"
  sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$folder/compile_commands.json" | sed "s|^$project/||"
}

# Files that are in such units.
in_units() {
  grep -v /Unity/ <<<"$units" || true
  grep /Unity/ <<<"$units" | xargs -r sed -n "s|^#include \"$project/\(.*\)\"|\1|p"
}

sources_without_kokkos() {
  if [[ $backend == cuda ]]; then
    grep -vE "$units_with_kokkos" <<<"$units"
  else
    find src/{base,describe,deck,schedule,timeline,model,experiment,report} -name '*.cpp'
  fi
}

# All that uses Kokkos and is worth its time, but what needs MPI and hwloc, which the root lacks, and other vendors' files.
sources_with_kokkos() {
  local folders=(src/{workload,lanes,measure}) others
  if [[ $backend == cuda || -n $what ]]; then folders+=(src/fleet miniapp); fi
  others=$(find ci/backends -mindepth 1 -maxdepth 1 ! -name "$backend" -printf '%f\n' | paste -sd '|')
  [[ $backend != threads ]] || others+='|gpu' # what all vendors share needs one
  grep -E "$units_with_kokkos" <<<"$units" || true
  find "${folders[@]}" -name '*.cpp' ! -name '*_mpi.cpp' ! -name '*_hwloc.cpp' | grep -vE "_($others)\.cpp$" |
    grep -vxFf <(in_units)
}

tests_with_kokkos() {
  find tests \( -path tests/unit -o -path tests/fuzz \) -prune -o \( -name '*.cpp' -o -name '*.cu' \) -print
}

# A file of the back end's lanes, and the type error.
self_test() {
  local file=lanes/api/$backend.hpp error="s/instance\.${backend}_stream()/instance.another_stream()/" unit=src/lanes/lanes.cpp found
  if [[ $backend == threads ]]; then
    file=lanes/fenced_lanes.cpp error='s/instance(lane)\.fence(/instance(lane).fences(/' unit=$out/planted/lanes/fenced_lanes.cpp
  fi
  mkdir -p "$out/planted/$(dirname "$file")"
  sed "$error" "src/$file" >"$out/planted/$file"
  ! cmp -s "src/$file" "$out/planted/$file" || fail "found nothing to plant an error in: src/$file"
  flags=(-I "$out/planted" "${flags[@]}")
  found=$(compile "$unit" kokkos)
  [[ $found == "FAILED $unit"*"planted/$file"* ]] || fail "the error planted in $file was not found: $found"
  say "the error planted in $file was found"
}
if [[ $what == --self-test ]]; then
  self_test
  exit
fi

kokkos=() plain=() units=
units_with_kokkos='(src|miniapp)/(CMakeFiles/(overlap_)?)?(workload|lanes|measure|fleet|miniapp)'
[[ $backend$what != hip ]] || units_with_kokkos=${units_with_kokkos/|fleet|miniapp/}
if [[ $backend != threads && $what != --tests ]]; then units=$(units_of_build); fi
case $what in
  --tests) mapfile -t kokkos < <(tests_with_kokkos) ;;
  '' | --every-architecture) mapfile -t kokkos < <(sources_with_kokkos) ;;
esac
case $backend$what in
  *--without-kokkos | *--oldest)
    without_kokkos=$(sources_without_kokkos)
    mapfile -t plain <<<"$without_kokkos"
    ;;
esac
sources=("${kokkos[@]}" "${plain[@]}")
for ((number = 0; number < ${#sources[@]}; ++number)); do
  while (($(jobs -rp | wc -l) >= ${JOBS:-2})); do wait -n || true; done
  compile "${sources[number]}" "$( ((number < ${#kokkos[@]})) && echo kokkos || echo plain)" &
done
wait

failed=0
for source in "${sources[@]}"; do [[ -e $out/$source.o ]] || failed=$((failed + 1)); done
say "$backend: ${#sources[@]} units, $failed failed ($SECONDS s)"
((failed == 0)) || exit 1
