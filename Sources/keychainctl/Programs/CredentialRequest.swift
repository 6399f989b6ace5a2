// SPDX-License-Identifier: Apache-2.0
// The unit and the credential in the address that systemd connects from.

/// The address is a NUL, some letters and digits, `/unit/`, the name of the unit, `/`, and that of the credential.
struct CredentialRequest: Equatable {
    let unit: String
    let credential: String

    /// - Parameter address: The bytes of the address, as the kernel returns them.
    init?(address: [UInt8]) {
        guard address.first == 0 else { return nil }
        let parts = address.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 4, Self.isNonce(parts[0]), parts[1].elementsEqual("unit".utf8),
            Self.isUnit(parts[2]), Self.isCredential(parts[3])
        else { return nil }
        (unit, credential) = (String(decoding: parts[2], as: UTF8.self), String(decoding: parts[3], as: UTF8.self))
    }

    /// The services whose items may answer, the best first: the unit, and for an instance its template.
    var services: [String] { [unit] + (template.map { [$0] } ?? []) }

    /// `web@.service` for `web@1.service`.
    private var template: String? {
        guard let at = unit.firstIndex(of: "@"), let dot = unit.lastIndex(of: "."), at < dot else { return nil }
        let template = unit[...at] + unit[dot...]
        return template == unit ? nil : String(template)
    }

    private static func isNonce(_ part: ArraySlice<UInt8>) -> Bool {
        !part.isEmpty && part.allSatisfy(isLetterOrDigit)
    }

    private static func isUnit(_ part: ArraySlice<UInt8>) -> Bool {
        !part.isEmpty && part.allSatisfy { isLetterOrDigit($0) || ":-_.\\@".utf8.contains($0) }
    }

    /// systemd admits names of files in printable ASCII, without a colon.
    private static func isCredential(_ part: ArraySlice<UInt8>) -> Bool {
        !part.isEmpty && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
            && part.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
