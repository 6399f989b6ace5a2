#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prepares the folder Wrappers for publication as a separate repository. Creates a branch with the folder's history and one more
# commit, in which the package depends on a release of swift-keychain instead of the parent folder. Nothing is pushed.
#
#   Scripts/split-wrappers.sh ADDRESS VERSION [BRANCH]
#
#   ADDRESS    the URL of the repository of swift-keychain
#   VERSION    the oldest release of swift-keychain that the wrappers work with; they also work with later releases of the
#              same minor version
#   BRANCH     the branch for the result (default: wrappers)

set -euo pipefail
# A failure in a command substitution must stop the script. Otherwise a package without a licence could be published.
shopt -s inherit_errexit
cd -- "$(dirname -- "$0")/.."

(($# == 2 || $# == 3)) || { echo "usage: $0 ADDRESS VERSION [BRANCH]" >&2; exit 64; }
readonly address=$1 version=$2 branch=${3:-wrappers}
# Both become part of a string in the manifest, where a quotation mark or a backslash would end or change it.
readonly url='^([a-z][a-z+]*://|[A-Za-z0-9._-]+@[A-Za-z0-9._-]+:)[][A-Za-z0-9._~:/?#@!$&()*+,;=%-]+$'
readonly number='(0|[1-9][0-9]{0,8})' label='[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*'
[[ $address =~ $url ]] || { echo "'$address' is not the URL of a repository, such as https://example.com/swift-keychain" >&2; exit 64; }
[[ $version =~ ^$number\.$number\.$number(-$label)?(\+$label)?$ ]] ||
    { echo "'$version' is not the version of a release, such as 0.1.0" >&2; exit 64; }
readonly local='.package(name: "swift-keychain", path: "..",'
# The wrappers import an SPI of swift-keychain (`@_spi(Wrappers)`). It stays the same in all releases of one minor version, and
# may change with the next one.
readonly released=".package(url: \"$address\", .upToNextMinor(from: \"$version\"),"

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

main() {
    if [[ $(git symbolic-ref --quiet --short HEAD) == "$branch" ]]; then
        echo "'$branch' is the current branch. Name another one." >&2
        exit 1
    fi
    local split tree result
    # It prints a count of commits to standard error.
    split=$(git subtree split --prefix=Wrappers HEAD 2>"$scratch/log") || { cat "$scratch/log" >&2; exit 1; }
    tree=$(tree_of "$split")
    result=$(git commit-tree "$tree" -p "$split" -m "Depend on swift-keychain $version")
    git update-ref "refs/heads/$branch" "$result"
    echo "The branch '$branch' contains the package. To publish it: git push ADDRESS $branch:main"
}

# The package as it is published: with the URL of swift-keychain, and the licence.
tree_of() {
    export GIT_INDEX_FILE="$scratch/index"
    git show "$1:Package.swift" >"$scratch/Package.swift"
    grep -qF -- "$local" "$scratch/Package.swift" || { echo "Wrappers/Package.swift does not contain: $local" >&2; exit 1; }
    python3 - "$scratch/Package.swift" "$local" "$released" <<'END'
import pathlib, sys
path, old, new = sys.argv[1:]
text = pathlib.Path(path).read_text(encoding="utf-8")
pathlib.Path(path).write_text(text.replace(old, new), encoding="utf-8")
END
    git read-tree "$1"
    git update-index --add --cacheinfo "100644,$(git hash-object -w "$scratch/Package.swift"),Package.swift"
    git update-index --add --cacheinfo "100644,$(git rev-parse HEAD:LICENSE),LICENSE"
    git write-tree
    unset GIT_INDEX_FILE
}

main
