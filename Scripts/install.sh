#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs keychainctl for `make install`, and removes it again.
#
#   Scripts/install.sh release      builds the tool as it is installed, in .build, with Swift's libraries inside
#   Scripts/install.sh install      the tool, links to it, man pages, completions, systemd user units
#   Scripts/install.sh uninstall    removes what `install` has put there
#
#   PREFIX           where: /usr/local unless given; an absolute path
#   DESTDIR          a folder in front of PREFIX, for packages
#   TOOL             an already built keychainctl; without it, the tool is built
#   WITH_SECURITY    1: also a link with the name of the macOS tool, `security`. Other packages may use that name.
#   REPLACE          1: replace files that this script did not install
#
# PREFIX/share/keychainctl/manifest lists what was installed, with digests. `install` changes no other file, and `uninstall`
# leaves files that were changed since. A running tool is not disturbed: each file is renamed to its name when it is complete.

set -euo pipefail
umask 022
cd -- "$(dirname -- "$0")/.."

readonly links=(git-credential-keychain docker-credential-keychain keychain-askpass)
readonly tab=$'\t'
prefix=${PREFIX:-/usr/local}
root=${DESTDIR-}
scratch=$(mktemp -d)
pending=
trap 'rm -rf -- "$scratch"; [[ -z $pending ]] || rm -f -- "$pending"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

stop() {
    printf '%s\n' "$@" >&2
    exit 1
}

# MARK: - The tool

release() {
    command -v swift >/dev/null || stop "'swift' is not on the PATH. Install Swift, or give a built tool with TOOL=."
    swift build --configuration release --static-swift-stdlib --product keychainctl
}

built_tool() {
    echo ".build/release/keychainctl"
}

find_tool() {
    if [[ -n ${TOOL-} ]]; then
        tool=$TOOL
    elif ((EUID == 0)) && [[ ${SUDO_UID:-0} != 0 ]]; then
        # A build as root would leave files in .build that the user could not change.
        tool=$(built_tool)
        [[ -x $tool ]] || stop "There is no built tool. First, without sudo: make release"
    else
        release
        tool=$(built_tool)
    fi
    [[ -f $tool && -x $tool ]] || stop "'$tool' is not a program."
    tool=$(realpath -- "$tool")
}

# MARK: - What is installed

# Makes all files below $scratch/files, as they will be below PREFIX.
make_files() {
    local files=$scratch/files name
    mkdir -p "$files"/{bin,share/doc/keychainctl}
    install -m 755 -- "$tool" "$files/bin/keychainctl"
    if command -v strip >/dev/null; then strip -- "$files/bin/keychainctl"; fi
    for name in "${links[@]}"; do ln -s keychainctl "$files/bin/$name"; done
    if [[ ${WITH_SECURITY-} == 1 ]]; then ln -s keychainctl "$files/bin/security"; fi
    make_pages "$files/share/man/man1"
    make_completions "$files/share"
    make_units "$files/$(unit_folder)"
    install -m 644 LICENSE "$files/share/doc/keychainctl/LICENSE"
    find "$files" -type f ! -path "$files/bin/*" -exec chmod 644 {} +
}

make_pages() { # folder
    command -v python3 >/dev/null || stop "Python 3 is required for the man pages. On Debian: apt-get install python3"
    Scripts/man-pages.py "$tool" "$1" >/dev/null
}

make_completions() { # share
    local zsh=${ZSH_FOLDER:-zsh/site-functions}
    mkdir -p "$1/bash-completion/completions" "$1/$zsh" "$1/fish/vendor_completions.d"
    # It is read by bash, and never started.
    completion bash | sed '1{/^#!/d}' >"$1/bash-completion/completions/keychainctl"
    completion zsh >"$1/$zsh/_keychainctl"
    completion fish >"$1/fish/vendor_completions.d/keychainctl.fish"
}

completion() { # shell
    "$tool" --generate-completion-script "$1" || stop "The completions for $1 could not be made."
}

# systemd also searches ~/.local/share, but not ~/.local/lib.
unit_folder() {
    case $prefix in
    /usr | /usr/local) echo lib/systemd/user ;;
    *) echo share/systemd/user ;;
    esac
}

