# shellcheck shell=bash
# Roots of Debian with what the builds and tests need: each made once by mmdebstrap in a cache folder, entered without
# changing the machine. Sourced by quickstart.sh, check.sh and compile.sh.
#
# use_root NAME makes a root if need be and sets $root and $inside: "${inside[@]}" CMD... runs CMD in it. The names:
#   4, 5     Debian unstable with Kokkos 4 or 5
#   browser  chromium, nothing to build with
#   clang    root 4 with clang: for sanitizers, which GCC takes twice as long to compile, and libFuzzer
#   hip      root 5 with clang 21 and what compiles for AMD's GPUs
#   oldest   Debian 12: the oldest compiler and packages that the libraries without Kokkos support
#   slurm    Debian unstable with Kokkos 4, Slurm and MPICH: unstable's Slurm has no PMIx, which Open MPI needs under srun

project=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
HOME=${HOME-~} # unset in some containers
cache=$(realpath -m "${OVERLAP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/overlap}")
user=$(id -un 2>/dev/null || id -u)

common_packages="g++ cmake ninja-build git ca-certificates libyaml-cpp-dev libcli11-dev libfmt-dev nlohmann-json3-dev \
libpugixml-dev libgtest-dev libgmock-dev python3 python3-yaml python3-jsonschema clang-format mount"
# Kokkos 4.5.1 (Serial) and Kernels; Open MPI and hwloc for fleets
kokkos4_packages="$common_packages openmpi-bin libopenmpi-dev libhwloc-dev pkgconf libtrilinos-kokkos-dev \
libtrilinos-kokkos-kernels-dev libopenblas-dev"
kokkos5_packages="$common_packages libkokkos-dev" # Kokkos 5.2.2 (OpenMP)
# shellcheck disable=SC2034 # read in functions
declare -A packages_of=(
  [4]="$kokkos4_packages"
  [clang]="$kokkos4_packages clang libclang-rt-dev"
  [5]="$kokkos5_packages"
  [hip]="$kokkos5_packages clang-21 clang-tools-21 libclang-rt-21-dev lld-21 llvm-21 rocm-device-libs-21 libamdhip64-dev"
  [browser]="chromium chromium-driver python3-selenium fonts-dejavu-core mount"
  [oldest]="g++ cmake ninja-build git libyaml-cpp-dev libcli11-dev libfmt-dev nlohmann-json3-dev libpugixml-dev libgtest-dev libgmock-dev \
python3 python3-yaml python3-jsonschema mount"
  [slurm]="$common_packages libtrilinos-kokkos-dev libhwloc-dev pkgconf mpich libmpich-dev slurmctld slurmd slurm-client \
iproute2"
)
declare -A suite_of=([oldest]=bookworm) # unstable for the others

# Builds see nothing of the caller's environment (compilers, search paths), and git must read a checkout that may belong
# to another user. UCX, which Debian's Open MPI loads, would spend 0.4 s of every start on memory events.
clean=(env -i "HOME=$HOME" "OVERLAP_CACHE=$cache" ${OVERLAP_REGENERATE:+"OVERLAP_REGENERATE=$OVERLAP_REGENERATE"} PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
  UCX_MEM_EVENTS=n GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory "GIT_CONFIG_VALUE_0=*")

self=$(basename "$(readlink -f "$0")" .sh)
say() { printf '%s: %s\n' "$self" "$*" >&2 || :; } # stderr may be closed
fail() { say "error: $*"; exit 70; }
set -E
trap 'fail "command failed: $BASH_COMMAND"' ERR
trap 'exit 130' INT

# logged LOG WHAT CMD...: says WHAT and runs CMD with its output in LOG; on a terminal the latest line shows. With $say_at
# set, WHAT is said at the first line of output that matches it, or never.
logged() {
  local log=$1 what=$2 columns line result=0
  shift 2
  if [[ -z ${say_at-} ]]; then
    say "$what"
    what=
    if [[ ! -t 2 ]]; then
      "$@" >"$log" 2>&1 </dev/null
      return
    fi
  fi
  columns=$(tput cols 2>/dev/null || echo 80)
  "$@" 2>&1 </dev/null | tee "$log" | while IFS= read -r line; do
    if [[ -n $what && $line =~ $say_at ]]; then
      say "$what"
      what=
    fi
    if [[ -t 2 && -z $what ]]; then printf '\r\e[K%s' "${line:0:columns-1}" >&2; fi
  done || result=$?
  if [[ -t 2 ]]; then printf '\r\e[K' >&2; fi
  return $result
}

