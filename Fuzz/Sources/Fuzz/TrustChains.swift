// SPDX-License-Identifier: Apache-2.0
// Certificates whose trust is evaluated.

import Foundation
import KeychainServices
import SecretMemory

@testable import KeychainKeys
@testable import KeychainTrust

enum TrustChains {
    private static let longestChain = 16

    /// The first byte says whether the certificates are those of the input, or are signed here with extensions of the input:
    /// no change of bytes leaves a signature right.
    static func chain(_ bytes: Data) {
        var input = FuzzInput(bytes)
        let choices = input.byte()
        let host = choices & 2 == 0 ? nil : input.text()
        let chain = choices & 1 == 0 ? given(&input) : signed(&input)
        guard let leaf = chain.first else { return }
        let anchors = chain.count > 1 || choices & 4 == 0 ? Array(chain.suffix(1)) : []
        judge(chain, anchors, host)
        exceptions(input.rest, leaf)
    }

    /// Each certificate has its length in two bytes in front.
    private static func given(_ input: inout FuzzInput) -> [SecCertificate] {
        var chain: [SecCertificate] = []
        while !input.isEmpty, chain.count < 32 {
            if let certificate = SecCertificateCreateWithData(nil, NSData(data: input.block())) {
                chain.append(certificate)
            }
        }
        return chain
    }

    // MARK: - The verdict

    private static func judge(_ chain: [SecCertificate], _ anchors: [SecCertificate], _ host: String?) {
        let (trust, other) = (trust(chain, anchors, host), trust(chain, anchors, host))
        var error: CFError?
        let isTrusted = SecTrustEvaluateWithError(trust, &error)
        require(isTrusted == (error == nil), "an error says why")
        require(SecTrustEvaluateWithError(other, nil) == isTrusted, "a verdict is always the same")
        let found = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
        require(found.first == chain[0] && found.count <= longestChain, "a chain begins with the leaf, and ends")
        require(!isTrusted || found.last.map(anchors.contains) == true, "only a chain to an anchor is trusted")
        guard let exceptions = SecTrustCopyExceptions(trust) else { fatalError("a verdict has exceptions") }
        require(SecTrustSetExceptions(trust, exceptions), "exceptions are read again")
        _ = SecTrustEvaluateWithError(trust, nil)
    }

    /// In the middle of the time of the certificates that are signed here.
    private static let date = Date(timeIntervalSince1970: 1_800_000_000)

    private static func trust(_ chain: [SecCertificate], _ anchors: [SecCertificate], _ host: String?) -> SecTrust {
        let policy = host.map { SecPolicyCreateSSL(true, NSString(string: $0)) } ?? SecPolicyCreateBasicX509()
        var trust: SecTrust?
        let status = SecTrustCreateWithCertificates(NSArray(array: chain), policy, &trust)
        guard status == errSecSuccess, let trust else { fatalError("certificates have a trust object") }
        _ = SecTrustSetAnchorCertificates(trust, NSArray(array: anchors))
        _ = SecTrustSetAnchorCertificatesOnly(trust, true)
        _ = SecTrustSetVerifyDate(trust, NSDate(timeIntervalSince1970: date.timeIntervalSince1970))
        return trust
    }

    private static func exceptions(_ bytes: Data, _ leaf: SecCertificate) {
        let trust = trust([leaf], [], nil)
        for bytes in [bytes, Data("bplist00".utf8) + bytes] {
            let isRead = SecTrustSetExceptions(trust, NSData(data: bytes))
            require(isRead || !SecTrustEvaluateWithError(trust, nil), "what cannot be read excuses nothing")
        }
    }

    // MARK: - Certificates that are signed here

    /// The same in each run, so that an input always means the same certificates.
    private static let keys = (1...3).map { number in
        let scalar = SecretBytes(count: 32) { $0.initializeMemory(as: UInt8.self, repeating: UInt8(number)) }
        guard let key = try? PrivateKey(.p256, scalar: SecretSlice(scalar)) else { fatalError("a key is made") }
        return key
    }
    private static let names = ["leaf.example", "issuer", "root"]

    /// A leaf, its issuer and a root, whose names and keys fit.
    private static func signed(_ input: inout FuzzInput) -> [SecCertificate] {
        (0..<3).compactMap { index in
            let content = content(index, &input)
            guard
                let signature = try? keys[min(index + 1, 2)].loaded().sign(
                    Data(content.encoded), .ecdsaSignature(.message(.sha256), .der))
            else { fatalError("a certificate is signed") }
            let der = DERNode.sequence(content, algorithm, .bits([UInt8](signature))).encoded
            // An extension may be one that no certificate has.
            return SecCertificateCreateWithData(nil, NSData(data: Data(der)))
        }
    }

    private static func content(_ index: Int, _ input: inout FuzzInput) -> DERNode {
        .sequence(
            .context(0, .integer(2)), .integer(index + 1), algorithm, name(names[min(index + 1, 2)]),
            .sequence(time("240101000000Z"), time("491231235959Z")), name(names[index]),
            .bytes([UInt8](keys[index].publicKey.subjectPublicKeyInfo)),
            .context(3, .element(DERTag.sequence, extensions(&input))))
    }

    private static func name(_ text: String) -> DERNode {
        .sequence(.set(.sequence(.oid(.commonName), .element(0x0C, [.bytes(Array(text.utf8))]))))
    }

    private static func time(_ text: String) -> DERNode { .element(0x17, [.bytes(Array(text.utf8))]) }

    /// ecdsa-with-SHA256
    private static var algorithm: DERNode {
        .sequence(.bytes([0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]))
    }

    /// The last numbers of the extensions' identifiers, and what they usually are.
    private static let usual: [(number: UInt8, content: [UInt8])] = [
        // Basic constraints: an authority
        (19, [0x30, 0x03, 0x01, 0x01, 0xFF]),
        // Key usage: signs certificates
        (15, [0x03, 0x02, 0x02, 0x04]),
        // Alternative names: leaf.example
        (17, [0x30, 0x0E, 0x82, 0x0C] + Array("leaf.example".utf8)),
        // Extended key usage: TLS servers
        (37, [0x30, 0x0A, 0x06, 0x08, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01]),
        // Name constraints: only below example
        (30, [0x30, 0x0D, 0xA0, 0x0B, 0x30, 0x09, 0x82, 0x07] + Array("example".utf8)),
        (14, [0x04, 0x02, 1, 2]), (35, [0x30, 0x04, 0x80, 0x02, 1, 2]), (36, [0x30, 0x03, 0x80, 0x01, 0x00]),
        (32, [0x30, 0x06, 0x30, 0x04, 0x06, 0x02, 0x2A, 0x03]), (99, []),
    ]

    private static func extensions(_ input: inout FuzzInput) -> [DERNode] {
        (0..<Int(input.byte() % 8)).map { _ in
            let (number, content) = input.element(of: usual)
            let choices = input.byte()
            let critical: [DERNode] = choices & 1 == 0 ? [] : [.bytes([0x01, 0x01, 0xFF])]
            let value = choices & 2 == 0 ? content : [UInt8](input.bytes())
            let identifier = DERNode.bytes([0x06, 0x03, 0x55, 0x1D, number])
            return .element(DERTag.sequence, [identifier] + critical + [.octets(.bytes(value))])
        }
    }
}
