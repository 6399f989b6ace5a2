// SPDX-License-Identifier: Apache-2.0
// Hardware addresses in text form.

/// The six bytes that identify a network card.
struct MACAddress: Equatable, Sendable {
    let bytes: [UInt8]

    /// - Throws: `WakeOnLANError.invalidMAC` for anything but six pairs of hexadecimal digits with `:` or `-` between
    ///   them.
    init(_ text: String) throws(WakeOnLANError) {
        let separator: Character = text.contains("-") ? "-" : ":"
        let pairs = text.split(separator: separator, omittingEmptySubsequences: false)
        let bytes = pairs.compactMap { Self.byte($0) }
        guard pairs.count == 6, bytes.count == 6 else { throw .invalidMAC }
        self.bytes = bytes
    }

    /// Digits only, because the standard library also accepts a sign.
    private static func byte(_ pair: Substring) -> UInt8? {
        guard pair.utf8.count == 2, pair.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        return UInt8(pair, radix: 16)
    }

    /// The wake-up packet: six bytes of ones, then the address sixteen times.
    var magicPacket: [UInt8] { Array(repeating: 0xFF, count: 6) + Array(repeating: bytes, count: 16).joined() }

    /// Compares addresses in any notation. Text that is not an address equals only the same text.
    static func areEqual(_ one: String, _ other: String) -> Bool {
        do {
            return try MACAddress(one) == MACAddress(other)
        } catch {
            return one == other
        }
    }
}
