// SPDX-License-Identifier: Apache-2.0
// The keys of a session's head, and its examination.

import KeychainCrypto

extension Session {
    /// The keys of the head; available once the index is open.
    ///
    /// - Throws: `locked`.
    func headKeys() throws -> HeadKeys {
        if let keys = knownHead.keys { return keys }
        return try keyState.sealer(.looking).keys.head
    }
}

extension HeadExamination {
    /// - Parameter seen: Read before the transaction began.
    init(_ session: Session, _ connection: Connection, _ seen: SeenAnchors, _ extent: Extent) throws {
        let keys = try session.headKeys()
        try self.init(connection, keys, authentic: session.keyState.authentic, anchor: seen.newest(keys), extent)
    }
}
