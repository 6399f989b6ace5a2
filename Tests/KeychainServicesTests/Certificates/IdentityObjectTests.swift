// SPDX-License-Identifier: Apache-2.0
// Identity objects: what makes one, and what it tells.

import Foundation
import KeychainServices
import Testing

@Suite("Identities: objects")
struct IdentityObjectTests {
    private func identity() throws -> SecIdentity {
        try #require(SecIdentityCreate(nil, TestCertificate.object(), TestKey.p256.privateKey()))
    }

    @Test func identity_ofAKeyAndItsCertificate_hasBoth() throws {
        var (certificate, key): (SecCertificate?, SecKey?) = (nil, nil)
        #expect(SecIdentityCopyCertificate(try identity(), &certificate) == errSecSuccess)
        #expect(SecIdentityCopyPrivateKey(try identity(), &key) == errSecSuccess)
        #expect(try certificate == TestCertificate.object() && key == TestKey.p256.privateKey())
    }

    @Test func identity_ofAnotherKeyOrAPublicOne_isNone() throws {
        let certificate = try TestCertificate.object()
        #expect(SecIdentityCreate(nil, certificate, try TestKey.p384.privateKey()) == nil)
        #expect(SecIdentityCreate(nil, certificate, try TestKey.p256.publicKey()) == nil)
    }

    @Test func identities_ofTheSameParts_areEqualAndDescribedByTheirName() throws {
        let (one, other) = (try identity(), try identity())
        #expect(one == other && one.hash == other.hash && CFEqual(one, other))
        #expect("\(one)" == "<SecIdentity: Leaf One>" && Mirror(reflecting: one).children.isEmpty)
    }

    @Test func typeNumber_ofAnIdentity_isItsOwn() throws {
        let object: AnyObject = try identity()
        #expect(CFGetTypeID(object) == SecIdentityGetTypeID())
        #expect(![SecKeyGetTypeID(), SecCertificateGetTypeID()].contains(SecIdentityGetTypeID()))
        #expect(object as? SecCertificate == nil && object as? SecIdentity != nil)
    }
}
