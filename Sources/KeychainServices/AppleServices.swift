// SPDX-License-Identifier: Apache-2.0
// KeychainServices on Apple platforms: Apple provides Keychain Services, so the module contains only the names.

#if !os(Linux)
    @_exported public import LocalAuthentication
    @_exported public import Security
#endif
