// SPDX-License-Identifier: Apache-2.0
// Identities of which a certificate is damaged.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

struct DamagedIdentityTests {
    private static let hash = Data(repeating: 7, count: 20)
    private static let key = Query(
        .key, [.keyClass: .number(1), .isPrivate: .number(1), .applicationLabel: .data(hash)])

    private static func certificate(_ serial: UInt8) -> Query {
        Query(
            .certificate,
            [
                .issuer: .data(Data("issuer".utf8)), .serialNumber: .data(Data([serial])), .publicKeyHash: .data(hash),
                .label: .string("\(serial)"),
            ])
    }

    /// A key with two certificates, of which the second one does not open.
    private static func vault() throws -> TestVault {
        let test = try TestVault()
        for var item in [key, certificate(1), certificate(2)] {
            item.value = Data("bytes".utf8)
            try test.engine.add(item)
        }
        let database = try Connection(test.databaseFile)
        try database.execute("UPDATE item SET metadata = zeroblob(200) WHERE id = (SELECT max(id) FROM item)")
        return test
    }

    @Test func key_ofACertificateThatIsDamaged_isNotRemovedWithAnotherOne() throws {
        let test = try Self.vault()
        var identity = Query(nil, [.label: .string("1")])
        identity.isForIdentities = true
        #expect(reason { try test.engine.delete(identity) } == .corrupt)
        #expect(try test.engine.text(Self.key) == "bytes")
        #expect(try test.engine.text(Self.certificate(1)) == "bytes")
    }
}
