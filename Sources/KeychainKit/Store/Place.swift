// SPDX-License-Identifier: Apache-2.0
// The service or server of a store.

import KeychainEngine

/// A service or a server: the part of an item's name that comes before the account.
enum Place: Hashable, Sendable {
    case service(String)
    case server(SecretStore.Server)

    var itemClass: ItemClass {
        switch self {
        case .service: .genericPassword
        case .server: .internetPassword
        }
    }

    /// The complete name, so that it matches exactly one place.
    var attributes: Attributes {
        switch self {
        case .service(let name): [.service: .string(name)]
        case .server(let server): server.attributes
        }
    }
}
