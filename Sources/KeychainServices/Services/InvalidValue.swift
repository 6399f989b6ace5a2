// SPDX-License-Identifier: Apache-2.0
// The error of a value that a function does not take.

#if os(Linux)
    import KeychainEngine

    extension KeychainError {
        static func invalidValue(_ key: String, _ expected: String) -> KeychainError {
            KeychainError(.invalidParameter, "The value of '\(key)' has to be \(expected).")
        }
    }
#endif