# reason LOG: the line of LOG that tells why the command failed, in plain words where apt's are not.
reason() {
  local text
  text=$(<"$1")
  if [[ $text =~ Unable\ to\ locate\ package\ ([^[:space:]]+) ]]; then
    echo "Debian ${suite-on this machine} has no package ${BASH_REMATCH[1]}"
  elif [[ $text == *"No space left on device"* ]]; then
    echo "the disk of $cache or ${TMPDIR:-/tmp} is full"
  elif [[ $text =~ (Could\ not\ (resolve|connect)|Unable\ to\ connect|Cannot\ initiate|Temporary)[^$'\n']* ]]; then
    echo "no network, or a wrong proxy or mirror in apt's configuration (${BASH_REMATCH[0]})"
  elif [[ $text == *"does not have a Release file"* ]]; then
    echo "this archive has no Debian ${suite-}"
  else
    awk '/^E: |[Ee]rror[: ]|Permission denied|: not found/ && !line { line = $0 }
      END { print line ? line : $0 }' <<<"$text"
  fi
}

writable() { mkdir -p "$1" 2>/dev/null && [[ -w $1 ]]; }

# lock FILE: two calls at once take turns, until the process ends or closes $lock_fd.
lock() {
  [[ ! -e $1 || -w $1 ]] || fail "cannot write to $1: it belongs to another user"
  exec {lock_fd}>"$1"
  flock --nonblock "$lock_fd" || { say "waiting for another run to finish"; flock "$lock_fd"; }
}

# The address of the Debian archive that this machine's apt uses. apt knows the origin of a source only once its lists
# are there; before that it is the source of the installed release.
archive() {
  local suites uri
  # shellcheck disable=SC2016 # these are for apt to expand
  uri=$(apt-get indextargets --format '$(ORIGIN)/$(LABEL)/$(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk '$1 == "Debian/Debian/main" && $2 !~ /^cdrom:/ && !uri { uri = $2 } END { print uri }')
  if [[ -z $uri ]]; then
    suites="^(stable|testing|unstable|sid|$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release))/main/"
    uri=$(apt-get update --print-uris 2>/dev/null | awk -F /dists/ -v suites="$suites" \
      '$2 ~ suites && $1 !~ /^.cdrom:/ && !uri { uri = substr($1, 2) } END { print uri }')
  fi
  uri=${uri%/}
  case $uri in # a list of mirrors, as cloud images have it: the first will do
    mirror+file:*) uri=$(awk '/^[a-z]/ && !uri { uri = $1 } END { print uri }' "${uri#mirror+file:}") ;;
  esac
  echo "${uri%/}"
}

