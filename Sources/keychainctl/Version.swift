// SPDX-License-Identifier: Apache-2.0
// The version of the package.

/// The output of `keychainctl --version`. Scripts/check-docs.py checks that CHANGELOG.md and the documents name the
/// same version.
let packageVersion = "0.1.0"
