#!/bin/sh
# Slurm's HealthCheckProgram: a small deck on every idle node. Where data are wrong (exit code 2) or too slow (5) it runs
# again at once. A second failure drains the node, with the reason; a pass is logged as unsteady. Anything else says
# nothing about the hardware, or not for sure. The result files of both runs stay for `miniapp merge`. In slurm.conf:
#   HealthCheckProgram=/etc/slurm/health.sh
#   HealthCheckInterval=3600
#   HealthCheckNodeState=IDLE
# slurmd ends it after 60 s, so a run may take 25 s, and gives it no environment but SLURMD_NODENAME.
export PATH=/usr/local/bin:/usr/bin:/bin SLURM_CONF=/etc/slurm/slurm.conf
deck=/etc/slurm/overlap.yaml
results=/var/log/overlap

run() { # FILE; sets `why`; returns 0 where it failed
  lines=$(timeout -k 3 25 miniapp "$deck" --quiet --json "$1" 2>&1)
  code=$?
  case $code in
    2) why="wrong data" ;;
    5) why="performance" ;;
    *) return 1 ;;
  esac
  failed=$(printf '%s\n' "$lines" | sed -n 's/^OVERLAP_CHECK \(.*\) verdict=FAIL/\1/p' | head -n 1)
  why="$why${failed:+: $failed}"
}
say() { printf '%s %s: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$SLURMD_NODENAME" "$1" >>"$results/health.log"; }

mkdir -p "$results" || exit 1
file=$results/$SLURMD_NODENAME-$(date -u +%Y%m%dT%H%M%SZ)
if ! run "$file-1.json"; then
  rm -f "$file-1.json"
  exit 0
fi
first=$why
if run "$file-2.json"; then
  say "drained: $why"
  scontrol update "NodeName=$SLURMD_NODENAME" State=DRAIN "Reason=overlap: $why"
elif [ $code = 0 ]; then
  say "unsteady: $first; then PASS"
else
  say "not confirmed: $first; then exit code $code: $(printf '%s\n' "$lines" | tail -n 1)"
fi
