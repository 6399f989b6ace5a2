// SPDX-License-Identifier: Apache-2.0
// Searches for certificates by what is in them, and by their issuers.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import KeychainTesting
import Testing

@Suite("Certificates: searches")
struct CertificateSearchTests {
    /// Three certificates, of which `Middle` issued `Leaf Two`, and an item that is none.
    private func services(_ kind: StoreKind) throws -> Services {
        let services = try kind.services()
        services.add(["v_Ref": try TestIdentity.first.certificate()])
        services.add(["v_Ref": try TestIdentity.renewed.certificate()])
        services.add(["v_Ref": try TestIdentity.middle()])
        services.add(cert(["labl": "none", "slnr": Data([9]), "v_Data": secret]))
        return services
    }

    private static let (leaf, two, middle) = ("Leaf One", "Leaf Two", "Middle")
    private static var all: Set<String> { [leaf, two, middle] }
    private static let wholeName = Data([0x30, 0x35]) + TestCertificate.name
    private static let summer = Date(timeIntervalSince1970: 1_717_200_000)

    static let criteria: [Row<Set<String>>] = [
        Row("issuer", ["m_Issuers": [TestIdentity.middleName]], [two]),
        Row("content of a name", ["m_Issuers": [TestIdentity.middleName.dropFirst(2)]], [two]),
        Row("issuer of an issuer", ["m_Issuers": [TestIdentity.rootName]], [middle, two]),
        Row("itself", ["m_Issuers": [Data([1]), wholeName]], [leaf]),
        Row("no issuers", ["m_Issuers": [Data]()], []), Row("valid now", ["m_ValidOnDate": NSNull()], all),
        Row("valid then", ["m_ValidOnDate": summer], [leaf, middle]),
        Row("not yet valid", ["m_ValidOnDate": Date(timeIntervalSince1970: 0)], []),
        Row("no longer valid", ["m_ValidOnDate": Date(timeIntervalSince1970: 1e10)], []),
        Row("not a number", ["m_ValidOnDate": Date(timeIntervalSinceReferenceDate: .nan)], []),
        Row("address", ["m_EmailAddressIfPresent": "A@LEAF.example"], [leaf]),
        Row("other address", ["m_EmailAddressIfPresent": "c@leaf.example"], []),
        Row("two criteria", ["m_Issuers": [TestIdentity.rootName], "m_ValidOnDate": summer], [middle]),
        Row("with an attribute", ["m_Issuers": [TestIdentity.rootName], "labl": two], [two]),
        Row("other group", ["m_ValidOnDate": NSNull(), "agrp": "test2"], []),
        Row("trusted or not", ["m_TrustedOnly": false], all.union(["none"])),
        Row("list", ["m_ItemList": [Data()]], all.union(["none"])),
        Row("subject", ["m_SubjectContains": "x", "m_CaseInsensitive": true], all.union(["none"])),
    ]

    @Test("C118", arguments: StoreKind.allCases)
    func certificates_areFoundByTheCriteriaThatTheyFulfil(kind: StoreKind) throws {
        let services = try services(kind)
        for row in Self.criteria {
            let query = cert(row.entries.adding(["r_Attributes": true, "m_Limit": "m_LimitAll"]))
            let found = services.find(query)
            #expect(found.status == (row.expected.isEmpty ? errSecItemNotFound : errSecSuccess), "\(row.name)")
            let items = found.dictionaries ?? []
            #expect(Set(items.compactMap { $0["labl"] as? String }) == row.expected, "\(row.name)")
            #expect(items.allSatisfy { $0["v_Data"] == nil }, "\(row.name)")
        }
    }

    static let refused: [Row<OSStatus>] = [
        Row("issuers", ["m_Issuers": "x"], errSecParam), Row("date", ["m_ValidOnDate": "x"], errSecParam),
        Row("trusted", ["m_TrustedOnly": 1], errSecParam), Row("policy", ["m_Policy": "x"], errSecParam),
        Row("address", ["m_EmailAddressIfPresent": 1], errSecParam),
        Row("host", ["m_HostOrSubdomainOfHost": "x"], errSecUnimplemented),
    ]

    @Test(arguments: StoreKind.allCases)
    func criterion_forCertificates_isCheckedForItsType(kind: StoreKind) throws {
        let services = try services(kind)
        for row in Self.refused {
            #expect(services.find(cert(row.entries)).status == row.expected, "\(row.name)")
        }
    }

    /// The limit counts certificates that fulfil the criteria, whatever comes before them.
    @Test(arguments: StoreKind.allCases)
    func limit_ofASearch_countsWhatFulfilsTheCriteria(kind: StoreKind) throws {
        let services = try services(kind)
        for (address, identity) in [("a@leaf.example", TestIdentity.first), ("b@leaf.example", .renewed)] {
            let query = cert(["m_EmailAddressIfPresent": address, "r_Ref": true])
            #expect(services.find(query).object as? SecCertificate == (try identity.certificate()))
        }
        let valid = cert(["m_ValidOnDate": NSNull(), "r_Data": true])
        #expect(services.find(valid.adding(["m_Limit": 2])).dataList?.count == 2)
        #expect(services.find(valid.adding(["m_Limit": 9])).dataList?.count == 3)
        #expect(services.find(valid.adding(["m_Limit": 0])).status == errSecItemNotFound)
    }

