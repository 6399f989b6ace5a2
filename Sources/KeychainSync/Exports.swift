// SPDX-License-Identifier: Apache-2.0
// Types of lower modules that are part of this module's API. KeychainKit exports them too.

@_exported public import enum KeychainEngine.ItemClass
@_exported public import struct KeychainEngine.KeychainError
@_exported public import class SecretMemory.SecretBytes
