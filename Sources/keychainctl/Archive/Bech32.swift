// SPDX-License-Identifier: Apache-2.0
// Bech32 (BIP 173), the text form of age's keys.

import Foundation

enum Bech32 {
    private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
    /// More than any key of age's first version has.
    private static let longest = 128

    /// - Parameter prefix: The human-readable part, in lower case.
    static func encode(_ bytes: Data, prefix: String) -> String {
        var values = regrouped(Array(bytes), from: 8, to: 5, padding: true) ?? []
        let sum = checksum(expanded(prefix) + values + [UInt8](repeating: 0, count: 6)) ^ 1
        values += (0..<6).map { UInt8(truncatingIfNeeded: sum >> (5 * (5 - UInt32($0)))) & 31 }
        return prefix + "1" + String(decoding: values.map { alphabet[Int($0)] }, as: UTF8.self)
    }

    /// - Parameter prefix: The human-readable part that the text must have, in lower case.
    /// - Returns: `nil` for text of another kind, of mixed case, or with a wrong checksum.
    static func decode(_ text: some Collection<UInt8>, prefix: String) -> Data? {
        guard text.count <= longest, let lower = lowercased(Array(text)) else { return nil }
        let start = Array(prefix.utf8) + [UInt8(ascii: "1")]
        guard lower.starts(with: start), lower.count >= start.count + 6 else { return nil }
        var values: [UInt8] = []
        for byte in lower[start.count...] {
            guard let value = alphabet.firstIndex(of: byte) else { return nil }
            values.append(UInt8(value))
        }
        guard checksum(expanded(prefix) + values) == 1 else { return nil }
        return regrouped(values.dropLast(6), from: 5, to: 8, padding: false).map { Data($0) }
    }

    /// - Returns: `nil` if upper and lower case are mixed.
    private static func lowercased(_ text: [UInt8]) -> [UInt8]? {
        let upper = UInt8(ascii: "A")...UInt8(ascii: "Z")
        let hasUpper = text.contains { upper.contains($0) }
        guard !hasUpper || !text.contains(where: { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }) else {
            return nil
        }
        return text.map { upper.contains($0) ? $0 + 32 : $0 }
    }

    private static func expanded(_ prefix: String) -> [UInt8] {
        prefix.utf8.map { $0 >> 5 } + [0] + prefix.utf8.map { $0 & 31 }
    }

    private static func checksum(_ values: [UInt8]) -> UInt32 {
        let generators: [UInt32] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3]
        var sum: UInt32 = 1
        for value in values {
            let top = sum >> 25
            sum = (sum & 0x1FF_FFFF) << 5 ^ UInt32(value)
            for (bit, generator) in generators.enumerated() where top >> UInt32(bit) & 1 == 1 { sum ^= generator }
        }
        return sum
    }

    /// - Returns: `nil` for padding that an encoder does not write.
    private static func regrouped(
        _ values: some Collection<UInt8>, from given: UInt32, to wanted: UInt32, padding: Bool
    ) -> [UInt8]? {
        var (result, buffer, count): ([UInt8], UInt32, UInt32) = ([], 0, 0)
        for value in values {
            buffer = (buffer << given | UInt32(value)) & 0xFFFF
            count += given
            while count >= wanted {
                count -= wanted
                result.append(UInt8(truncatingIfNeeded: buffer >> count & (1 << wanted - 1)))
            }
        }
        let rest = buffer & (1 << count - 1)
        if padding, count > 0 { result.append(UInt8(truncatingIfNeeded: rest << (wanted - count))) }
        guard padding || count < given && rest == 0 else { return nil }
        return result
    }
}
