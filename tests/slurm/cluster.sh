#!/usr/bin/env bash
# A Slurm of two made-up nodes, n1 and n2, with two made-up GPUs each, on this machine while a command runs:
#   MINIAPP=.../miniapp tests/slurm/cluster.sh COMMAND...
# COMMAND runs as a user on the login node would, with `miniapp` on its PATH and $CLUSTER for logs and files; its exit
# code comes back. Needs the root `slurm` of ci/root.sh, and root rights.
#
# All processes, mounts, addresses and files belong to namespaces and file systems in memory that end with the command
# or with this process: end it with SIGKILL (timeout -s KILL), as unshare ignores SIGTERM.
set -euo pipefail

if [[ ${1-} != --inside ]]; then
  (($# > 0)) || { echo "usage: cluster.sh COMMAND..." >&2; exit 70; }
  self=$(readlink -f "${BASH_SOURCE[0]}")
  exec unshare --mount --pid --net --uts --ipc --fork --kill-child --mount-proc "$self" --inside "$@"
fi
shift

fail() {
  echo "cluster: error: $*" >&2
  tail -vn 20 "$CLUSTER"/log/* >&2 2>/dev/null || true
  exit 70
}

hostname login
for folder in /run /dev/shm /etc/slurm /usr/local/bin; do mount -t tmpfs -o mode=755 cluster $folder; done
chmod 1777 /dev/shm
export CLUSTER=/run/cluster TMPDIR=/run/cluster/tmp PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mkdir -p "$CLUSTER"/{log,state} "$TMPDIR"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$MINIAPP" >/usr/local/bin/miniapp
chmod +x /usr/local/bin/miniapp

ip link set lo up
ip address add 127.0.0.2/8 dev lo # without a second address Slurm does not resolve names of the loopback device
printf '127.0.0.1 localhost login n1 n2\n' >"$CLUSTER/hosts"
mount --bind "$CLUSTER/hosts" /etc/hosts
for gpu in 0 1; do # must be devices
  touch "$CLUSTER/gpu$gpu"
  mount --bind /dev/null "$CLUSTER/gpu$gpu"
done

# Nodes claim more cores than the machine has. KillWait: seconds from SIGTERM to SIGKILL, 30 elsewhere. UCX: ranks share
# cores, and nothing but the loopback device is there.
cat >/etc/slurm/slurm.conf <<CONF
ClusterName=overlap
SlurmctldHost=login(localhost)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$CLUSTER/state
SlurmdSpoolDir=$CLUSTER/%n/spool
TmpFS=$CLUSTER/%n/tmp
SlurmctldPidFile=$CLUSTER/slurmctld.pid
SlurmdPidFile=$CLUSTER/%n/slurmd.pid
SlurmctldLogFile=$CLUSTER/log/slurmctld
SlurmdLogFile=$CLUSTER/log/slurmd.%n
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmi2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
GresTypes=gpu
NodeName=n[1-2] NodeHostname=localhost Port=[17001-17002] CPUs=8 RealMemory=4000 Gres=gpu:2
PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP
CONF
printf 'AutoDetect=off\nName=gpu File=%s/gpu[0-1]\n' "$CLUSTER" >/etc/slurm/gres.conf
echo CgroupPlugin=disabled >/etc/slurm/cgroup.conf
touch /etc/slurm/overlap.yaml

slurmctld || fail "slurmctld does not start"
read -ra cpus < <(python3 -c 'import os; print(*os.sched_getaffinity(0))')
half=$(((${#cpus[@]} + 1) / 2))
for node in n1 n2; do # each with a name, half of the CPUs and an /etc/slurm/overlap.yaml of its own
  [[ $node == n1 ]] && own=("${cpus[@]:0:half}") || own=("${cpus[@]: -half}")
  mkdir -p "$CLUSTER/$node"/{spool,tmp}
  touch "$CLUSTER/$node/overlap.yaml"
  # shellcheck disable=SC2016 # for the inner shell to expand
  unshare --uts --mount sh -euc 'hostname "$1"
    mount --bind "$CLUSTER/$1/overlap.yaml" /etc/slurm/overlap.yaml
    exec taskset --cpu-list "$2" slurmd -N "$1"' sh "$node" "$(IFS=,; echo "${own[*]}")" || fail "slurmd of $node does not start"
done
for ((i = 0; i < 200; ++i)); do
  [[ $(sinfo -h -t idle -o %D 2>/dev/null) != 2 ]] || break
  sleep 0.05
done
((i < 200)) || fail "the nodes are not idle after 10 s: $(sinfo -hN -o '%n %T %E' 2>&1)"

result=0
"$@" || result=$?
((result == 0)) || tail -vn 20 "$CLUSTER"/log/* >&2
exit $result
