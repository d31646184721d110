#!/usr/bin/env bash
# Checks that functions and files of src and miniapp stay small, and prints how many lines there are. Relies on
# clang-format: a function starts and ends at the same indent, at most that of a class member.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

sizes() { # FILE...: prints those that are too long; fails if there is one
  awk '
    FNR == 1 { start[0] = start[2] = 1 }
    match($0, /^(  )?[A-Za-z~_\[]/) { start[RLENGTH - 1] = FNR }
    /^(  )?}$/ && FNR - start[length - 1] >= 80 {
      print FILENAME ":" start[length - 1] ": a function of " FNR - start[length - 1] + 1 " lines; allowed: 80"; bad = 1
    }
    FNR == 501 { print FILENAME ": a file of over 500 lines"; bad = 1 }
    END { print NR " lines"; exit bad }' "$@"
}

function_of() { # HEAD LINES
  printf '%s {\n%s\n%s}\n' "$1" "$(seq -f '    f(%g);' $(($2 - 2)))" "${1%%[^ ]*}"
}
caught() { ! sizes - >/dev/null; }
for head in 'int f(int x)' '  A(int x) : a(x)'; do
  if function_of "$head" 80 | caught || ! function_of "$head" 81 | caught; then
    echo "self-test failed: $head"
    exit 1
  fi
done
seq 501 | caught || { echo "self-test failed: a file of 501 lines"; exit 1; }

mapfile -t files < <(find src miniapp -type f | sort)
sizes "${files[@]}"
