// SPDX-License-Identifier: Apache-2.0
// A JSON Web Token whose key stays in the keychain.

import Foundation
import KeychainKeyStore

/// A token in the compact form of RFC 7515: header, claims and signature in Base64url.
func token(
    of claims: some Encodable, signedBy signer: KeychainSigner, _ algorithm: SigningAlgorithm
) async throws -> String {
    let header = ["alg": algorithm.jwsName, "typ": "JWT"]
    let parts = try [JSONEncoder().encode(header), JSONEncoder().encode(claims)]
    let signed = parts.map(\.base64URL).joined(separator: ".")
    let signature = try await signer.sign(Data(signed.utf8), using: algorithm)
    return signed + "." + signature.base64URL
}

extension Data {
    var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// - Returns: `nil` if the text is not Base64url.
    init?(base64URL text: Substring) {
        let text = text.replacing("-", with: "+").replacing("_", with: "/")
        self.init(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
    }
}
