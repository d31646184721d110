#!/bin/sh
# Slurm's HealthCheckProgram: a small deck on every idle node, which is drained, with the reason, where data are wrong
# (exit code 2) or too slow (5). Anything else says nothing about the hardware, or not for sure, and drains no node. In
# slurm.conf:
#   HealthCheckProgram=/etc/slurm/health.sh
#   HealthCheckInterval=3600
#   HealthCheckNodeState=IDLE
# slurmd ends it after 60 s and gives it no environment but SLURMD_NODENAME.
export PATH=/usr/local/bin:/usr/bin:/bin SLURM_CONF=/etc/slurm/slurm.conf
deck=/etc/slurm/overlap.yaml

lines=$(timeout -k 5 50 miniapp "$deck" --quiet 2>&1)
code=$?
case $code in
  2) what="wrong data" ;;
  5) what="performance" ;;
  *) exit 0 ;;
esac
failed=$(printf '%s\n' "$lines" | sed -n 's/^OVERLAP_CHECK \(.*\) verdict=FAIL/\1/p' | head -n 1)
scontrol update "NodeName=$SLURMD_NODENAME" State=DRAIN "Reason=overlap: $what${failed:+: $failed}"
