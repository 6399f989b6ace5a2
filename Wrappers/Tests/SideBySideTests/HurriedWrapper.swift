// SPDX-License-Identifier: Apache-2.0
// One process that changes and reads a few keys through a wrapper, and is refused again and again.

import Foundation
import JSKeychain
import Keychain
import KeychainClient
import KeychainEngine
@_spi(Wrappers) import KeychainServices
@_spi(Wrappers) import KeychainTesting
@_spi(Wrappers) import KeychainVault
import LGTVControl
import SecureStorage
import Valet

/// A wrapper by one text for each key.
enum Wrapper: String, CaseIterable, Codable, Sendable {
    case jsKeychain, keychainClient, keychainManager, secureStorage, valet, valueKeychainStore

    /// Whether the cancellation of a task ends its calls.
    var isCancellable: Bool { [.jsKeychain, .keychainClient, .secureStorage].contains(self) }

    /// A client has one token and no names for others.
    var keys: [String] { self == .keychainClient ? ["token"] : ["key-0", "key-1", "key-2"] }

    func save(_ text: String, for key: String, in vault: Vault) async throws {
        switch self {
        case .jsKeychain: try await JSKeychain().using(vault).save(text, service: "app", account: key)
        case .keychainClient: try await client(vault).setJwtToken(text)
        case .keychainManager: try KeychainManager().using(vault).save([text], service: "app", account: key)
        case .secureStorage: try await KeychainSecureStorage(service: "app").using(vault).save(text, for: key)
        case .valet: try valetOver(vault).setString(text, forKey: key)
        case .valueKeychainStore: try ValueKeychainStore(accountName: key).using(vault).set(text)
        }
    }

    func remove(_ key: String, in vault: Vault) async throws {
        switch self {
        case .jsKeychain: try await JSKeychain().using(vault).delete(service: "app", account: key)
        case .keychainClient: try await client(vault).deleteJwtToken()
        case .keychainManager: try KeychainManager().using(vault).delete(service: "app", account: key)
        case .secureStorage: try await KeychainSecureStorage(service: "app").using(vault).delete(for: key)
        case .valet: try valetOver(vault).removeObject(forKey: key)
        case .valueKeychainStore: try ValueKeychainStore(accountName: key).using(vault).delete()
        }
    }

    /// - Returns: `nil` if there is nothing, whichever way the wrapper says so.
    func read(_ key: String, in vault: Vault) async throws -> String? {
        do {
            return try await found(key, in: vault)
        } catch  where isNotFound(error) {
            return nil
        }
    }

    private func found(_ key: String, in vault: Vault) async throws -> String? {
        switch self {
        case .jsKeychain: return try await JSKeychain().using(vault).read(service: "app", account: key) as String
        case .keychainClient: return try await client(vault).getJwtToken()
        case .keychainManager:
            return try KeychainManager().using(vault).load([String].self, service: "app", account: key)?.first
        case .secureStorage: return try await KeychainSecureStorage(service: "app").using(vault).load(for: key)
        case .valet: return try valetOver(vault).string(forKey: key)
        case .valueKeychainStore: return try ValueKeychainStore(accountName: key).using(vault).get()
        }
    }

    private func valetOver(_ vault: Vault) throws -> Valet {
        guard let identifier = Identifier(nonEmpty: "app") else { throw CocoaError(.featureUnsupported) }
        return .valet(with: identifier, accessibility: .whenUnlocked).using(vault)
    }

    private func client(_ vault: Vault) throws -> KeychainClient { .live(valet: try valetOver(vault)) }
}

private func isNotFound(_ error: any Error) -> Bool { (error as NSError).code == Int(errSecItemNotFound) }

/// What ends the calls of a process before they could change anything.
enum Haste: String, CaseIterable, Codable, Sendable {
    /// The vault waits for other writers only shortly.
    case timeout
    /// The task is cancelled shortly after the call began.
    case cancellation
}

/// The calls of one process.
struct HurriedProcess: Codable, Sendable {
    static let operations = 150

    let wrapper: Wrapper
    let haste: Haste
    let folder: String
    let number: Int

    static func vault(in folder: String, writerTimeout: Duration) throws -> Vault {
        var settings = VaultSettings.quick
        settings.writerTimeout = writerTimeout
        return .unshared(try VaultLocation(folder: folder + "/vault", deviceKeyFile: folder + "/device.key"), settings)
    }

    /// Prints each call as a line.
    func run() async throws {
        let times: [Duration] = [.microseconds(300), .milliseconds(2), .milliseconds(10)]
        let patient = try Self.vault(in: folder, writerTimeout: .seconds(600))
        let hurried = try times.map { try Self.vault(in: folder, writerTimeout: $0) }
        for operation in 0..<Self.operations {
            let (key, index) = (wrapper.keys[Int.random(in: 0..<wrapper.keys.count)], operation % times.count)
            switch haste {
            case .timeout: await change(key, operation, in: hurried[index])
            case .cancellation:
                let task = Task { await change(key, operation, in: patient) }
                try await Task.sleep(for: times[index])
                task.cancel()
                await task.value
            }
            await read(key, in: patient)
        }
    }

    private func change(_ key: String, _ operation: Int, in vault: Vault) async {
        if Int.random(in: 0..<3) == 0 {
            await note("remove", key) {
                try await wrapper.remove(key, in: vault)
                return nil
            }
        } else {
            let text = "\(number):\(operation)"
            await note("save", key, text) {
                try await wrapper.save(text, for: key, in: vault)
                return text
            }
        }
    }

    private func read(_ key: String, in vault: Vault) async {
        await note("read", key) { try await wrapper.read(key, in: vault) }
    }

    /// - Parameters:
    ///   - text: What a call that is refused would have saved.
    ///   - call: Returns what is there afterwards.
    private func note(
        _ verb: String, _ key: String, _ text: String? = nil, _ call: () async throws -> String?
    ) async {
        let start = RecordedCall.now
        var (found, outcome) = (text, "ok")
        do {
            found = try await call()
        } catch  where verb != "save" && (error as NSError).code == Int(errSecItemNotFound) {
            found = nil
        } catch  where Self.isRefusal(error) {
            outcome = "refused"
        } catch {
            // Any other error is a defect of the wrapper, and the test expects these two outcomes only.
            outcome = "failed"
        }
        let end = RecordedCall.now
        let value = found ?? RecordedCall.absent
        print(RecordedCall(verb: verb, key: key, value: value, start: start, end: end, outcome: outcome).line)
    }

    /// A timeout, or a cancellation.
    private static func isRefusal(_ error: any Error) -> Bool {
        error is CancellationError
            || [errSecNotAvailable, errSecUserCanceled].contains(OSStatus(truncatingIfNeeded: (error as NSError).code))
    }
}
