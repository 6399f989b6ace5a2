#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries `make install`, `make uninstall` and `make deb`: the tool without the toolchain, man pages, completions, systemd units, and
# that nothing remains.
#
#   TOOL    an already built keychainctl; without it, the tool is built
#
# What this machine cannot try is skipped, with the reason. As root, the package is installed and removed again, and systemd's user
# manager runs in namespaces of its own.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

scratch=$(mktemp -d)
package_is_installed=
trap 'clean_up' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# Spaces, because paths may contain them.
readonly dest="$scratch/dest folder" prefix="/usr/local/with space"
readonly there="$dest$prefix"

main() {
    if [[ -z ${TOOL-} ]]; then
        Scripts/install.sh release
        TOOL=.build/release/keychainctl
    fi
    export TOOL
    local part
    for part in install_again_and_refusals tool_without_toolchain pages completions tasks credentials uninstall package dockerfile; do
        echo "== ${part//_/ }"
        "$part"
    done
    echo "The installation works."
}

clean_up() {
    [[ -z $package_is_installed ]] || dpkg --purge keychainctl >/dev/null || echo "The package keychainctl is still installed." >&2
    rm -rf -- "$scratch"
}

fail() {
    printf 'Failed: %s\n' "$*" >&2
    exit 1
}

skip() { printf 'skipped: %s\n' "$*"; }

have() { command -v "$1" >/dev/null 2>&1; }

into_dest() { PREFIX=$prefix DESTDIR=$dest Scripts/install.sh "$@"; }

dockerfile() {
    local lint=.build/test-venv/bin/hadolint
    [[ -x $lint ]] || { skip "hadolint is not installed; see Scripts/setup.sh"; return; }
    "$lint" Dockerfile || fail "the Dockerfile"
}

# MARK: - Installing

install_again_and_refusals() {
    mkdir -p "$dest/usr/local/share"
    echo other >"$dest/usr/local/share/file"
    into_dest install
    # Again, as an upgrade: everything is its own, and a link that is no longer wanted is removed.
    WITH_SECURITY=1 into_dest install >/dev/null
    [[ $(readlink "$there/bin/security") == keychainctl ]] || fail "the link of WITH_SECURITY=1"
    into_dest install >/dev/null
    [[ -x $there/bin/keychainctl && -L $there/bin/git-credential-keychain && ! -e $there/bin/security ]] || fail "the programs"
    [[ -z $(find "$dest" -name '.*.new.*') ]] || fail "temporary files remain"
    killed_installation_can_be_removed
    foreign_file_is_kept
    unwritable_prefix_is_refused
}

# A `mv` that kills the script at the fourth file, before it is renamed.
killed_installation_can_be_removed() {
    local cut=$scratch/cut bin=$scratch/killing
    mkdir "$cut" "$bin"
    cat >"$bin/mv" <<END
#!/bin/sh
echo >>"$scratch/moves"
[ "\$(wc -l <"$scratch/moves")" -lt 5 ] || { kill -9 "\$PPID"; exit 1; }
exec /bin/mv "\$@"
END
    chmod 755 "$bin/mv"
    if PATH=$bin:$PATH DESTDIR=$cut Scripts/install.sh install >/dev/null 2>&1; then fail "the installation was not killed"; fi
    [[ -n $(find "$cut" -name '.*.new.*') ]] || fail "the killed installation left no copy"
    DESTDIR=$cut Scripts/install.sh uninstall >/dev/null
    [[ -z $(ls -A "$cut") ]] || fail "remaining after a killed installation: $(find "$cut")"
}

foreign_file_is_kept() {
    local foreign=$scratch/foreign
    mkdir -p "$foreign/usr/local/bin"
    echo mine >"$foreign/usr/local/bin/keychainctl"
    if DESTDIR=$foreign Scripts/install.sh install >/dev/null 2>&1; then fail "a foreign file was replaced"; fi
    [[ $(find "$foreign" -type f -exec cat {} +) == mine ]] || fail "a refused installation changed something"
}

unwritable_prefix_is_refused() {
    local closed=$scratch/closed
    mkdir -m 555 "$closed"
    if ((EUID == 0)); then
        skip "root can write everywhere, so that a folder that cannot be written is not tried"
    elif PREFIX=$closed/usr Scripts/install.sh install >/dev/null 2>"$scratch/words"; then
        fail "it was installed into a closed folder"
    else
        grep -q 'cannot be written' "$scratch/words" || fail "the reason is missing: $(cat "$scratch/words")"
    fi
}

# MARK: - What was installed

