// SPDX-License-Identifier: Apache-2.0
// The classes of items that are stored.

/// A class of stored items; its raw value is the text of Apple's `kSecClass…` constant.
///
/// Identities have no case: on Apple's platforms too they are a join of a key and a certificate, not a stored class.
public enum ItemClass: String, Sendable, CaseIterable {
    case genericPassword = "genp"
    case internetPassword = "inet"
    case certificate = "cert"
    case key = "keys"

    /// The attribute rules of this class.
    public var schema: Schema { Schema.of(self) }
}
