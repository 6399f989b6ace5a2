#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the tests; arguments go to `swift test`.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

# Tests make vaults of their own. Should one ever forget to, it must not meet the user's.
export KEYCHAIN_VAULT="$scratch/vault" KEYCHAIN_DEVICE_KEY="$scratch/config/device.key"
# The same goes for their settings.
export XDG_CONFIG_HOME="$scratch/settings"

python="$PWD/.build/test-venv/bin/python"
if [[ -x $python ]]; then export KEYCHAIN_TEST_PYTHON="$python"; fi

# All builds of the project itself have all traits on: another choice compiles every module anew. check-readme.sh has it off.
swift build --enable-all-traits --build-tests
swift test --enable-all-traits --skip-build "$@"
