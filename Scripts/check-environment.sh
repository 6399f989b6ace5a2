#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The environment is read in one place, which heeds none of it in a setuid program. Ends with 1 if another place reads it,
# or calls what does so by itself.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

readonly reading='processInfo\.environment|getenv|(^|[^_[:alnum:]])environ([^_[:alnum:]]|$)|keychain_environment'
readonly implied='NSHomeDirectory|homeDirectory|NSTemporaryDirectory|temporaryDirectory|\.urls\(for:|UserDefaults(\(|\.standard)'
readonly place='^Sources/(SecretMemory/ProcessEnvironment\.swift|CKeychainShims/(Processes\.c|include/CKeychainShims\.h)):'
# Asks first whether it may.
readonly guarded='^Sources/Wrappers/LGTVControl/Storage/AppGroupManager\.swift:.*isPrivileged'

if grep -rnE --include='*.swift' --include='*.c' --include='*.h' "$reading|$implied" Sources |
    grep -vE "^[^:]*:[0-9]+: *//" | grep -vE "$place|$guarded"; then
    echo "These read the environment themselves. Use ProcessEnvironment (Sources/SecretMemory)." >&2
    exit 1
fi
echo "The environment is read in one place."
