// SPDX-License-Identifier: Apache-2.0
// The digests under which an item's primary key is indexed.

import Foundation

/// The digests of an item's primary key. The first two also find items by one of these attributes, or by both
/// regardless of the rest.
struct KeyDigests: Hashable {
    /// The digest of the service, the server, the issuer or the application label.
    var major: Data
    /// The digest of the account, the serial number or the application tag.
    var minor: Data
    /// The digest of the rest of the key: access group, synchronizable, port…
    var scope: Data
}
