// SPDX-License-Identifier: Apache-2.0
// The version of the package.

/// What `keychainctl --version` prints. Scripts/check-docs.py checks that CHANGELOG.md and the documents say the same.
let packageVersion = "0.1.0"
