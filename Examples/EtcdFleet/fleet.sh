#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An etcd of three nodes for keychainctl sync: its own certificate authority, certificates for nodes and machines, users with roles,
# backups. All nodes run on this computer, on the loopback interface; README.md says what is different on three.
#
#   fleet.sh start FOLDER              starts the nodes that do not run; the first time, also makes certificates, users and roles
#   fleet.sh stop FOLDER [NODE]        ends the nodes, or one of n1, n2, n3
#   fleet.sh machine FOLDER NAME       makes a certificate for a machine
#   fleet.sh options FOLDER NAME       prints the options of keychainctl sync init and join for a machine
#   fleet.sh etcdctl FOLDER ARGUMENTS  runs etcdctl as the administrator
#   fleet.sh save FOLDER FILE          writes a snapshot
#   fleet.sh restore FOLDER FILE       replaces the content of all nodes with that of a snapshot
#
#   FLEET_PORTS    for the first start: the ports of the nodes for clients and for other nodes, by default 2379 2380 12379 12380 22379 22380

set -euo pipefail
umask 077
# What etcd and etcdctl would read beside their arguments.
for name in "${!ETCD_@}" "${!ETCDCTL_@}"; do unset "$name"; done
export ETCDCTL_API=3
source "$(dirname -- "$0")/certificates.sh"

readonly nodes=(n1 n2 n3)
# The user of the machines, its role, and the prefix that the role opens.
readonly user=web prefix=/web/

stop() {
    printf '%s\n' "fleet.sh: $1" >&2
    exit 1
}

usage() {
    sed -n 's/^#   \(fleet.sh .*\)/\1/p' "$0" >&2
    exit 64
}

# MARK: - Nodes

ports() { # node
    local all
    read -r -a all <ports
    case $1 in
    n1) echo "${all[0]} ${all[1]}" ;;
    n2) echo "${all[2]} ${all[3]}" ;;
    n3) echo "${all[4]} ${all[5]}" ;;
    esac
}

