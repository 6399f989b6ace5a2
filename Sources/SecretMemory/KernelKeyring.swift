// SPDX-License-Identifier: Apache-2.0
// Secrets in the kernel, shared by all processes of a user until they expire, are removed, or the machine is shut down.

internal import CKeychainShims

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The user's keyring in the kernel (`@u`), with keys of the type "user".
///
/// ```swift
/// let key = try KernelKeyring.store(secret, as: "org.example.cache", timeout: .seconds(300))
/// let again = try KernelKeyring.read(key)
/// ```
///
/// Every process of the user can find and read the keys; other users cannot. The kernel never swaps them out. If a
/// sandbox denies the system calls, or the system is not Linux, every call throws. So do storing and finding keys in a
/// program whose real and effective user differ (setuid): the kernel's keyring is that of the caller.
///
/// Does not protect against programs of the same user, or against root, which can become that user.
public enum KernelKeyring {
    /// Why the kernel failed: an errno. `EPERM` and `ENOSYS`: the keyring is not available here; `EDQUOT`: the user's
    /// quota is exhausted (200 keys and 20,000 bytes by default; removed keys still count for some milliseconds);
    /// `EINVAL`: a secret of more than 32,767 bytes, or a description that is empty, contains a NUL, or has more than
    /// 4,095 bytes.
    public struct Failure: Error, Equatable, Sendable {
        public let code: Int32

        public init(code: Int32) { self.code = code }
    }

    /// A key by its serial number in the kernel, which is not used again for another key.
    public struct Key: Hashable, Sendable {
        public let serial: Int32

        public init(serial: Int32) { self.serial = serial }
    }

    /// Stores a secret as a new key, in place of the one with the same description.
    ///
    /// `timeout` is rounded up to whole seconds; `nil` means until the machine shuts down. The key has its timeout
    /// before any other process can find it. If this fails, or the process is killed, the earlier key is unchanged.
    public static func store(
        _ secret: SecretBytes, as description: String, timeout: Duration?
    ) throws(Failure) -> Key {
        try check(description)
        var result = 0
        // The kernel's clock counts whole seconds, so that a timeout of one second can be over at once.
        for _ in 0..<8 {
            let key = try addPrivately(secret, as: description)
            defer { _ = keychain_key_drop(key.serial) }
            result = share(key, timeout)
            if result >= 0 { return key }
            guard keychain_key_is_gone(result) != 0 else { break }
        }
        throw failure(result)
    }

    /// Gives an existing key a new secret, and removes its timeout. It takes one system call; ``store(_:as:timeout:)``
    /// takes four, and makes another key.
    ///
    /// - Parameter bytes: Any memory if they are not secret.
    /// - Returns: `false` if the key is unchanged or gone: it expired, was removed, or was unlinked from the keyring,
    ///   as by ``store(_:as:timeout:)`` with the same description. The secret must then be stored; if the kernel
    ///   fails, that call reports why.
    public static func update(_ key: Key, with bytes: UnsafeRawBufferPointer) -> Bool {
        possessing { keychain_key_update(key.serial, bytes.baseAddress, bytes.count) } == 0
    }

    /// The existing key with that description; `nil` if there is none, or it expired or was removed.
    public static func find(_ description: String) throws(Failure) -> Key? {
        try check(description)
        let result = possessing { keychain_key_search(description) }
        return keychain_key_is_gone(result) != 0 ? nil : Key(serial: Int32(try value(result)))
    }

    /// The secret; `nil` if the key is gone. It is only copied to secret memory.
    public static func read(_ key: Key) throws(Failure) -> SecretBytes? {
        guard var size = try readSize(key, into: nil) else { return nil }
        while true {
            var found: Result<Int?, Failure> = .success(nil)
            let secret = SecretBytes(count: max(1, size)) { buffer in
                found = Result { () throws(Failure) in try readSize(key, into: buffer) }
            }
            guard let now = try found.get() else { return nil }
            if now == secret.count { return secret }
            if now < secret.count { return secret.prefix(now) }
            // Another process gave the key a longer secret in the meantime.
            size = now
        }
    }

    /// Whether the key can still be read: false once it expired, was removed, or was unlinked from the keyring.
    ///
    /// One system call of about a microsecond, a fifth of which is the transition to the kernel and back.
    public static func isAlive(_ key: Key) -> Bool {
        possessing { keychain_key_probe(key.serial) } == 0
    }

