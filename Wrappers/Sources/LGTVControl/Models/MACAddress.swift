// SPDX-License-Identifier: Apache-2.0
// Hardware addresses as people write them.

/// Six bytes by which a network card is known.
struct MACAddress: Equatable, Sendable {
    let bytes: [UInt8]

    /// - Throws: `WakeOnLANError.invalidMAC` for anything but six pairs of hexadecimal digits with `:` or `-` between them.
    init(_ text: String) throws(WakeOnLANError) {
        let separator: Character = text.contains("-") ? "-" : ":"
        let pairs = text.split(separator: separator, omittingEmptySubsequences: false)
        let bytes = pairs.compactMap { Self.byte($0) }
        guard pairs.count == 6, bytes.count == 6 else { throw .invalidMAC }
        self.bytes = bytes
    }

    /// Digits only: the standard library also takes a sign.
    private static func byte(_ pair: Substring) -> UInt8? {
        guard pair.utf8.count == 2, pair.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        return UInt8(pair, radix: 16)
    }

    /// What wakes a television: six bytes of ones, then its address sixteen times.
    var magicPacket: [UInt8] { Array(repeating: 0xFF, count: 6) + Array(repeating: bytes, count: 16).joined() }

    /// However they are written. What is no address is only equal to itself.
    static func areEqual(_ one: String, _ other: String) -> Bool {
        do {
            return try MACAddress(one) == MACAddress(other)
        } catch {
            return one == other
        }
    }
}