# In an empty environment, with a vault of its own.
installed() { # home, command
    env -i HOME="$1" PATH=/usr/bin:/bin LANG=C.UTF-8 KEYCHAIN_ANCHORS=file "${@:2}"
}

tool_without_toolchain() {
    if readelf -d "$there/bin/keychainctl" 2>/dev/null | grep -q 'NEEDED.*libswiftCore'; then
        skip "TOOL needs Swift's libraries; the tool that make install builds contains them"
        is_static=
    else
        is_static=1
    fi
    local toolchain hidden=()
    if [[ -n $is_static ]] && have swift && unshare -rm true 2>/dev/null; then
        toolchain=$(dirname -- "$(dirname -- "$(dirname -- "$(readlink -f -- "$(command -v swift)")")")")
        # An empty folder in place of the toolchain, for this run alone. A toolchain in / cannot be hidden.
        [[ $toolchain == / ]] || hidden=(unshare -rm sh -ec 'mount -t tmpfs none "$0"; exec "$@"' "$toolchain")
    fi
    ((${#hidden[@]} > 0)) || echo "The toolchain is not hidden."
    mkdir -p "$scratch/home"
    printf %s 'correct horse' | installed "$scratch/home" "${hidden[@]}" "$there/bin/keychainctl" set -s example.com -a alice
    [[ $(installed "$scratch/home" "${hidden[@]}" "$there/bin/keychainctl" get -s example.com -a alice) == 'correct horse' ]] ||
        fail "the value is not what was stored"
    [[ $(installed "$scratch/home" "$there/bin/git-credential-keychain" --version) ]] || fail "a link does not start the tool"
}

pages() {
    local page count=0
    [[ -f $there/share/man/man1/keychainctl-set.1 ]] || fail "there is no page for 'set'"
    for page in "$there"/share/man/man1/*.1; do
        count=$((count + 1))
        if have man; then
            # It looks for the target of a link below the current folder.
            (cd "$there/share/man" && man --warnings -E UTF-8 -l -Tutf8 "$page") >"$scratch/page" 2>"$scratch/words" ||
                fail "$page: $(cat "$scratch/words")"
            [[ ! -s $scratch/words ]] || fail "$page: $(cat "$scratch/words")"
        fi
    done
    have man || skip "man is not installed: the pages are not rendered"
    if have mandoc; then
        (cd "$there/share/man" && mandoc -Tlint -W warning man1/*.1) || fail "mandoc finds fault with the pages"
    else
        skip "mandoc is not installed"
    fi
    echo "$count pages."
}

completions() {
    local share=$there/share
    bash -euc '. "$1"; complete -p keychainctl >/dev/null' - "$share/bash-completion/completions/keychainctl" || fail "bash"
    complete_in_bash
    if have zsh; then
        zsh -fc 'fpath=("$1" $fpath); autoload -Uz compinit; compinit -u -D; [[ ${_comps[keychainctl]} == _keychainctl ]] &&
            autoload +X _keychainctl' - "$share/zsh/site-functions" || fail "zsh"
    else
        skip "zsh is not installed"
    fi
    if have fish; then
        local words
        words=$(HOME=$scratch/home PATH="$there/bin:$PATH" fish --no-config -c 'source $argv[1]; complete -C "keychainctl quar"' \
            "$share/fish/vendor_completions.d/keychainctl.fish")
        [[ $words == quarantine* ]] || fail "fish completes 'quar' as: $words"
    else
        skip "fish is not installed"
    fi
    local shell
    for shell in zsh fish; do
        have "$shell" || continue
        have python3 || { skip "python3 is not installed: $shell is not given a terminal to complete on"; continue; }
        values_are_completed "$shell"
    done
}

# The words of options, and names from a vault with two services.
values_are_completed() { # shell
    local home=$scratch/$1.home
    mkdir "$home"
    printf %s v | installed "$home" "$there/bin/keychainctl" set -s one -a alice
    printf %s v | installed "$home" "$there/bin/keychainctl" set -s 'two words' -a bob
    offers "$1" 'protect add ' $'credential\ndevice-key\nkey-file\npassphrase\nrecovery-key\ntpm2'
    offers "$1" 'set --accessibility after' $'after-first-unlock\nafter-first-unlock-this-device-only'
    offers "$1" 'get -s ' $'one\ntwo words'
    offers "$1" 'get --service ' $'one\ntwo words'
    offers "$1" 'get -s one -a ' alice
    offers "$1" 'get -a ' $'alice\nbob'
}

offers() { # shell, the end of the command line, the words to be offered, sorted
    local words status=0
    rm -f "$scratch/offered"
    # Without the variables of the user, whose vault it would read.
    env -i LINE="keychainctl $2" OFFERED="$scratch/offered" SHARE="$there/share" HOME="$scratch/$1.home" PATH="$there/bin:$PATH" \
        KEYCHAIN_ANCHORS=file TERM=dumb LANG=C.UTF-8 timeout 600 python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
        bash -c "$("complete_in_$1")" </dev/null >"$scratch/words" 2>&1 || status=$?
    words=$(cut -f 1 "$scratch/offered" 2>/dev/null | sort -u) || status=$?
    [[ $status == 0 && $words == "$3" ]] || fail "$1 completes '$2' as: $words ($(cat "$scratch/words"))"
}

# A completion hands the words that match to `compadd`.
complete_in_zsh() {
    cat <<'END'
cat >"$HOME/.zshrc" <<'RC'
fpath=("$SHARE/zsh/site-functions" $fpath); autoload -Uz compinit; compinit -u -D
compadd() {
    local -a found
    (( ${@[(I)-[OAD]*]} )) || { builtin compadd -O found "$@"; (( ! $#found )) || print -rl -- $found >>$OFFERED; }
    builtin compadd "$@"
}
zle-line-init() { BUFFER=$LINE CURSOR=$#LINE; zle complete-word; exit 0; }
zle -N zle-line-init
RC
ZDOTDIR=$HOME exec zsh -d -i
END
}

# At its prompt: elsewhere fish does not let the completion see the cursor.
complete_in_fish() {
    cat <<'END'
exec fish --no-config -i -C '
    source "$SHARE/fish/vendor_completions.d/keychainctl.fish"
    function fish_prompt; complete -C "$LINE" >"$OFFERED"; exec true; end'
END
}

# As bash calls the function for `keychainctl quar<Tab>`.
complete_in_bash() {
    local words
    words=$(PATH="$there/bin:$PATH" bash -c '
        . "$1"
        COMP_LINE="keychainctl quar" COMP_POINT=16 COMP_WORDS=(keychainctl quar) COMP_CWORD=1 COMP_TYPE=9
        "$(complete -p keychainctl | sed "s/.*-F \([^ ]*\).*/\1/")" keychainctl quar keychainctl
        printf "%s\n" "${COMPREPLY[@]}"' - "$there/share/bash-completion/completions/keychainctl")
    [[ ${words%% } == quarantine ]] || fail "bash completes 'quar' as: $words"
}

# The commands of Docs/Tasks.md that use a throw-away vault, each block in an empty folder.
tasks() {
    local block count=0
    awk -v folder="$scratch" '/^```/ { inside = !inside && $0 == "```sh"; if (inside) file = folder "/task-" ++n; next }
        inside { print >file }' Docs/Tasks.md
    for block in "$scratch"/task-*; do
        count=$((count + 1))
        mkdir "$block.home"
        (cd "$block.home" && env -i HOME="$block.home" PATH="$there/bin:/usr/bin:/bin" bash -euo pipefail "$block") \
            >"$scratch/words" 2>&1 || fail "block $count of Docs/Tasks.md: $(cat "$scratch/words")"
        [[ -z $(ls -A "$block.home") ]] || fail "block $count of Docs/Tasks.md leaves: $(ls -A "$block.home")"
    done
    echo "$count blocks of Docs/Tasks.md."
}

# MARK: - systemd

# The installed units, with systemd's user manager. It needs to be root, because it mounts the credentials.
credentials() {
    local units=$there/share/systemd/user
    grep -q "^ExecStart=\"$prefix/bin/keychainctl\" credential-server\$" "$units/swift-keychain-credentials@.service" ||
        fail "the path in the unit"
    if ((EUID != 0)) || [[ ! -x /lib/systemd/systemd ]] || ! unshare -mp --fork --mount-proc true 2>/dev/null; then
        skip "the units are tried only as root, with systemd installed, where namespaces are allowed"
        return
    fi
    local home=$scratch/manager
    mkdir -p "$home/.config/systemd/user" && mkdir -m 700 "$home/run"
    sed "s|\"$prefix|\"$there|" "$units/swift-keychain-credentials@.service" \
        >"$home/.config/systemd/user/swift-keychain-credentials@.service"
    cp "$units/swift-keychain-credentials.socket" "$home/.config/systemd/user"
    service "$home" web.service
    service "$home" other.service
    printf %s 's3cret' | installed "$home" "$there/bin/keychainctl" set -s web.service -a db-password
    local group=/sys/fs/cgroup/systemd/init.scope had_group=
    [[ ! -d $group ]] || had_group=1
    HOME=$home XDG_RUNTIME_DIR=$home/run KEYCHAIN_ANCHORS=file timeout 900 \
        unshare --mount --propagation private --pid --fork --kill-child --mount-proc bash -c "$(user_manager); run" \
        >"$home/words" 2>&1 || { cat "$home/words"; fail "the user manager"; }
    # The manager leaves its own, empty group.
    [[ -n $had_group || ! -d $group ]] || rmdir "$group"
    [[ $(cat "$home/words") == $'web: 0\nother: refused' ]] || fail "the services: $(cat "$home/words")"
    [[ $(cat "$home/web.service.out") == 's3cret' && ! -e $home/other.service.out ]] || fail "the credential of a service"
}

service() { # home, name
    cat >"$1/.config/systemd/user/$2" <<END
[Service]
Type=oneshot
LoadCredential=db-password:%t/swift-keychain/credentials.sock
ExecStart=cp "%d/db-password" "%h/$2.out"
END
}

# systemd refuses to run where it has not booted; the folder that says so is in this mount namespace alone.
user_manager() {
    cat <<'END'
run() {
    mount --make-rshared /
    mkdir -p /run/systemd && mount -t tmpfs none /run/systemd && mkdir /run/systemd/system
    /lib/systemd/systemd --user >"$HOME/manager" 2>&1 &
    local end=$((SECONDS + 600))
    until systemctl --user start swift-keychain-credentials.socket 2>"$HOME/reason"; do
        ((SECONDS < end)) || { cat "$HOME/reason"; return 1; }
        sleep 0.2
    done
    systemctl --user start web.service 2>/dev/null
    echo "web: $?"
    if systemctl --user start other.service 2>/dev/null; then echo 'other: started'; else echo 'other: refused'; fi
}
END
}

# MARK: - Removing

uninstall() {
    echo changed >>"$there/share/doc/keychainctl/LICENSE"
    into_dest uninstall >/dev/null 2>"$scratch/words"
    grep -q 'LICENSE' "$scratch/words" || fail "the changed file is not named"
    [[ $(find "$there" ! -type d) == "$there/share/doc/keychainctl/LICENSE" ]] || fail "remaining: $(find "$there" ! -type d)"
    if into_dest uninstall 2>/dev/null; then fail "a second uninstall succeeded"; fi
    rm -r -- "$there"
    into_dest install >/dev/null
    into_dest uninstall >/dev/null
    [[ $(cd "$dest" && find . | sort | tr '\n' ' ') == './usr ./usr/local ./usr/local/share ./usr/local/share/file ' ]] ||
        [[ $(cd "$dest" && find . | sort | tr '\n' ' ') == '. ./usr ./usr/local ./usr/local/share ./usr/local/share/file ' ]] ||
        fail "remaining: $(find "$dest")"
}

package() {
    have dpkg-deb && have dpkg-shlibdeps || { skip "dpkg-dev is not installed"; return; }
    [[ -n $is_static ]] || { skip "the package needs a tool that contains Swift's libraries"; return; }
    local package before
    # Compressed quickly: it is deleted afterwards.
    package=$(DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1 DEBFULLNAME='A Test' DEBEMAIL=test@example.org Scripts/deb.sh \
        2>"$scratch/words") || fail "$(cat "$scratch/words")"
    dpkg-deb -f "$package" Depends | grep -q 'libc6 (>= .*libsqlite3-0' || fail "the dependencies"
    if have lintian; then
        lintian --allow-root --fail-on error "$package" || skip "lintian finds the errors above"
    else
        skip "lintian is not installed"
    fi
    ((EUID == 0)) || { skip "only root can install the package"; return; }
    if dpkg-query -W -f '${Status}' keychainctl 2>/dev/null | grep -q installed; then
        skip "a package keychainctl is already installed"
        return
    fi
    before=$(find /usr/bin /usr/share/man/man1 /usr/lib/systemd/user -name '*keychain*' | sort)
    package_is_installed=1
    dpkg --install "$package" >/dev/null 2>"$scratch/words" || fail "$(cat "$scratch/words")"
    (cd / && dpkg --verify keychainctl) || fail "dpkg --verify"
    [[ $(installed "$scratch/home" /usr/bin/keychainctl get -s example.com -a alice) == 'correct horse' ]] || fail "the installed tool"
    [[ -z $(dpkg -L keychainctl | grep -v '^/\(\.\|usr\)') ]] || fail "the package has files outside of /usr"
    dpkg --purge keychainctl >/dev/null
    package_is_installed=
    [[ $(find /usr/bin /usr/share/man/man1 /usr/lib/systemd/user -name '*keychain*' | sort) == "$before" ]] ||
        fail "the removed package has left files"
    echo "$(basename -- "$package"): $(du -h "$package" | cut -f 1)"
}

main
