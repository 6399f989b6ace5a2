// SPDX-License-Identifier: Apache-2.0
// Key, certificate and PKCS#12 functions with values of any type: an answer, and never a trap.

import Foundation
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Keys: odd input")
struct OddKeyInputTests {
    private var values: [Any] { OddInputTests.values + [NSNumber(value: true), 256.0, "256", 73] }

    private static let attributes = [
        "type", "bsiz", "kcls", "perm", "tkid", "private", "public", "labl", "atag", "agrp", "accc", "pdmn", "sync",
        "klbl", "extr", "v_Data", "v_Ref", "class", "u_AuthCtx", "",
    ]

    @Test func generation_withEveryOddValue_isAnswered() throws {
        let services = try StoreKind.memory.services()
        let key: Entries = ["type": "73", "bsiz": 256, "perm": true]
        for name in Self.attributes {
            for value in values {
                for entries in [[name: value], ["private": [name: value]], ["public": [name: value]]] as [Entries] {
                    let parameters = key.adding(entries) as NSDictionary
                    let status = attempt { services.createRandomKey(parameters, $0) }.status
                    let expected = OddInputTests.statuses.union([errSecInteractionNotAllowed])
                    #expect(expected.contains(status), "\(name) \(value)")
                }
            }
        }
    }

    @Test func import_withEveryOddValue_isAnswered() {
        for name in Self.attributes {
            for value in values {
                let attributes = (["type": "73", "kcls": "1"] as Entries).adding([name: value]) as CFDictionary
                let bytes = TestKey.p256.bytes as CFData
                let status = attempt { SecKeyCreateWithData(bytes, attributes, $0) }.status
                #expect([errSecSuccess, errSecParam, errSecUnimplemented].contains(status), "\(name) \(value)")
            }
        }
    }

    @Test(arguments: ["requestedSize", "sharedInfo"])
    func exchange_withEveryOddValue_isAnswered(name: String) throws {
        let (own, peer) = (try TestKey.p256.privateKey(), try TestKey.p256.publicKey())
        for value in values {
            let parameters = (["requestedSize": 16] as Entries).adding([name: value]) as CFDictionary
            let result = attempt {
                SecKeyCopyKeyExchangeResult(own, .ecdhKeyExchangeStandardX963SHA256, peer, parameters, $0) as Data?
            }
            #expect([errSecSuccess, errSecParam].contains(result.status), "\(value)")
        }
    }

    @Test func exchange_ofNoBytes_isEmpty() throws {
        let (own, peer) = (try TestKey.p256.privateKey(), try TestKey.p256.publicKey())
        let parameters = ["requestedSize": 0] as CFDictionary
        let result = attempt {
            SecKeyCopyKeyExchangeResult(own, .ecdhKeyExchangeStandardX963SHA256, peer, parameters, $0) as Data?
        }
        #expect(result.value == Data())
    }

    static let names = [
        "passphrase", "memory", "keychain", "access", "nleg", "agrp", "labl", "pdmn", "accc", "sync", "class",
        "r_Data", "r_Ref", "v_Data", "v_Ref", "zzzz", "m_Limit", "u_AuthUI", "",
    ]

    @Test func pkcs12_withEveryOddOption_isAnswered() throws {
        for name in Self.names {
            for value in values {
                var items: NSArray?
                let options = (["passphrase": "pw", "nleg": true] as Entries).adding([name: value]) as NSDictionary
                let status = try StoreKind.memory.services().importPKCS12(UnusualPKCS12Tests.pair, options, &items)
                let expected = OddInputTests.statuses.union([errSecAuthFailed, errSecInteractionNotAllowed])
                #expect(expected.contains(status), "\(name) \(value)")
            }
        }
    }

    @Test func passphrase_thatIsNoUnicode_isWrong() throws {
        var items: NSArray?
        let half = NSString(characters: [0xD800], length: 1)
        let status = try StoreKind.memory.services()
            .importPKCS12(UnusualPKCS12Tests.pair, ["passphrase": half] as NSDictionary, &items)
        #expect(status == errSecAuthFailed && items == nil)
    }

    @Test(arguments: ["keys", "cert", "idnt"])
    func everyKey_besideAnObject_isAnswered(itemClass: String) throws {
        let object: NSObject =
            switch itemClass {
            case "keys": try TestKey.p256.privateKey()
            case "cert": try TestCertificate.object()
            default: try TestIdentity.first.object()
            }
        let services = try StoreKind.memory.services()
        for name in Set(OddInputTests.names) {
            for value in values {
                for call in Call.allCases {
                    for entries in [["v_Ref": object], ["class": itemClass]] as [Entries] {
                        let status = call.status(services, entries.adding([name: value]))
                        let expected = OddInputTests.statuses.union([-26276])
                        #expect(expected.contains(status), "\(call) \(name) \(value)")
                    }
                }
            }
        }
    }

    /// The caller may change the bytes that it has given.
    @Test func bytes_changedAfterACall_changeNoObject() throws {
        let (der, bytes) = (NSMutableData(data: TestCertificate.der), NSMutableData(data: TestKey.p256.bytes))
        let certificate = try #require(SecCertificateCreateWithData(nil, der))
        let attributes = ["type": "73", "kcls": "1"] as CFDictionary
        let key = try #require(SecKeyCreateWithData(bytes, attributes, nil))
        let publicBytes = NSMutableData(data: try TestKey.p256.publicBytes())
        let half = try #require(SecKeyCreateWithData(publicBytes, ["type": "73", "kcls": "0"] as CFDictionary, nil))
        for data in [der, bytes, publicBytes] { data.resetBytes(in: NSRange(location: 0, length: data.length)) }
        #expect(SecCertificateCopyData(certificate) as Data == TestCertificate.der)
        #expect(try exported(key) == TestKey.p256.bytes && exported(half) == TestKey.p256.publicBytes())
    }

    @Test func changesOfAResult_changeNoObject() throws {
        let certificate = try TestCertificate.object()
        var copy = SecCertificateCopyData(certificate) as Data
        copy[0] ^= 1
        #expect(SecCertificateCopyData(certificate) as Data == TestCertificate.der)
    }
}
