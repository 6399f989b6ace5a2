// SPDX-License-Identifier: Apache-2.0
// Random bytes from the system's generator.

#if os(Linux)
    /// A random number generator; only the default one exists, and it is `nil`.
    public typealias SecRandomRef = OpaquePointer

    /// The system's random number generator.
    public var kSecRandomDefault: SecRandomRef? { nil }

    /// Fills memory with random bytes fit for keys and passwords.
    ///
    /// - Parameters:
    ///   - rnd: The generator: `kSecRandomDefault`, which is `nil`.
    ///   - count: How many bytes to write; zero writes nothing.
    ///   - bytes: Memory with room for `count` bytes.
    /// - Returns: `errSecSuccess`, or `errSecParam` (and nothing is written) for a negative count or another generator.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
        guard rnd == nil, count >= 0 else { return errSecParam }
        var generator = SystemRandomNumberGenerator()
        let target = UnsafeMutableRawBufferPointer(start: bytes, count: count)
        var offset = 0
        while offset < count {
            withUnsafeBytes(of: generator.next()) { word in
                let part = word.prefix(count - offset)
                target[offset..<offset + part.count].copyBytes(from: part)
                offset += part.count
            }
        }
        return errSecSuccess
    }
#endif
