// SPDX-License-Identifier: Apache-2.0
// Types of lower modules that are part of this module's API. The other types of these modules are not exported.

@_exported public import struct KeychainEngine.AccessControl
@_exported public import struct KeychainEngine.AccessGroups
@_exported public import enum KeychainEngine.Accessibility
@_exported public import class KeychainEngine.AuthenticationContext
@_exported public import enum KeychainEngine.ItemClass
@_exported public import protocol KeychainEngine.ItemStore
@_exported public import struct KeychainEngine.KeychainError
@_exported public import enum KeychainEngine.LockState
@_exported public import class KeychainEngine.MemoryStore
@_exported public import class SecretMemory.SecretBytes
