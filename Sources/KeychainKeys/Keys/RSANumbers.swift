// SPDX-License-Identifier: Apache-2.0
// RSA keys in PKCS#1, checked before the library uses them.

/// The PKCS#1 structures of RSA keys (RFC 8017, appendix A.1).
enum RSANumbers {
    /// The supported sizes in bits. They are multiples of 8: swift-crypto ends the program on others.
    static let sizes = 1024...8192

    /// Checks an RSAPublicKey.
    ///
    /// - Returns: The size of the modulus in bits.
    static func checkPublicKey(_ der: [UInt8]) throws(KeyFailure) -> Int {
        var reader = try DERReader.only(DERTag.sequence, in: der[...], "PKCS#1 public key")
        let bits = try checkPublicNumbers(&reader)
        try reader.finish()
        return bits
    }

    /// Checks an RSAPrivateKey with two primes. The library checks whether its numbers are consistent.
    ///
    /// - Returns: Its RSAPublicKey, and the size of the modulus in bits.
    static func checkPrivateKey(_ der: SecretSlice) throws(KeyFailure) -> (publicKey: [UInt8], bits: Int) {
        let format = "PKCS#1 private key"
        var reader = try DERReader.only(DERTag.sequence, in: der, format)
        guard try reader.smallInteger() == 0 else { throw .unsupportedAlgorithm("RSA with more than two primes") }
        let start = reader.rest
        let bits = try checkPublicNumbers(&reader)
        let publicNumbers = start[start.startIndex..<reader.rest.startIndex]
        try checkPrivateNumbers(&reader, modulusLength: bits / 8)
        try reader.finish()
        return (DERNode.sequence(.bytes([UInt8](publicNumbers))).encoded, bits)
    }

    private static func checkPublicNumbers<Bytes>(_ reader: inout DERReader<Bytes>) throws(KeyFailure) -> Int {
        let modulus = try reader.unsignedInteger()
        let bits = 8 * modulus.count - (modulus.first?.leadingZeroBitCount ?? 0)
        guard sizes.contains(bits), bits % 8 == 0 else { throw .unsupportedSize(bits) }
        guard modulus.last.map({ $0 & 1 }) == 1 else { throw .malformed("RSA modulus") }
        let exponent = try reader.unsignedInteger()
        // The library's limit, in bits, against exponents that only waste time.
        guard exponent.count < 5 || exponent.count == 5 && exponent.first == 1 else {
            throw .limitExceeded("RSA public exponent")
        }
        let value = exponent.reduce(0) { $0 << 8 | Int($1) }
        guard value >= 3, value & 1 == 1 else { throw .malformed("RSA public exponent") }
        return bits
    }

    /// d, p, q, d mod p-1, d mod q-1, 1/q mod p: none is zero, and none is longer than the modulus.
    private static func checkPrivateNumbers(
        _ reader: inout DERReader<SecretSlice>, modulusLength: Int
    ) throws(KeyFailure) {
        for _ in 0..<6 {
            let number = try reader.unsignedInteger()
            guard (1...modulusLength).contains(number.count) else { throw .malformed("RSA private number") }
        }
    }
}