choose_ports() {
    local all
    [[ ! -e ports ]] || return 0
    read -r -a all <<<"${FLEET_PORTS:-2379 2380 12379 12380 22379 22380}"
    [[ ${#all[@]} == 6 && ${all[*]} =~ ^[0-9\ ]+$ ]] || stop "FLEET_PORTS must be six numbers."
    echo "${all[*]}" >ports.part
    mv ports.part ports
}

client_url() { local own; own=$(ports "$1"); echo "https://127.0.0.1:${own% *}"; }
peer_url() { local own; own=$(ports "$1"); echo "https://127.0.0.1:${own#* }"; }

joined() { # function, prints what it prints for all nodes, separated by commas
    local node list=
    for node in "${nodes[@]}"; do list+=,$("$1" "$node"); done
    echo "${list#,}"
}

named_peer() { echo "$1=$(peer_url "$1")"; }

# Each restored snapshot has data folders of its own. A new token keeps nodes of an earlier one out.
generation() { if [[ -e generation ]]; then cat generation; else echo 1; fi; }
data() { echo "data/$1-$(generation)"; }

# The number of the node's process; nothing if it does not run. The number may belong to another process by now.
running() { # node
    local number
    [[ -e $1.pid ]] || return 0
    number=$(<"$1.pid")
    if tr '\0' ' ' <"/proc/$number/cmdline" 2>/dev/null | grep -q -F -- "--data-dir $folder/data/$1-"; then echo "$number"; fi
}

start_node() { # node
    [[ -z $(running "$1") ]] || return 0
    node_process "$1" >>"$1.log" 2>&1 </dev/null &
    echo "$!" >"$1.pid"
}

node_process() { # node
    close_others
    exec setsid etcd --name "$1" --data-dir "$folder/$(data "$1")" --log-level warn \
        --listen-client-urls "$(client_url "$1")" --advertise-client-urls "$(client_url "$1")" \
        --listen-peer-urls "$(peer_url "$1")" --initial-advertise-peer-urls "$(peer_url "$1")" \
        --initial-cluster "$(joined named_peer)" --initial-cluster-token "fleet-$(generation)" \
        --cert-file "$1.pem" --key-file "$1.key" --trusted-ca-file ca.pem --client-cert-auth \
        --peer-cert-file "$1.pem" --peer-key-file "$1.key" --peer-trusted-ca-file ca.pem --peer-client-cert-auth
}

# A node outlives this script: it keeps neither the lock nor what a caller waits for.
close_others() {
    local descriptor
    for descriptor in "/proc/$BASHPID/fd/"*; do
        descriptor=${descriptor##*/}
        ((descriptor <= 2)) || exec {descriptor}>&-
    done
}

start_nodes() {
    local node attempts
    for node in "${nodes[@]}"; do start_node "$node"; done
    for node in "${nodes[@]}"; do
        for ((attempts = 0; ; attempts++)); do
            if etcdctl_at "$(client_url "$node")" --dial-timeout=2s --command-timeout=2s endpoint health >health.log 2>&1; then break; fi
            [[ -n $(running "$node") ]] || stop "The node $node has ended; see $folder/$node.log"
            ((attempts < 600)) || stop "The node $node does not answer; see $folder/$node.log and $folder/health.log"
            sleep 0.5
        done
    done
}

stop_nodes() { # nodes
    local node number attempts
    for node in "$@"; do
        number=$(running "$node")
        [[ -n $number ]] || continue
        kill -TERM "$number" 2>/dev/null || true
        for ((attempts = 0; attempts < 100; attempts++)); do
            [[ -n $(running "$node") ]] || break
            sleep 0.1
        done
        [[ -z $(running "$node") ]] || kill -KILL "$number" 2>/dev/null || true
        # Until it has ended, it has the port.
        for ((attempts = 0; attempts < 600; attempts++)); do
            [[ -n $(running "$node") ]] || break
            sleep 0.1
        done
        [[ -z $(running "$node") ]] || stop "The node $node, process $number, does not end."
        rm -f -- "$node.pid"
    done
}

# MARK: - Users and roles

# On a busy computer an answer takes longer than the 2 s and 5 s that etcdctl waits otherwise.
etcdctl_at() { # addresses, arguments
    etcdctl --dial-timeout=60s --command-timeout=120s --endpoints "$1" --cacert ca.pem --cert admin.pem --key admin.key "${@:2}"
}

control() { etcdctl_at "$(joined client_url)" "$@"; }

# In a file, and never an argument, which other users of the computer would see.
make_password() {
    [[ ! -s $user.password ]] || return 0
    openssl rand -hex 24 | tr -d '\n' >password.part
    mv password.part "$user.password"
}

make_users() {
    # Root has no password, only the administrator's certificate.
    control user add root --no-password && control role add root && control user grant-role root root &&
        control user add "$user" --interactive=false <"$user.password" && control role add "$user" &&
        control role grant-permission --prefix=true "$user" readwrite "$prefix" && control user grant-role "$user" "$user" &&
        control auth enable
}

# MARK: - Commands

start() {
    choose_ports
    make_certificates
    make_password
    if [[ ! -e set-up ]]; then
        # An interrupted first start has left nobody's data.
        stop_nodes "${nodes[@]}"
        rm -rf -- data
    fi
    start_nodes
    if [[ ! -e set-up ]]; then
        make_users >users.log 2>&1 || stop "The users could not be made; see $folder/users.log"
        touch set-up
    fi
    echo "Three nodes are ready: $(joined client_url)"
}

options() { # machine
    [[ -e $1.pem ]] || stop "There is no machine '$1'. Make it: fleet.sh machine $folder $1"
    printf '%s' "--etcd $(joined client_url) --etcd-ca $(printf %q "$folder/ca.pem")"
    printf ' %s' "--etcd-cert $(printf %q "$folder/$1.pem") --etcd-key $(printf %q "$folder/$1.key")"
    printf ' %s\n' "--etcd-user $user --etcd-prefix $prefix --etcd-password-fd 3 3<$(printf %q "$folder/$user.password")"
}

save() { # file
    etcdctl_at "$(client_url "$(first_running)")" snapshot save "$1" >save.log 2>&1 ||
        stop "The snapshot was not saved; see $folder/save.log"
    echo "Saved: $1"
}

first_running() {
    local node
    for node in "${nodes[@]}"; do
        if [[ -n $(running "$node") ]]; then echo "$node"; return; fi
    done
    stop "No node is running. Start them: fleet.sh start $folder"
}

# Into new folders. The nodes go on with the old ones until all new ones are complete.
restore() { # file
    local node next program=etcdctl
    next=$(($(generation) + 1))
    # Newer versions restore with another program.
    if command -v etcdutl >/dev/null; then program=etcdutl; fi
    for node in "${nodes[@]}"; do
        rm -rf -- "data/$node-$next"
        "$program" snapshot restore "$1" --data-dir "data/$node-$next" --name "$node" --initial-cluster "$(joined named_peer)" \
            --initial-cluster-token "fleet-$next" --initial-advertise-peer-urls "$(peer_url "$node")" >restore.log 2>&1 ||
            stop "'$1' was not restored, and nothing was changed; see $folder/restore.log"
    done
    stop_nodes "${nodes[@]}"
    echo "$next" >generation.part
    mv generation.part generation
    start_nodes
    echo "Restored: $1. The earlier content is in $folder/data."
}

main() { # command, folder, arguments
    local command=$1
    if [[ $command == start ]]; then mkdir -p -- "$2"; fi
    folder=$(realpath -e -- "$2") || stop "There is no folder '$2'."
    # Paths in arguments are those of the caller.
    if [[ $command == save || $command == restore ]]; then set -- "$1" "$2" "$(realpath -- "$3")"; fi
    cd -- "$folder"
    [[ $command == start || -e set-up ]] || stop "'$folder' has no fleet. First: fleet.sh start $folder"
    if [[ $command != options && $command != etcdctl ]]; then
        exec 9>lock
        flock -n 9 || stop "Another fleet.sh works in '$folder'. Try again after it."
    fi
    case $command in
    start | save | restore | machine | options) "$command" "${@:3}" ;;
    stop) stop_nodes "${@:3}" ;;
    etcdctl) control "${@:3}" ;;
    esac
}

for program in etcd etcdctl openssl setsid flock; do
    command -v "$program" >/dev/null || stop "'$program' is not installed. On Debian: apt-get install etcd-server etcd-client openssl util-linux"
done
case ${1-}/$# in
start/2 | save/3 | restore/3 | machine/3 | options/3) main "$@" ;;
stop/2) main "$@" "${nodes[@]}" ;;
stop/3) [[ " ${nodes[*]} " == *" $3 "* ]] || usage; main "$@" ;;
etcdctl/*) (($# > 2)) || usage; main "$@" ;;
*) usage ;;
esac
