// SPDX-License-Identifier: Apache-2.0
// Bytes that stay out of swap and core dumps, show themselves to no printer, and are wiped when they go.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Secret bytes in memory of their own: out of reach of other processes and of swapping as far as the system allows it,
/// left out of core dumps, wiped on release.
///
/// ```swift
/// let key = SecretBytes.random(count: 32)
/// key.withUnsafeBytes { bytes in use(bytes) }
/// ```
///
/// This is the memory of a secret and nothing else: it cannot be compared, encoded or stored. Passphrases and keys are
/// handed over in it. `SecretValue` of KeychainKit is the type for secrets that a program saves and reads; it keeps its
/// bytes in this one.
///
/// In a forked child, secrets of the parent can be read only as long as the parent keeps them; a secret made in the child
/// is the child's own.
///
/// Does not protect against a debugger that makes this process itself read them (`hardenProcess()` does, as far as it
/// is one of the same user), nor against root.
public final class SecretBytes: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    // Unchecked: written only by `init`, through `fill`; read-only from then on.
    private let block: SecretBlock
    public let count: Int
    /// Whether the pages are locked against swapping; `false` where the system's limit for locked memory is used up.
    public var isLocked: Bool { block.pages.protection != .swappable }

    /// How new secrets of this process are protected, up to 4096 bytes each.
    public static var protection: MemoryProtection { SecretArena.current.pages.protection }

    /// Reserves zeroed memory and lets `fill` write the secret into it, so that it never passes through other memory.
    public init(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        precondition(count >= 0, "the number of bytes of a secret cannot be negative")
        self.count = count
        // A secret that was left empty is for its users to refuse, and has a block like any other.
        block = SecretBlock(count: max(1, count))
        fill(UnsafeMutableRawBufferPointer(rebasing: block.bytes[..<count]))
    }

    /// Copies bytes that are secret already; the caller wipes the original.
    public convenience init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// Fresh bytes from the system's generator.
    public static func random(count: Int) -> SecretBytes {
        SecretBytes(count: count, fill: fillWithRandomBytes)
    }

    /// The bytes of two secrets, one after the other.
    public static func concatenating(_ first: SecretBytes, _ second: SecretBytes) -> SecretBytes {
        SecretBytes(count: first.count + second.count) { target in
            first.withUnsafeBytes { target.copyMemory(from: $0) }
            second.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: target[first.count...]).copyMemory(from: $0)
            }
        }
    }

    /// The first bytes of a secret.
    func prefix(_ length: Int) -> SecretBytes {
        withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(length))) }
    }

    /// Shows the bytes for the length of `body`; do not let the pointer out.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: block.bytes[..<count]))
    }

    public var description: String { "SecretBytes(\(count) bytes)" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    deinit { block.release() }
}

/// Overwrites memory with zeros in a way that the compiler may not leave out.
public func wipeMemory(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let address = bytes.baseAddress else { return }
    #if canImport(Darwin)
        memset_s(address, bytes.count, 0, bytes.count)
    #else
        explicit_bzero(address, bytes.count)
    #endif
}
