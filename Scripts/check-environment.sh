#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Only one place reads the environment, because a setuid program must ignore it. Exits with 1 if another place reads the
# environment, or calls a function that reads it.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

readonly reading='processInfo\.environment|getenv|(^|[^_[:alnum:]])environ([^_[:alnum:]]|$)|keychain_environment'
readonly implied='NSHomeDirectory|homeDirectory|NSTemporaryDirectory|temporaryDirectory|\.urls\(for:|UserDefaults(\(|\.standard)'
readonly place='^Sources/(SecretMemory/ProcessEnvironment\.swift|CKeychainShims/(Processes\.c|include/CKeychainShims\.h)):'
# This code checks first whether the program is privileged.
readonly guarded='^Wrappers/Sources/LGTVControl/Storage/AppGroupManager\.swift:.*isPrivileged'

if grep -rnE --include='*.swift' --include='*.c' --include='*.h' "$reading|$implied" Sources Wrappers/Sources |
    grep -vE "^[^:]*:[0-9]+: *//" | grep -vE "$place|$guarded"; then
    echo "These lines read the environment directly. Use ProcessEnvironment (Sources/SecretMemory) instead." >&2
    exit 1
fi
echo "Only one place reads the environment."
