// SPDX-License-Identifier: Apache-2.0
// Random bytes from the kernel, many at a time.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Fills memory from the kernel's generator.
///
/// Swift's own generator asks the kernel for eight bytes at a time, which for a sealed item adds up to more time than
/// the encryption.
public func fillWithRandomBytes(_ bytes: UnsafeMutableRawBufferPointer) {
    var rest = bytes[...]
    while !rest.isEmpty {
        // The most that one call gives.
        let part = UnsafeMutableRawBufferPointer(rebasing: rest.prefix(256))
        // It fails only for a bad address or a kernel without the call; there is no weaker source to fall back to.
        guard getentropy(part.baseAddress, part.count) == 0 else { fatalError("the kernel returned no random bytes") }
        rest = rest.dropFirst(part.count)
    }
}
