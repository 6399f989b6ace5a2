// SPDX-License-Identifier: Apache-2.0
// The types of the modules below that callers of this one meet; everything else of those stays out of their way.

@_exported public import struct KeychainEngine.AccessControl
@_exported public import enum KeychainEngine.Accessibility
@_exported public import class KeychainEngine.AuthenticationContext
@_exported public import struct KeychainEngine.Caller
@_exported public import enum KeychainEngine.ItemClass
@_exported public import protocol KeychainEngine.ItemStore
@_exported public import struct KeychainEngine.KeychainError
@_exported public import enum KeychainEngine.LockState
@_exported public import class KeychainEngine.MemoryStore
@_exported public import class SecretMemory.SecretBytes
