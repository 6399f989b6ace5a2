// SPDX-License-Identifier: Apache-2.0
// Secrets as text, and a description of its own for each test.

import Foundation
import SecretMemory

/// A description in the user's keyring that no other test has; what has it in the end is removed.
final class TestKey {
    let name = "swift-keychain test \(UUID().uuidString)"

    /// Keys that other tests removed a moment ago still count for the quota of a user other than root: waits for the
    /// kernel.
    func store(_ text: String, timeout: Duration? = .seconds(600)) throws -> KernelKeyring.Key {
        let end = ContinuousClock.now + .seconds(600)
        while true {
            do throws(KernelKeyring.Failure) {
                return try KernelKeyring.store(SecretBytes(text), as: name, timeout: timeout)
            } catch {
                guard error.code == EDQUOT && ContinuousClock.now < end else { throw error }
                usleep(20_000)
            }
        }
    }

    func find() throws -> KernelKeyring.Key? { try KernelKeyring.find(name) }

    func read() throws -> String? { try find().flatMap(KernelKeyring.read)?.text }

    deinit {
        do { if let key = try find() { try KernelKeyring.remove(key) } } catch { print("left behind: \(name)") }
    }

    /// Whether there is a keyring to test.
    static let isSupported: Bool = {
        do { return try TestKey().store("x").serial != 0 } catch { return false }
    }()
}

extension SecretBytes {
    convenience init(_ text: String) {
        self.init(count: text.utf8.count) { $0.copyBytes(from: text.utf8) }
    }

    var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}
