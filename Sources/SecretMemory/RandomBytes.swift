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
/// Swift's own generator reads eight bytes at a time. For a sealed item this takes longer than the encryption.
public func fillWithRandomBytes(_ bytes: UnsafeMutableRawBufferPointer) {
    var rest = bytes[...]
    while !rest.isEmpty {
        // The maximum of one call.
        let part = UnsafeMutableRawBufferPointer(rebasing: rest.prefix(256))
        // It fails only for an invalid address or a kernel without the call. There is no weaker source to fall back to.
        guard getentropy(part.baseAddress, part.count) == 0 else { fatalError("the kernel returned no random bytes") }
        rest = rest.dropFirst(part.count)
    }
}