    /// Sets the key to expire after this time, rounded up to whole seconds, at least one; `nil`: never.
    public static func setTimeout(_ timeout: Duration?, of key: Key) throws(Failure) {
        _ = try value(possessing { keychain_key_set_timeout(key.serial, seconds(timeout)) })
    }

    /// Removes a key: from now on no process can read it, even by its number. It is not an error if the key no longer
    /// exists.
    public static func remove(_ key: Key) throws(Failure) {
        // Not by unlinking, which goes by description, and would remove a new key that another process stored
        // meanwhile.
        let result = possessing { keychain_key_invalidate(key.serial) }
        guard keychain_key_is_gone(result) == 0 else { return }
        guard [EACCES, EDQUOT].contains(Int32(-result)) else { return _ = try value(result) }
        // The key is no longer in the keyring, or it must not be invalidated, or possessing it would exceed the user's
        // quota. It can still be unlinked.
        guard let description = try description(of: key), try find(description) == key else { return }
        let unlinked = keychain_key_unlink(key.serial)
        guard keychain_key_is_gone(unlinked) != 0 || unlinked == -Int(ENOENT) else { return _ = try value(unlinked) }
    }
}

extension KernelKeyring {
    /// A key that only this thread can find, without a timeout: in the user's keyring the kernel would give the secret to the
    /// existing key and lift its timeout, and a process killed before the next call would leave that.
    private static func addPrivately(_ secret: SecretBytes, as description: String) throws(Failure) -> Key {
        let result = secret.withUnsafeBytes { keychain_key_add(description, $0.baseAddress, $0.count) }
        return Key(serial: Int32(try value(result)))
    }

    private static func share(_ key: Key, _ timeout: Duration?) -> Int {
        let result = timeout == nil ? 0 : keychain_key_set_timeout(key.serial, seconds(timeout))
        return result < 0 ? result : keychain_key_share(key.serial)
    }

    /// - Returns: `nil` if the key is gone.
    private static func description(of key: Key) throws(Failure) -> String? {
        // The longest is 4,095 bytes; before it stand its type, owner and permissions.
        var text = [UInt8](repeating: 0, count: 4200)
        let result = text.withUnsafeMutableBytes { keychain_key_describe(key.serial, $0.baseAddress, $0.count) }
        guard keychain_key_is_gone(result) == 0 else { return nil }
        let parts = text.prefix(try value(result) - 1).split(
            separator: UInt8(ascii: ";"), maxSplits: 4, omittingEmptySubsequences: false)
        return parts.count == 5 ? String(decoding: parts[4], as: UTF8.self) : nil
    }

    /// The size of the secret, which is copied if it fits; `nil` if the key is gone.
    private static func readSize(_ key: Key, into buffer: UnsafeMutableRawBufferPointer?) throws(Failure) -> Int? {
        let result = possessing { keychain_key_read(key.serial, buffer?.baseAddress, buffer?.count ?? 0) }
        // Unreadable although the keyring is ours: it was unlinked, but not yet destroyed.
        if keychain_key_is_gone(result) != 0 || result == -Int(EACCES) { return nil }
        return try value(result)
    }

    /// Makes a call that requires possession of the key.
    ///
    /// A process possesses the keys that can be reached from its own keyrings. The user's keyring is often not among
    /// them: a service has its own session keyring; a forked child, and a thread older than the link, have no process
    /// keyring. So there is no state to remember: if the kernel denies access, create the link and try again.
    private static func possessing(_ call: () -> Int) -> Int {
        let result = call()
        guard result == -Int(EACCES) else { return result }
        let linked = keychain_key_link_user_keyring()
        return linked < 0 ? linked : call()
    }

    private static func value(_ result: Int) throws(Failure) -> Int {
        guard result >= 0 else { throw failure(result) }
        return result
    }

    private static func failure(_ result: Int) -> Failure { Failure(code: Int32(-result)) }

    /// C would end the description at a NUL and find another key. For an empty description the kernel's answer varies.
    ///
    /// In a setuid program the user's keyring is that of its caller, who could read what is stored there.
    private static func check(_ description: String) throws(Failure) {
        if getuid() != geteuid() { throw Failure(code: EPERM) }
        if description.isEmpty || description.utf8.contains(0) { throw Failure(code: EINVAL) }
    }

    /// 0 means never for the kernel, so the minimum is one second.
    private static func seconds(_ timeout: Duration?) -> UInt32 {
        guard let timeout else { return 0 }
        let (whole, attoseconds) = timeout.components
        let roundedUp = attoseconds > 0 && whole < .max ? whole + 1 : whole
        return UInt32(clamping: max(1, roundedUp))
    }
}
