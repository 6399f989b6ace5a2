// SPDX-License-Identifier: Apache-2.0
// The names of algorithms.

#if os(Linux)
    public import Foundation
    import KeychainKeys

    /// An algorithm for signatures, encryption or key exchange. The constants have Apple's names; which keys support
    /// which, `SecKeyIsAlgorithmSupported` says.
    ///
    /// ```swift
    /// let algorithm: SecKeyAlgorithm = .ecdsaSignatureMessageX962SHA256
    /// ```
    public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
        private let name: String
        /// The text of Apple's constant.
        public var rawValue: CFString { NSString(string: name) }
        /// The algorithm with this text. No key supports an unknown one.
        public init(rawValue: CFString) { name = rawValue as String }

        init(_ name: String) { self.name = name }

        /// - Throws: `KeyFailure.algorithmNotSupported` for an unknown text.
        func known() throws(KeyFailure) -> KeyAlgorithm {
            guard let algorithm = KeyAlgorithm(rawValue: name) else { throw .algorithmNotSupported }
            return algorithm
        }
    }
#endif