# need TOOL:PACKAGE...: installs the packages of the tools that this machine lacks.
need() {
  local log=$cache/tools.log missing=() pair
  for pair; do type -P "${pair%:*}" >/dev/null || missing+=("${pair#*:}"); done
  ((${#missing[@]} > 0)) || return 0
  type -P apt-get >/dev/null || fail "missing tools, and no apt-get to install them: ${missing[*]}"
  ((EUID == 0)) || fail "missing tools: an administrator has to run: apt-get install ${missing[*]}"
  writable "$cache" || fail "cannot write to $cache: set OVERLAP_CACHE to a folder of yours"
  logged "$log" "installing ${missing[*]} with apt-get" sh -euc 'export DEBIAN_FRONTEND=noninteractive
    apt-get update && apt-get install -y --no-install-recommends "$@"' sh "${missing[@]}" ||
    fail "apt-get could not install ${missing[*]}: $(reason "$log"); log: $log"
}

# Checks all that making a root needs, before anything is made.
check_machine() {
  local tools=(mmdebstrap:mmdebstrap mount:mount) free id
  type -P apt-get >/dev/null ||
    fail "no apt-get: quick start is for Debian; elsewhere build with CMake against a Kokkos of your own (see README)"
  ((EUID == 0)) || tools+=(newuidmap:uidmap)
  need "${tools[@]}"
  for id in uid gid; do # mmdebstrap's user namespace needs a range of each
    ((EUID == 0)) || grep -Eqs "^($user|$EUID):" /etc/sub$id || fail "no entry for $user in /etc/sub$id:" \
      "an administrator has to run: usermod --add-sub${id}s 100000-165535 $user"
  done
  free=$(df --output=avail -k "$cache" | sed 1d)
  ((free > 2000000)) || fail "only $((free / 1000)) MB free in $cache, 2000 MB are needed: free some or set OVERLAP_CACHE"
}

# As root, the mount namespace takes mmdebstrap's mounts along when it is killed. As a user, its files belong to other
# ids; a tar stream makes them the caller's own.
bootstrap() { # FOLDER URI PACKAGES, of $suite
  local settings options
  settings=$(apt-config dump | sed -nE '/^Acquire::(https?|ftp|socks|tor|Retries|ForceIPv)/p') # proxies and the like
  options=(--variant=apt --include="$3" --aptopt="$settings Acquire::Check-Valid-Until \"false\"")
  if ((EUID == 0)); then
    unshare --mount mmdebstrap "${options[@]}" "$suite" "$1" "$2"
  else
    mmdebstrap "${options[@]}" "$suite" - "$2" | tar -x -C "$1" --exclude='./dev/*'
  fi
}

make_root() { # PACKAGES
  local new=$root.new log=$root.log uri library
  check_machine
  uri=$(archive) || uri=
  [[ -n $uri ]] || fail "apt's sources name no Debian archive: add one (see man sources.list)"
  rm -rf --one-file-system "$new" "$new.old"
  mkdir "$new"
  logged "$log" "making a root of Debian $suite in $root from $uri, once (1 GB, a minute or two)" \
    bootstrap "$new" "$uri" "$1" || fail "could not make a root from $uri: $(reason "$log"); log: $log"
  rm -f "$new/etc/apt/apt.conf.d/99mmdebstrap" # proxy settings can hold a password
  if [[ $1 == *libkokkos-dev* ]]; then         # its CMake files name two archives that the package lacks
    for library in algorithms simd; do
      library=$(dirname "$new"/usr/lib/*/libkokkoscore.so)/libkokkos$library.a
      [[ -e $library ]] || printf '!<arch>\n' >"$library"
    done
  fi
  touch "$new/etc/overlap-root"
  printf '%s\n%s\n' "$1" "$(date -u +%FT%TZ)" >"$new/made-of"
  if [[ -e $root ]]; then mv "$root" "$new.old"; fi
  mv "$new" "$root"
  rm -rf --one-file-system "$new.old"
}

root_has() { [[ -e $root/made-of && $(sed -n 1p "$root/made-of") == "$1" ]]; }

# Runs in a mount namespace of its own: the root's /usr and /etc take the place of the machine's; every other path, the
# user, the folder and the signals stay what they are, and no process stands between. Folders below /usr or /etc that
# arguments name (project, cache, current folder, a deck's) come along, where the root has nothing of its own.
# shellcheck disable=SC2016 # for the inner shell to expand
enter='
  root=$1
  for path; do
    path=${path#--*=}
    [ -d "$path" ] || path=${path%/*}
    case $path in /usr/* | /etc/*)
      if [ -d "$path" ] && [ -z "$(ls -A "$root$path" 2>/dev/null)" ]; then
        mkdir -p "$root$path"
        mount --rbind "$path" "$root$path"
      fi ;;
    esac
  done
  shift 4
  for dir in lib64 lib32 lib etc usr sbin bin; do # mostly links; where they are not, mount itself needs this order
    if [ -d "/$dir" ] && [ ! -L "/$dir" ] && [ -d "$root/$dir" ]; then mount --rbind "$root/$dir" "/$dir"; fi
  done
  exec "$@"'

use_root() { # NAME
  local packages=${packages_of[$1]} suite=${suite_of[$1]-unstable} namespaces=(--mount) drop=()
  case $1 in
    4 | 5) root=$cache/root-kokkos$1 ;;
    *) root=$cache/root-$1 ;;
  esac
  if ((EUID != 0)); then
    # A user may mount in a user namespace, with rights there that the command itself must not have.
    namespaces=(--user --map-current-user --keep-caps --mount)
    drop=(setpriv --inh-caps=-all --ambient-caps=-all)
  fi
  unshare "${namespaces[@]}" true 2>/dev/null || fail "$user cannot create a mount namespace on this machine:" \
    "run as root, or have user namespaces enabled; a container needs --cap-add SYS_ADMIN"
  if ! root_has "$packages"; then
    [[ ! -e /etc/overlap-root ]] || fail "a root cannot be made inside another one: run this once outside"
    writable "$cache" || fail "cannot write to $cache: set OVERLAP_CACHE to a folder of yours"
    lock "$root.lock"
    if ! root_has "$packages"; then make_root "$packages"; fi # or another run made it meanwhile
    exec {lock_fd}>&-
  fi
  inside=(unshare "${namespaces[@]}" sh -euc "$enter" sh "$root" "$project" "$cache" "$(pwd -P)" "${drop[@]}")
}

# configure FOLDER ARGS...: from scratch if the root is another than before (its compiler and libraries may be too).
# Several files of a library are compiled at once, in half the time.
configured() { cmp -s "$root/made-of" "$1/made-of"; }
configure() {
  configured "$1" || rm -rf "$1"
  "${inside[@]}" "${clean[@]}" cmake -S "$project" -B "$1" -G Ninja -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 "${@:2}" && cp "$root/made-of" "$1/"
}
