// SPDX-License-Identifier: Apache-2.0
// The public key that files may contain beside a private one.

extension PublicKey {
    /// Checks the public key that a file contains beside the private one of this key. A private key with the public key of
    /// another one would be taken for that one by programs that believe the file.
    func check(beside bytes: some ByteSlice) throws(KeyFailure) {
        guard isEncoded(by: bytes) else { throw .malformed("public key beside a private one") }
    }

    /// A point of a NIST curve has three forms (SEC 1, 2.3.3), of which this package writes the first: 04 ‖ X ‖ Y;
    /// compressed 02 or 03 ‖ X, depending on whether Y is even; and hybrid 06 or 07 ‖ X ‖ Y.
    private func isEncoded(by encoded: some ByteSlice) -> Bool {
        guard let length = kind.coordinateLength, let form = encoded.first else { return encoded.elementsEqual(bytes) }
        let (point, parity) = (bytes.dropFirst(), bytes.last.map { $0 & 1 } ?? 0)
        switch form {
        case 2, 3: return form == 2 + parity && encoded.dropFirst().elementsEqual(point.prefix(length))
        case 6, 7: return form == 6 + parity && encoded.dropFirst().elementsEqual(point)
        default: return encoded.elementsEqual(bytes)
        }
    }
}
