#!/usr/bin/env bash
# Tests of check.sh itself: its usage, steps left out, steps that fail, a tool that is missing.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# expect CODE TEXT CMD...: CMD ends with CODE and prints a line with TEXT.
expect() {
  local code=0
  "${@:3}" >"$folder/out" 2>&1 </dev/null || code=$?
  if [[ $code != "$1" ]] || ! grep -qF -e "$2" "$folder/out"; then
    printf '%s: exit code %s, not %s, or no line with: %s\n' "${*:3}" "$code" "$1" "$2"
    cat "$folder/out"
    exit 1
  fi
}

expect 2 'check: error: found --fast; no such option' ci/check.sh --fast
expect 2 'usage: check.sh [--full] [--without STEP]... [STEP...]' ci/check.sh --fast
expect 0 'steps: format includes' ci/check.sh --help
expect 2 'check: error: found formats; no such step' ci/check.sh formats
expect 2 'check: error: found --without kokkos; no such step' ci/check.sh --without kokkos
expect 2 'check: error: --without takes the name of a step' ci/check.sh --without
expect 0 'format                   left out' ci/check.sh --without format format
expect 0 'cuda-oldest              left out' ci/check.sh --full --without cuda cuda
expect 0 'hip-every-architecture   left out' ci/check.sh --full --without hip hip
expect 1 'format                   FAIL' env OVERLAP_CACHE=/dev/null/none ci/check.sh format
expect 2 'usage: compile.sh' ci/compile.sh hip --fast

# A machine without nvcc: every one on the way is covered.
namespaces=(--mount)
((EUID == 0)) || namespaces+=(--user --map-root-user)
# shellcheck disable=SC2016 # for the inner shell to expand
expect 70 'compile: error: nvcc is neither on PATH' unshare "${namespaces[@]}" bash -euc '
  IFS=:
  for folder in $PATH /usr/local/cuda/bin; do
    if [[ -x $folder/nvcc ]]; then mount --bind /dev/null "$folder/nvcc"; fi
  done
  ci/compile.sh cuda'
echo "check.sh: all passed"
