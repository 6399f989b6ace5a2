// SPDX-License-Identifier: Apache-2.0
// Private keys of the NIST curves in SEC 1 (RFC 5915).

public import SecretMemory

extension PrivateKey {
    /// An ECPrivateKey that names its curve.
    public init(sec1 bytes: SecretBytes) throws(KeyFailure) {
        try self.init(sec1: SecretSlice(bytes), curve: nil)
    }

    /// - Parameter curve: The curve, if the enclosing structure names it; the key then need not name it.
    init(sec1 bytes: SecretSlice, curve: KeyKind?) throws(KeyFailure) {
        var reader = try DERReader.only(DERTag.sequence, in: bytes, "SEC 1 private key")
        guard try reader.smallInteger() == 1 else { throw .malformed(reader.format) }
        let scalar = try reader.content(DERTag.octetString)
        let named = try Self.namedCurve(&reader)
        guard let kind = curve ?? named, named ?? kind == kind else { throw .malformed("curve of a SEC 1 private key") }
        try self.init(kind, scalar: scalar)
        try checkPublicKey(&reader)
        try reader.finish()
    }

    private static func namedCurve(_ reader: inout DERReader<SecretSlice>) throws(KeyFailure) -> KeyKind? {
        guard reader.nextTag == DERTag.context(0) else { return nil }
        var parameters = try reader.within(DERTag.context(0))
        guard parameters.nextTag == DERTag.objectIdentifier else { throw .unsupportedAlgorithm("unnamed curve") }
        let name = try parameters.objectIdentifier()
        try parameters.finish()
        return try KeyKind.curve(named: name)
    }

    /// The public key beside the private one is optional, and must belong to it.
    private func checkPublicKey(_ reader: inout DERReader<SecretSlice>) throws(KeyFailure) {
        guard reader.nextTag == DERTag.context(1) else { return }
        var optional = try reader.within(DERTag.context(1))
        let point = try optional.bitString()
        try optional.finish()
        try publicKey.check(beside: point)
    }

    /// - Throws: `KeyFailure.algorithmNotSupported` for keys that are not of a NIST curve.
    public func sec1() throws(KeyFailure) -> SecretBytes {
        return try sec1(namingCurve: true).encodedSecret
    }

    /// In PKCS#8 the enclosing structure names the curve.
    func sec1(namingCurve: Bool) throws(KeyFailure) -> DERNode {
        guard kind.isNISTCurve else { throw .algorithmNotSupported }
        let curve: [DERNode] = namingCurve ? kind.curveName.map { [.context(0, .oid($0))] } ?? [] : []
        return .element(
            DERTag.sequence,
            [.integer(1), .octets(.secret(scalar.copy))] + curve + [.context(1, .bits(publicKey.bytes))])
    }
}