    @Test(arguments: StoreKind.allCases)
    func reference_ofACertificate_findsItOnlyIfItFulfilsTheCriterion(kind: StoreKind) throws {
        let services = try services(kind)
        let reference = try #require(services.find(cert(["labl": Self.two, "r_PersistentRef": true])).data)
        let query: Entries = ["v_PersistentRef": reference]
        #expect(services.find(query.adding(["m_ValidOnDate": NSNull()])).status == errSecSuccess)
        #expect(services.find(query.adding(["m_ValidOnDate": Self.summer])).status == errSecItemNotFound)
    }

    /// As for passwords: what a search cannot open is not missing.
    @Test(arguments: StoreKind.allCases)
    func certificateThatAsksForTheUser_isAskedForOnlyIfItMayFulfilTheCriteria(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        let control = try protected(.userPresence).without("class")
        let added = keychain.services.add(control.adding(["v_Ref": try TestIdentity.renewed.certificate()]))
        try #require(added.status == errSecSuccess)
        let other = cert(["m_Issuers": [TestIdentity.rootName], "r_Ref": true])
        #expect(keychain.services.find(other).status == errSecItemNotFound)
        #expect(keychain.questions.isEmpty)
        let query = cert(["m_Issuers": [TestIdentity.middleName], "m_ValidOnDate": NSNull(), "r_Ref": true])
        let refused = keychain.services.find(query.adding(["u_AuthUI": "u_AuthUIF"]))
        #expect(refused.status == errSecInteractionNotAllowed)
        #expect(keychain.services.find(query.adding(["u_AuthUI": "u_AuthUIS"])).status == errSecItemNotFound)
        #expect(keychain.services.find(query).object as? SecCertificate == (try TestIdentity.renewed.certificate()))
        #expect(keychain.questions.count == 1)
    }

    /// Each certificate may have been issued by each other one.
    @Test(arguments: StoreKind.allCases)
    func issuers_ofManyCertificates_areSearchedOncePerSubject(kind: StoreKind) throws {
        let store = ScriptedStore(over: try kind.empty())
        let services = Services(engine: Engine(store: store), accessGroups: AccessGroups(["test"]))
        let name = TestCertificate.name
        for number in 1...4 as ClosedRange<UInt8> {
            let label = Data(repeating: number, count: 20)
            let names: Entries = ["subj": name, "issr": name, "slnr": Data([number]), "v_Data": secret]
            try #require(services.add(cert(names.adding(["pkhh": label]))).status == errSecSuccess)
            let key = keys(["klbl": label, "kcls": 1, "priv": 1, "type": 73, "v_Data": secret])
            try #require(services.add(key).status == errSecSuccess)
        }
        // The certificates, and those of the subject; for identities the keys, the certificates of each, and the same.
        for (query, count) in [(cert(), 2), (idnt(), 6)] {
            store.reset()
            let all = query.adding(["m_Issuers": [TestIdentity.rootName], "m_Limit": "m_LimitAll"])
            #expect(services.find(all).status == errSecItemNotFound)
            #expect(store.calls.filter { $0.kind == .select }.count == count)
        }
        let own = cert(["m_Issuers": [Self.wholeName], "m_Limit": "m_LimitAll", "r_Attributes": true])
        #expect(services.find(own).dictionaries?.count == 4)
    }

    /// Otherwise all certificates would be observed.
    @Test(arguments: StoreKind.allCases)
    func changes_byTheContentOfCertificates_areNotObserved(kind: StoreKind) throws {
        let services = try services(kind)
        var query = Query(.certificate)
        query.matchCriteria = [.certificate(.issuers([TestIdentity.middleName]))]
        let failure = #expect(throws: KeychainError.self) {
            try services.engine.differences([query], from: [:], accessGroups: services.accessGroups)
        }
        #expect(failure?.reason == .unsupported)
    }

    /// A program of the typed interface that judges nothing.
    @Test(arguments: StoreKind.allCases)
    func criterion_thatTheProgramCannotDecide_isUnimplemented(kind: StoreKind) throws {
        let services = try services(kind)
        services.add(["v_Ref": try TestKey.p256.privateKey()])
        let criteria: [Query.CertificateCriterion] = [
            .policy, .trustedOnly, .validOnDate(nil), .emailAddress("a@leaf.example"),
        ]
        for criterion in criteria {
            for isForIdentities in [false, true] {
                var query = Query(isForIdentities ? nil : .certificate)
                query.isForIdentities = isForIdentities
                query.matchCriteria = [.certificate(criterion)]
                let failure = #expect(throws: KeychainError.self, "\(criterion)") {
                    try services.engine.copyMatching(query, accessGroups: services.accessGroups)
                }
                #expect(failure?.reason == .unsupported, "\(criterion)")
            }
        }
    }
}
