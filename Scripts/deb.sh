#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Debian package of keychainctl for this distribution and architecture: .build/keychainctl_VERSION_ARCHITECTURE.deb
#
#   TOOL                     an already built keychainctl with Swift's libraries inside; without it, the tool is built
#   DEBFULLNAME, DEBEMAIL    the maintainer of the package; those of git unless given
#
# dpkg-deb compresses as this distribution does, or as DPKG_DEB_COMPRESSOR_TYPE says. Needs no root. It prints the path of the package on standard output, and nothing else.

set -euo pipefail
umask 022
cd -- "$(dirname -- "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
readonly package=$scratch/package

stop() {
    printf '%s\n' "$@" >&2
    exit 1
}

main() {
    local program
    for program in dpkg-deb dpkg-shlibdeps; do
        command -v "$program" >/dev/null || stop "'$program' is required: apt-get install dpkg-dev"
    done
    version=$(sed -n 's/^let packageVersion = "\(.*\)"$/\1/p' Sources/keychainctl/Version.swift)-1
    architecture=$(dpkg --print-architecture)
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory="$PWD" log -1 --format=%ct 2>/dev/null || date +%s)}
    export SOURCE_DATE_EPOCH
    maintainer="${DEBFULLNAME:-$(git config user.name || true)} <${DEBEMAIL:-$(git config user.email || true)}>"
    [[ $maintainer == ?*' <'?*@?*'>' ]] || stop "Who maintains the package is not known. Set DEBFULLNAME and DEBEMAIL."

    PREFIX=/usr DESTDIR=$package WITH_SECURITY= ZSH_FOLDER=zsh/vendor-completions Scripts/install.sh install >&2
    follow_policy
    local depends
    depends=$(dependencies)
    mkdir -p "$package/DEBIAN"
    control "$depends" >"$package/DEBIAN/control"
    digests >"$package/DEBIAN/md5sums"
    local result=.build/keychainctl_${version}_$architecture.deb
    mkdir -p .build
    dpkg-deb --root-owner-group --build "$package" "$scratch/new.deb" >&2
    mv -fT -- "$scratch/new.deb" "$result"
    echo "$result"
}

# What differs from `make install`.
follow_policy() {
    local doc=$package/usr/share/doc/keychainctl page
    # dpkg has a list of its own.
    rm -r -- "$package/usr/share/keychainctl"
    rm -- "$doc/LICENSE"
    install -m 644 Packaging/debian/copyright "$doc/copyright"
    gzip -9n <CHANGELOG.md >"$doc/changelog.gz"
    changelog | gzip -9n >"$doc/changelog.Debian.gz"
    # Debian's name for a page that is another page is a link.
    for page in "$package"/usr/share/man/man1/*.1; do
        if [[ $(head -n 1 "$page") == .so\ man1/* ]]; then
            ln -s -- "$(sed -n '1s|^.so man1/||p' "$page").gz" "$page.gz"
            rm -- "$page"
        else
            gzip -9n -- "$page"
        fi
    done
    mkdir -p "$package/usr/share/lintian/overrides"
    overrides >"$package/usr/share/lintian/overrides/keychainctl"
}

changelog() {
    printf 'keychainctl (%s) unstable; urgency=medium\n\n  * Built from the sources. The changes are in changelog.gz.\n\n -- %s  %s\n' \
        "$version" "$maintainer" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")"
}

overrides() {
    echo '# The package is made outside of Debian, so no bug of Debian asked for it.'
    echo 'keychainctl: initial-upload-closes-no-bugs'
    echo "# Swift's static libraries, of which it is a part, have no shared form in Debian."
    echo 'keychainctl: embedded-library'
}

# dpkg-shlibdeps computes them from the symbols that the program uses.
dependencies() {
    mkdir -p "$scratch/source/debian"
    printf 'Source: keychainctl\n\nPackage: keychainctl\nArchitecture: any\n' >"$scratch/source/debian/control"
    local line
    line=$(cd "$scratch/source" && dpkg-shlibdeps -O -e"$package/usr/bin/keychainctl" 2>"$scratch/words") ||
        stop "$(cat "$scratch/words")" "The dependencies of the program are not known." \
            "Does it contain Swift's libraries? Build it with: make release"
    printf '%s\n' "${line#shlibs:Depends=}"
}

control() { # dependencies
    cat <<END
Package: keychainctl
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -k -s --apparent-size --exclude=DEBIAN "$package" | cut -f 1)
Depends: $1
Recommends: libsystemd0
Suggests: pinentry-curses | pinentry, bash-completion
Section: utils
Priority: optional
Description: store passwords and other secrets in an encrypted keychain
 keychainctl keeps secrets of a user in an encrypted vault that all programs
 of the user share, without a daemon. The vault opens with a device key, a
 passphrase, a recovery key, a key file or a systemd credential.
 .
 git, docker and ssh can use it, and services of systemd get their
 credentials from it.
END
}

digests() { (cd "$package" && find usr -type f -print0 | sort -z | xargs -0 md5sum); }

main
