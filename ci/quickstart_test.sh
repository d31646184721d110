#!/usr/bin/env bash
# Tests of the quick start and of an installed miniapp, as their users call them.
set -euo pipefail
project=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
start=$project/ci/quickstart.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# expect CODE CMD...: runs CMD, whose exit code must be CODE; its streams are in out and err.
expect() {
  local code=0
  "${@:2}" >out 2>err || code=$?
  [[ $code == "$1" ]] || { printf '%s: exit code %s, not %s\n' "${*:2}" "$code" "$1"; cat out err; exit 1; }
}
# must WHAT TEST...: the rest of the line must hold.
must() { "${@:2}" || { printf 'not so: %s\n' "$1"; cat out err; exit 1; }; }

expect 70 "$start"
must "usage goes to stderr" grep -q '^usage: ' err
expect 70 "$start" --kokkos 3 deck.yaml
must "one line names the fault" grep -qx "quickstart: error: --kokkos takes 4, 5 or none, not '3'" err
expect 70 "$start" --build
must "one line names the fault" grep -qx 'quickstart: error: --build takes names of targets' err

expect 3 "$start" no-such-deck.yaml
must "miniapp's own error arrives" grep -qx 'miniapp: error: no-such-deck.yaml: no such deck' err

cp "$project/input/rowsum.yaml" deck.yaml
expect 0 "$start" deck.yaml --set workload.rows=1000 --json result.json --quiet
must "the last line is the verdict" test "$(tail -n 1 out)" = 'OVERLAP_RESULT verdict=PASS data=OK exit=0'
must "stdout is miniapp's alone" test "$(grep -vc '^OVERLAP_' out)" = 0
must "the result is in the caller's folder" test -s result.json
expect 5 "$start" deck.yaml --set workload.rows=1000 --set 'acceptance=[{metric: time, max: 1 ns}]' --quiet

begin=$(date +%s%N)
expect 0 "$start" --version
must "a second call starts within 2 s" test $(($(date +%s%N) - begin)) -lt 2000000000
must "nothing is said where nothing is built" test ! -s err

expect 5 "$start" --build overlap_schema_files -- sh -c 'test -s src/schemas/overlap-result-3.schema.json && exit 5'
must "stdout is the command's alone" test ! -s out
# Where nothing is built yet, a prediction needs no Kokkos.
program=$project/build/quickstart-kokkos4/miniapp/miniapp
mv "$program" hidden
expect 0 "$start" increment --predict h200 --json predicted.json --quiet
mv hidden "$program"
must "it was predicted without Kokkos" grep -q '"kokkos_version": *"none"' predicted.json

# An installed miniapp runs an installed deck.
# shellcheck source-path=SCRIPTDIR source=root.sh
source "$project/ci/root.sh"
use_root 4
expect 0 "${inside[@]}" "${clean[@]}" cmake --install "$project/build/quickstart-kokkos4" --prefix "$folder/installed"
expect 0 "${inside[@]}" "${clean[@]}" "$folder/installed/bin/miniapp" \
  "$folder/installed/share/overlap/input/increment.yaml" --set workload.elements=4096
must "the health check is there and can be run" test -x "$folder/installed/share/overlap/ci/integrations/slurm/health.sh"
must "the schema of results is there" test -s "$folder/installed/share/overlap/overlap-result-3.schema.json"
echo "quick start: all passed"
