// SPDX-License-Identifier: Apache-2.0
// SecPKCS12Import with files of the `openssl` program: what comes back, what is stored, and what is refused.

import Foundation
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("PKCS#12 import", .enabled(if: OpenSSLProgram.path != nil, OpenSSLProgram.isMissing))
struct PKCS12ImportTests {
    private static var right: Entries { ["passphrase": "pw"] }

    /// A file of a key, its certificate and that of its issuer, with the passphrase `pw`.
    private func file(_ options: String = "-passout pass:pw") throws -> (file: Data, certificate: Data) {
        let openssl = try OpenSSLProgram()
        let new = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        try openssl("req -x509 \(new) -keyout ca.key -out ca.pem -subj /CN=Root")
        try openssl("req \(new) -keyout leaf.key -out leaf.csr -subj /CN=Leaf")
        try openssl("x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -set_serial 7 -out leaf.pem")
        try openssl("x509 -in leaf.pem -outform DER -out leaf.der")
        try openssl("pkcs12 -export -inkey leaf.key -in leaf.pem -certfile ca.pem -name n \(options) -out file.p12")
        return (try openssl.read("file.p12"), try openssl.read("leaf.der"))
    }

    /// What the call returns. Chains are not completed by the keychain of the user who runs the tests.
    private func imported(_ file: Data, _ options: Entries = right) throws -> (status: OSStatus, items: [Entries]?) {
        var items: NSArray?
        let status = try StoreKind.memory.services().importPKCS12(file, options as NSDictionary, &items)
        return (status, items as? [Entries])
    }

    @Test("K89", arguments: ["", " -legacy", " -keypbe NONE -certpbe NONE"])
    func file_withAKeyAndItsChain_isOneIdentity(options: String) throws {
        let (file, certificate) = try file("-passout pass:pw" + options)
        let (status, items) = try imported(file)
        #expect(status == errSecSuccess && items?.count == 1)
        let item = try #require(items?.first)
        let identity = try #require(item["identity"] as? SecIdentity)
        let chain = try #require(item["chain"] as? [SecCertificate])
        #expect(chain.map { SecCertificateCopySubjectSummary($0) as String? } == ["Leaf", "Root"])
        #expect(SecCertificateCopyData(chain[0]) as Data == certificate)
        #expect(item["label"] as? String == "Leaf" && (item["keyid"] as? Data)?.count == 20)
        var key: SecKey?
        #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess)
        let publicKey = try #require(SecCertificateCopyKey(chain[0]))
        #expect(try SecKeyCopyPublicKey(#require(key)) == publicKey)
    }

    @Test("K91", arguments: [["passphrase": "no"], [:]])
    func file_withoutItsPassphrase_failsAuthentication(options: [String: String]) throws {
        var items: CFArray? = ["left"] as CFArray
        let file = try file().file
        #expect(SecPKCS12Import(file as CFData, options as CFDictionary, &items) == errSecAuthFailed)
        #expect(items as? [String] == ["left"])
    }

    @Test func passphrase_thatIsNoText_isRefused() throws {
        #expect(try imported(file().file, ["passphrase": Data("pw".utf8)]).status == errSecParam)
    }

    @Test(arguments: [[:], ["passphrase": ""]])
    func file_withAnEmptyPassphrase_isReadWithNone(options: [String: String]) throws {
        #expect(try imported(file("-passout pass:").file, options).items?.count == 1)
    }

    @Test("K92") func data_thatIsNoWholeFile_isNotDecoded() throws {
        let whole = try file().file
        for data in [Data(repeating: 0x5B, count: 100), whole.prefix(whole.count / 2), Data()] {
            #expect(try imported(data).status == errSecDecode)
        }
        #expect(try imported(file("-passout pass:pw -nomac").file).status == errSecDecode)
    }

    @Test("K94") func file_ofCertificatesAlone_isOneChain() throws {
        let items = try #require(try imported(file("-passout pass:pw -nokeys").file).items)
        #expect(items.count == 1 && items[0]["identity"] == nil)
        #expect((items[0]["chain"] as? [SecCertificate])?.count == 2)
    }

    @Test("K97", arguments: StoreKind.allCases)
    func objects_areStoredOnlyOnRequest(kind: StoreKind) throws {
        let services = try kind.services()
        let file = try file().file
        var items: NSArray?
        #expect(services.importPKCS12(file, Self.right as NSDictionary, &items) == errSecSuccess)
        let inMemory = Self.right.adding(["nleg": true, kSecImportToMemoryOnly as String: true])
        #expect(services.importPKCS12(file, inMemory as NSDictionary, &items) == errSecSuccess && items?.count == 1)
        #expect(services.count(keys()) == 0 && services.count(cert()) == 0)
        let storing = Self.right.adding(["nleg": true, "pdmn": "ak", kSecImportToMemoryOnly as String: false])
        for _ in 1...2 { #expect(services.importPKCS12(file, storing as NSDictionary, &items) == errSecSuccess) }
        #expect(services.count(keys(["kcls": "1"])) == 1 && services.count(cert()) == 2)
        #expect(services.count(keys(["pdmn": "ak"])) == 1 && services.count(cert(["pdmn": "ak"])) == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func objects_thatCannotBeStored_areReturnedWithTheStatus(kind: StoreKind) throws {
        let services = try kind.services()
        var items: NSArray?
        let storing = Self.right.adding(["nleg": true, "pdmn": "no class"])
        #expect(services.importPKCS12(try file().file, storing as NSDictionary, &items) == errSecParam)
        #expect(items?.count == 1 && services.count(keys()) == 0)
    }
}
