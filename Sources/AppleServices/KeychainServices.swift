// SPDX-License-Identifier: Apache-2.0
// KeychainServices where Apple ships the real thing: nothing of ours, only its names.

@_exported public import LocalAuthentication
@_exported public import Security