make_units() { # folder
    local unit
    mkdir -p "$1"
    for unit in Packaging/systemd/*; do
        # The characters that sed or systemd would interpret are not allowed in PREFIX.
        sed "s|@BINDIR@|$prefix/bin|" "$unit" >"$1/$(basename -- "$unit" .in)"
    done
}

# MARK: - The manifest

# One entry each line: `file`, its digest, its path; `link`, its target, its path; `folder`, `-`, its path. Paths have no DESTDIR.
manifest() { printf '%s' "$root$prefix/share/keychainctl/manifest"; }

list_files() {
    local path target
    while IFS= read -r -d '' path; do
        target=$scratch/files/$path
        if [[ -L $target ]]; then
            printf 'link\t%s\t%s\n' "$(readlink -- "$target")" "$prefix/$path"
        else
            printf 'file\t%s\t%s\n' "$(digest "$target")" "$prefix/$path"
        fi
    done < <(cd "$scratch/files" && find . ! -type d -printf '%P\0' | sort -z)
}

digest() { sha256sum <"$1" | cut -d ' ' -f 1; }

# The folders that do not exist yet, from top to bottom.
list_missing_folders() {
    local folder
    while IFS= read -r folder; do
        while [[ ! -d $root$folder && $folder == /*/* || ! -d $root$folder && $folder == /?* ]]; do
            printf 'folder\t-\t%s\n' "$folder"
            folder=${folder%/*}
        done
    done < <({ cut -f 3 "$scratch/new"; echo "$prefix/share/keychainctl/manifest"; } | sed 's|/[^/]*$||' | sort -u) | sort -u
}

# The manifest is a file that others may have changed: nothing outside of PREFIX is removed because of it.
read_manifest() {
    local kind detail path
    : >"$scratch/old"
    [[ -e $(manifest) ]] || return 0
    [[ ! -L $(manifest) ]] || stop "'$(manifest)' is a link. Nothing was changed."
    while IFS=$tab read -r kind detail path; do
        [[ $kind =~ ^(file|link|folder)$ && -n $detail && $path == /* && $path != */../* && $path != */.. ]] &&
            [[ $path == "$prefix"/* || $kind == folder && "$prefix/" == "$path"/* ]] ||
            stop "'$(manifest)' is damaged, or was written for another PREFIX. Nothing was changed."
        printf '%s\t%s\t%s\n' "$kind" "$detail" "$path"
    done <"$(manifest)" >"$scratch/old"
}

# Whether a path is as an entry of the old manifest says.
is_ours() { # path
    local kind detail
    # A link in the place of a folder would lead out of PREFIX.
    [[ $(realpath -m -- "$root${1%/*}")/ == "$(realpath -m -- "$root$prefix")"/* ]] || return 1
    while IFS=$tab read -r kind detail _; do
        case $kind in
        link) [[ -L $root$1 && $(readlink -- "$root$1") == "$detail" ]] && return 0 ;;
        file) [[ ! -L $root$1 && -f $root$1 && $(digest "$root$1") == "$detail" ]] && return 0 ;;
        esac
    done < <(awk -F '\t' -v path="$1" '$1 != "folder" && $3 == path' "$scratch/old")
    return 1
}

# MARK: - install

install_all() {
    check_places
    find_tool
    make_files
    list_files >"$scratch/new"
    lock
    read_manifest
    check_conflicts
    check_permissions
    list_missing_folders >"$scratch/folders"
    make_folders
    # First, so that an interrupted installation can be removed.
    write_manifest "$scratch/old" "$scratch/folders" "$scratch/new"
    remove_unfinished "$scratch/old" "$scratch/new"
    place_files
    remove_outdated
    write_manifest <(grep '^folder' "$scratch/old" || true) "$scratch/folders" "$scratch/new"
    echo "Installed keychainctl in $root$prefix."
    advise
}

check_places() {
    [[ $prefix == /* ]] || stop "PREFIX must be an absolute path."
    [[ -z $root || $root == /* ]] || root=$PWD/$root
    prefix=${prefix%"${prefix##*[!/]}"}
    root=${root%"${root##*[!/]}"}
    [[ -n $prefix ]] || stop "PREFIX cannot be the root folder. Give another one, such as /usr."
    [[ $prefix != *[\\\"\$%\|\&[:cntrl:]]* && $root != *[[:cntrl:]]* ]] ||
        stop 'PREFIX must not contain control characters or one of \ " $ % | &, which systemd would interpret.'
    [[ $prefix/ != */../* && $prefix/ != */./* && $prefix != *//* ]] || stop "PREFIX must not contain '..', '.' or '//'."
}

# Two at once would mix their manifests. Locks the deepest folder that exists for this installation alone, and those above it
# against another one that begins there because it finds less of PREFIX. The locks end with this process.
lock() {
    local folder=$root$prefix kind=--exclusive descriptor
    command -v flock >/dev/null || return 0
    while [[ ! -d $folder ]]; do folder=$(dirname -- "$folder"); done
    while true; do
        if [[ -r $folder ]]; then
            exec {descriptor}<"$folder"
            flock -n "$kind" "$descriptor" ||
                stop "Another installation in or around '$folder' is running. Try again after it."
        fi
        [[ $folder != / ]] || break
        folder=$(dirname -- "$folder")
        kind=--shared
    done
}

check_conflicts() {
    local path conflicts=()
    while IFS=$tab read -r _ _ path; do
        [[ -e $root$path || -L $root$path ]] || continue
        if [[ -d $root$path && ! -L $root$path ]]; then stop "'$root$path' is a folder. Nothing was changed."; fi
        is_ours "$path" || conflicts+=("  $root$path")
    done <"$scratch/new"
    if ((${#conflicts[@]} > 0)) && [[ ${REPLACE-} != 1 ]]; then
        stop "These files exist and are not as 'make install' has left them. Nothing was changed." "${conflicts[@]}" \
            "To replace them, add REPLACE=1."
    fi
}

check_permissions() {
    local folder
    while IFS= read -r folder; do
        while [[ ! -e $folder ]]; do folder=$(dirname -- "$folder"); done
        [[ -d $folder && -w $folder && -x $folder ]] ||
            stop "'$folder' cannot be written. Nothing was changed." \
                "Use sudo, or install for yourself alone: make install PREFIX=\"\$HOME/.local\""
    done < <({ cut -f 3 "$scratch/new"; echo "$prefix/share/keychainctl/manifest"; } |
        while IFS= read -r folder; do dirname -- "$root$folder"; done | sort -u)
}

make_folders() {
    local path
    while IFS=$tab read -r _ _ path; do mkdir -p -- "$root$path"; done <"$scratch/folders"
}

write_manifest() { # lists
    cat -- "$@" | sort -u >"$scratch/manifest"
    place "$scratch/manifest" "$(manifest)"
}

place_files() {
    local path
    while IFS=$tab read -r _ _ path; do place "$scratch/files/${path#"$prefix"/}" "$root$path"; done <"$scratch/new"
}

# The copy is complete and on the disk before it gets the name.
place() { # source, path
    pending="${2%/*}/.${2##*/}.new.$$"
    if [[ -L $1 ]]; then
        ln -s -- "$(readlink -- "$1")" "$pending"
    else
        cp --preserve=mode -- "$1" "$pending"
        sync -- "$pending"
    fi
    mv -fT -- "$pending" "$2"
    pending=
}

