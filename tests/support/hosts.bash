# SPDX-License-Identifier: BSD-3-Clause
# hosts.bash: hosts on this machine, for tests of jobs on several hosts. Load it after helpers.bash.
#
#   hosts_up N               makes host1 to hostN; returns 1 and sets $HOSTS_WHY if it cannot
#   hosts_down               ends all processes on them, and with these the hosts
#   on_host I command…       runs a command on a host
#   hosts_mpi K N command…   N ranks, K on each host, for at most $TEST_TIMEOUT seconds. The
#                            launcher runs on the first of the hosts $HOSTS_ORDER ("2 1"; all)
#   hosts_launch K argument… the same with the launcher's arguments
#   hosts_private FOLDER     from now on each host has a file system of its own there
#   hosts_link I up|down     the network connection of a host
#   hosts_slow TIME          what hosts send arrives later by TIME ("20ms"); "": at once again
#
# A host has namespaces of its own for network, name, mounts and System V memory, with its own
# /dev/shm, /etc/hosts and boot_id ($HOSTS_ONE_BOOT: that of the machine, as in containers). All
# hosts are in one namespace of processes, which ends with the process that called hosts_up. So
# several tests can have hosts at once, and nothing of them remains.

# The first process of a namespace: runs the commands $1, makes the file $0, and then only reaps.
HOSTS_FIRST='eval "$1" && echo >"$0" && while :; do sleep 3600 & wait $!; done'

child_of() { tr -d ' ' <"/proc/$1/task/$1/children"; }

# hosts_start COMMANDS unshare…: makes namespaces. Sets $started to the process that unshare forks.
hosts_start() {
    local i commands=$1
    shift
    rm -f "$HOSTS_DIR/ready"
    "$@" --fork --kill-child sh -c "$HOSTS_FIRST" "$HOSTS_DIR/ready" "$commands" \
        </dev/null >"$HOSTS_DIR/said" 2>&1 3>&- &
    for ((i = 0; i < 1000; i++)); do
        [ ! -e "$HOSTS_DIR/ready" ] || { started=$(child_of $!); return; }
        [ -d /proc/$! ] || break
        sleep 0.01
    done
    HOSTS_WHY="no namespaces can be made: $(tail -n 1 "$HOSTS_DIR/said")"
    return 1
}

host_pid() { cut -d ' ' -f $(($1 + 1)) <<<"$HOSTS_PIDS"; }
all_hosts() { seq "$(wc -w <<<"$HOSTS_PIDS")"; }
in_switch() { nsenter --target "$HOSTS_SWITCH" --net "$@"; }

hosts_add() { # I
    [ -n "${HOSTS_ONE_BOOT:-}" ] || cat /proc/sys/kernel/random/uuid >"$HOSTS_DIR/boot$1"
    hosts_start "hostname host$1 && mount -t tmpfs none /dev/shm && ip link set lo up &&
        mount --bind '$HOSTS_DIR/hosts' /etc/hosts &&
        { [ ! -e '$HOSTS_DIR/boot$1' ] ||
            mount --bind '$HOSTS_DIR/boot$1' /proc/sys/kernel/random/boot_id; }" \
        nsenter --target "$HOSTS_SWITCH" --pid --mount \
        unshare --net --uts --ipc --mount || return
    HOSTS_PIDS+=" $(child_of "$started")" # nsenter has forked
    in_switch ip link add "v$1" type veth peer name eth0 netns "$(host_pid "$1")" &&
        in_switch ip link set "v$1" master hosts up &&
        on_host "$1" ip addr add "10.9.0.$1/24" dev eth0 && on_host "$1" ip link set eth0 up
}

# What launchers call in place of ssh, from any host: the processes have the same numbers on all.
hosts_ssh() {
    local i
    cat <<'SH'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
case $host in
SH
    for i in $(all_hosts); do
        echo "host$i | 10.9.0.$i) pid=$(pid_on_hosts "$(host_pid "$i")") ;;"
    done
    cat <<'SH'
*) echo "no host $host" >&2; exit 255 ;;
esac
exec nsenter --target $pid --net --uts --ipc --mount sh -c "$*"
SH
}

pid_on_hosts() { awk '/^NSpid:/ { print $NF }' "/proc/$1/status"; }

# The switch has a namespace of its own, so that the machine's network has nothing of the hosts.
hosts_up() {
    local i
    export HOSTS_PIDS= HOSTS_SWITCH= HOSTS_DIR=
    [ "$(id -u)" = 0 ] || { HOSTS_WHY="only root can make hosts"; return 1; }
    HOSTS_DIR=$(mktemp -d) || return
    { echo 127.0.0.1 localhost; for ((i = 1; i <= $1; i++)); do echo "10.9.0.$i host$i"; done
    } >"$HOSTS_DIR/hosts"
    hosts_start "ip link add hosts type bridge && ip link set hosts up" \
        setpriv --pdeathsig KILL unshare --pid --mount-proc --net || return
    HOSTS_SWITCH=$started
    for ((i = 1; i <= $1; i++)); do hosts_add "$i" || return; done
    mkdir "$HOSTS_DIR/tmp"
    hosts_ssh >"$HOSTS_DIR/ssh"
    chmod +x "$HOSTS_DIR/ssh"
}

hosts_down() {
    [ -z "$HOSTS_SWITCH" ] || kill -KILL "$HOSTS_SWITCH"
    [ -z "$HOSTS_DIR" ] || rm -rf "$HOSTS_DIR"
}

on_host() { # I command…
    local pid
    pid=$(host_pid "$1")
    shift
    # shellcheck disable=SC2016
    nsenter --target "$pid" --all sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"
}

hosts_launch() { # K ARGUMENT…
    local k=$1 i names=() first status=0
    shift
    # shellcheck disable=SC2086
    set -- ${HOSTS_ORDER:-$(all_hosts)} -- "$@"
    first=$1
    while [ "$1" != -- ]; do names+=("host$1"); shift; done
    shift
    if library_is openmpi; then
        set -- --host "$(printf "%s:$k," "${names[@]}")" --mca plm_rsh_agent "$HOSTS_DIR/ssh" \
            --mca btl tcp,vader,self --mca btl_tcp_if_include eth0 \
            --mca oob_tcp_if_include eth0 "$@"
    else
        set -- -launcher ssh -launcher-exec "$HOSTS_DIR/ssh" -ppn "$k" \
            -hosts "$(IFS=,; echo "${names[*]}")" "$@"
    fi
    TMPDIR=$HOSTS_DIR/tmp LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$YIELD" \
        timeout -k 5 "$TEST_TIMEOUT" nsenter --target "$(host_pid "$first")" --all \
        sh -c 'cd "$0" && exec "$@"' "$PWD" "${LAUNCH[@]}" "$@" <"${INPUT:-/dev/null}" || status=$?
    case $status in
    124 | 137) echo "HANG: still running after $TEST_TIMEOUT s: $*" >&2 ;;
    esac
    return "$status"
}

hosts_mpi() { # K N command…
    hosts_launch "$1" -n "${@:2}"
}

hosts_private() { # FOLDER
    local i
    mkdir -p "$1"
    for i in $(all_hosts); do on_host "$i" mount -t tmpfs none "$1" || return; done
}

hosts_link() { # I up|down
    in_switch ip link set "v$1" "$2"
}

hosts_slow() { # TIME
    local i
    for i in $(all_hosts); do
        in_switch tc qdisc del dev "v$i" root 2>/dev/null
        [ -z "$1" ] || in_switch tc qdisc add dev "v$i" root netem delay "$1" || return
    done
}
