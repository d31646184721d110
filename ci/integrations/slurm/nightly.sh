#!/bin/sh
# Every night, from cron on a login node: each idle node tests all its GPUs in a job of its own (overlap.sbatch), and a
# job after them merges their results, mails if the verdict is not PASS, and leaves fleet.json, fleet.xml and fleet.html
# in the night's folder. The argument is the number of GPUs of each node. In the crontab of a user of Slurm:
#   MAILTO=admin@example.org
#   OVERLAP_REFERENCE=/etc/overlap/reference.yaml
#   OVERLAP_RESULTS=/var/lib/overlap
#   30 2 * * * PATH=/opt/overlap/bin:/usr/bin:/bin /opt/overlap/share/overlap/ci/integrations/slurm/nightly.sh 4
set -eu
devices=$1
night=${OVERLAP_RESULTS:-$PWD/results}/$(date +%F)
here=$(dirname "$(readlink -f "$0")")

# Those that must have a result. A node that is in use, or down, is not tested tonight.
mkdir -p "$night"
sinfo --noheader --Node --states=idle --format=%N | sort -u | sed "s/$/:$devices/" >"$night/hosts.txt"
[ -s "$night/hosts.txt" ] || { echo "overlap: no node is idle" >&2; exit 1; }

# A job that cannot start within two hours is removed: its node has no result, and is named.
export OVERLAP_RESULTS="$night" OVERLAP_DEVICES="$devices"
after=
while IFS=: read -r node _; do
  after=$after:$(sbatch --parsable --deadline=now+2hours --output="$night/%x-%j.out" --nodes=1 --nodelist="$node" \
    --ntasks-per-node="$devices" --gpus-per-node="$devices" "$here/overlap.sbatch" </dev/null)
done <"$night/hosts.txt"
sbatch --dependency="afterany$after" --job-name=overlap-merge --output="$night/merge.out" --mail-type=FAIL \
  --wrap="miniapp merge '$night' --expect '$night/hosts.txt' --json '$night/fleet.json' --junit '$night/fleet.xml' \
    --report '$night/fleet.html'" >/dev/null