# What an installation that was killed has left: copies without their final name. No other one is running, because of the lock.
remove_unfinished() { # lists
    local path
    while IFS= read -r path; do
        rm -f -- "$root${path%/*}/.${path##*/}.new."[0-9]*
    done < <({ cat -- "$@" | grep -v '^folder' | cut -f 3; echo "$prefix/share/keychainctl/manifest"; } | sort -u)
}

# What an earlier version has installed, and this one has not.
remove_outdated() {
    local path
    while IFS= read -r path; do
        if is_ours "$path"; then rm -f -- "$root$path"; fi
    done < <(comm -23 <(grep -v '^folder' "$scratch/old" | cut -f 3 | sort -u) <(cut -f 3 "$scratch/new" | sort -u))
}

advise() {
    [[ -z $root ]] || return 0
    [[ :$PATH: == *":$prefix/bin:"* ]] || echo "'$prefix/bin' is not on your PATH. Add it in the profile of your shell."
}

# MARK: - uninstall

uninstall_all() {
    check_places
    [[ -e $(manifest) ]] || stop "'make install' has installed nothing in '$root$prefix': there is no '$(manifest)'."
    lock
    read_manifest
    check_removable
    local path left=0
    while IFS= read -r path; do
        if is_ours "$path"; then
            rm -f -- "$root$path"
        elif [[ -e $root$path || -L $root$path ]]; then
            echo "Left, because it was changed: $root$path" >&2
            left=1
        fi
    done < <(grep -v '^folder' "$scratch/old" | cut -f 3 | sort -u)
    remove_unfinished "$scratch/old"
    rm -f -- "$(manifest)"
    # From bottom to top. Folders with other files stay.
    while IFS= read -r path; do
        rmdir --ignore-fail-on-non-empty -- "$root$path" 2>/dev/null || true
    done < <(grep '^folder' "$scratch/old" | cut -f 3 | sort -ru)
    ((left == 0)) && echo "Removed keychainctl from $root$prefix. Vaults are not touched." ||
        echo "Removed keychainctl from $root$prefix, except for the files above. Vaults are not touched."
}

check_removable() {
    local folder
    while IFS= read -r folder; do
        [[ ! -d $folder || -w $folder && -x $folder ]] ||
            stop "'$folder' cannot be written. Nothing was removed. Use sudo, as for 'make install'."
    done < <({ grep -v '^folder' "$scratch/old" | cut -f 3; echo "$prefix/share/keychainctl/manifest"; } |
        while IFS= read -r folder; do dirname -- "$root$folder"; done | sort -u)
}

case ${1-} in
release) release ;;
install) install_all ;;
uninstall) uninstall_all ;;
*)
    echo "usage: Scripts/install.sh release|install|uninstall" >&2
    exit 64
    ;;
esac
