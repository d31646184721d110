#!/bin/sh
# Slurm's HealthCheckProgram: a small deck on every idle node. Wrong data (exit code 2), a failed criterion (5), a
# missing GPU or a slow link (4), and a run that does not end are faults: the deck runs again at once. A second fault
# drains the node, with the reason. A fault that is not confirmed is logged and kept as *.unconfirmed, which is no
# result. Any other exit code says nothing about the hardware: it is logged, and the result file stays. In slurm.conf:
#   HealthCheckProgram=/etc/slurm/health.sh
#   HealthCheckInterval=3600
#   HealthCheckNodeState=IDLE
# The deck is a copy of acceptance/health, with the numbers of your nodes.
# slurmd ends it after 60 s, in which two runs must fit, and gives it no environment but SLURMD_NODENAME.
export PATH=/usr/local/bin:/usr/bin:/bin SLURM_CONF=/etc/slurm/slurm.conf
deck=/etc/slurm/overlap.yaml
results=/var/log/overlap
seconds=24 # of a run; one that hangs is given up 3 s later

run() { # NUMBER; sets `end`, how it ended, and `why`, the fault; without a fault empty
  timeout -k 2 "$seconds" miniapp "$deck" --quiet --json "$file-$1.json" >"$file.lines" 2>&1 &
  # What hangs in a driver outlives SIGKILL; nobody waits for it.
  timeout $((seconds + 3)) tail --pid=$! -s 0.1 -f /dev/null && wait $!
  code=$?
  failed=$(sed -n 's/^OVERLAP_CHECK \(.*\) verdict=FAIL/\1/p' "$file.lines" | head -n 1)
  case $code in
    2) why="wrong data${failed:+: $failed}" ;;
    4) # a driver, or what is unknown, is no fault of the hardware
      why=$(grep -v 'no GPU to use: .*driver' "$file.lines" |
        grep -oE '(require\.(devices: found [0-9]|pcie: found gen[^;]*; required: gen)|there is no GPU to use: ).*' |
        head -n 1) ;;
    5) why="performance${failed:+: $failed}" ;;
    124 | 137) why="hang, exit code $code" ;;
    *) why="" ;;
  esac
  end="exit code $code: $( (grep 'error: ' "$file.lines" || tail -n 1 "$file.lines") | head -n 1)"
}
say() { printf '%s %s: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$SLURMD_NODENAME" "$1" >>"$results/health.log"; }

mkdir -p "$results" || exit 1
file=$results/$SLURMD_NODENAME-$(date -u +%Y%m%dT%H%M%SZ)
touch "$file.lines" || exit 1 # else the shell's own exit code would look like the program's
trap 'rm -f "$file.lines"' EXIT
run 1
first=$why
if [ $code = 0 ]; then
  rm -f "$file-1.json"
elif [ -z "$first" ]; then
  say "no verdict, $end"
else
  run 2
  if [ -n "$why" ]; then
    say "drained: $why"
    scontrol update "NodeName=$SLURMD_NODENAME" State=DRAIN "Reason=overlap: $why"
    exit
  fi
  [ ! -e "$file-1.json" ] || mv "$file-1.json" "$file-1.json.unconfirmed"
  if [ $code = 0 ]; then say "unsteady: $first; then PASS"; else say "not confirmed: $first; then no verdict, $end"; fi
fi
