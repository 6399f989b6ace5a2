// SPDX-License-Identifier: Apache-2.0
// A vault full of secrets that the exerciser knows how to make.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

@testable import KeychainVault

/// A vault that planted secrets open, with planted values.
struct NeedleVault {
    let test: TestVault
    /// The code or key of a ring that was prepared.
    private(set) var code: [Needle] = []
    /// A process that admits this machine to a ring.
    var sponsor: ChildProcess?
    var backup: String { test.root + "/backup" }

    init(_ preparations: Set<NeedleCase.Preparation>) throws {
        test = try preparations.contains(.opensByItself) ? Template.opensByItself.copy() : Template.locked.copy()
        for preparation in preparations { try prepare(preparation) }
        code = try Needle.code(in: test.root + "/code")
    }

    // MARK: - Templates

    /// The files of a vault, made once for all cases: secrets are dear to derive.
    fileprivate struct Template: Sendable {
        let files: [String: Data]

        static let opensByItself = Result { try Template { _ in } }
        static let locked = Result { try Template(close) }

        init(_ finish: (Vault) throws -> Void) throws {
            let test = try TestVault()
            let vault = test.another()
            try vault.addProtector(NeedleVault.passphrase)
            try vault.addProtector(NeedleVault.recoveryKey, authority: NeedleVault.passphrase)
            try vault.engine.add(.planted("planted", 10))
            var asked = Query.planted("asked", 13)
            asked.accessControl = try AccessControl(.whenUnlocked, flags: [.userPresence])
            try vault.engine.add(asked)
            try finish(vault)
            try vault.close()
            let root = test.root
            files = Dictionary(uniqueKeysWithValues: try test.files().map { (String($0.dropFirst(root.count)), $1) })
        }

        /// New keys have to be wrapped for every protector, so the one whose secret is not at hand comes last.
        private static func close(_ vault: Vault) throws {
            let recoveryKey = NeedleVault.recoveryKey
            try vault.removeProtector(vault.slot(DeviceKeyProtector.kind), authority: recoveryKey)
            try vault.addProtector(NeedleVault.keyFile, authority: recoveryKey)
            try vault.lock(forgettingFirstUnlock: true)
        }
    }

    private static let passphrase = ProtectorSecret(
        PassphraseProtector.kind, SecretBytes(bytes: PlantedBytes.passphrase(1)))
    static let keyFile = ProtectorSecret(
        KeyFileProtector.kind, SecretBytes(bytes: PlantedBytes.passphrase(3)))
    private static let recoveryKey = ProtectorSecret.recoveryKey(
        RecoveryKey.text(SecretBytes(bytes: PlantedBytes.key(5))))

    // MARK: - Preparations

    var credentialsFolder: String { test.root + "/credentials" }
    static let credential = CredentialProtector.fileName

    private mutating func prepare(_ preparation: NeedleCase.Preparation) throws {
        switch preparation {
        case .opensByItself, .closed: break
        case .withoutDeviceKey: try FileManager.default.removeItem(atPath: test.location.deviceKeyFile)
        case .credential: try addCredential()
        case .wrongCredential:
            try addCredential()
            try placeCredential(9)
        case .damagedValue: try change("UPDATE item SET value = zeroblob(length(value)) WHERE id = 1")
        case .damagedIndex: try change("DELETE FROM lookup")
        case .quarantinedItem: try quarantine()
        case .backup: try test.another().backup(to: backup)
        case .damagedBackup: try damagedBackup()
        case .ring, .conflict, .invitation, .admission, .recoveryRing, .sharedFolder, .ringWithoutFolder:
            try prepareRing(preparation)
        }
    }

    private func placeCredential(_ seed: Int) throws {
        try test.place(Data(PlantedBytes.passphrase(seed)), at: credentialsFolder + "/" + Self.credential)
    }

    private func addCredential() throws {
        try placeCredential(4)
        var settings = VaultSettings.cheap
        settings.credentialsFolder = credentialsFolder
        let vault = test.another(settings)
        try vault.addProtector(ProtectorSecret(CredentialProtector.kind), authority: Self.recoveryKey)
        try vault.close()
    }

    private func change(_ statement: String) throws {
        try PlainDatabase(test.databaseFile).run(statement)
    }

    private func quarantine() throws {
        try unlocked { vault in
            try vault.write { transaction in try transaction.content.items.quarantine(1, at: Date()) }
        }
    }

    /// The copies of a template have one identity, so that an unlock for this process opens all of them, and a lock closes all.
    private static let turn = NSLock()

    /// Runs `body` with the vault unlocked. Meanwhile no other copy of the template is unlocked or locked in this process.
    func unlocked<Result>(_ body: (Vault) throws -> Result) throws -> Result {
        try Self.turn.withLock {
            let vault = test.another()
            defer { try? vault.close() }
            try vault.unlock(Self.keyFile, keepingKeysIn: .process)
            let result = Swift.Result { try body(vault) }
            // Also after a failure: the next copy would be unlocked.
            try vault.lock(forgettingFirstUnlock: true)
            return try result.get()
        }
    }

    /// One whose pages are not those of a database.
    private func damagedBackup() throws {
        try test.another().backup(to: backup)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: backup))
        bytes.replaceSubrange(4096..., with: Data(repeating: 0xFF, count: bytes.count - 4096))
        try test.place(bytes, at: backup)
    }

    // MARK: - Needles

    /// What lies in files whose purpose it is.
    var keptInFiles: Set<NeedlePlace> {
        var kept: Set<NeedlePlace> = []
        if FileManager.default.fileExists(atPath: test.location.deviceKeyFile) {
            kept.insert(NeedlePlace(needle: "device key", place: "device.key"))
        }
        for (needle, seed) in [("credential", 4), ("passphrase 9", 9)] where holdsCredential(seed) {
            kept.insert(NeedlePlace(needle: needle, place: Self.credential))
        }
        return kept
    }

    private func holdsCredential(_ seed: Int) -> Bool {
        let path = credentialsFolder + "/" + Self.credential
        return FileManager.default.contents(atPath: path) == Data(PlantedBytes.passphrase(seed))
    }

    /// Everything that should be nowhere: what was planted, and all keys of the vault as it is now.
    func needles() throws -> [Needle] {
        let texts = [1, 2, 9].map { Needle(name: "passphrase \($0)", bytes: PlantedBytes.passphrase($0)) }
        let values = (10...17).map { Needle(name: "value \($0)", bytes: PlantedBytes.passphrase($0)) }
        let files = [("key file", 3), ("credential", 4)].map {
            Needle(name: $0.0, bytes: PlantedBytes.passphrase($0.1))
        }
        let recoveryKeys = [5, 6, 9].flatMap { seed in
            let key = SecretBytes(bytes: PlantedBytes.key(seed))
            return [
                Needle(name: "recovery key \(seed)", bytes: key.bytes),
                Needle(name: "recovery key \(seed)", bytes: RecoveryKey.text(key).bytes),
            ]
        }
        return try texts + values + files + recoveryKeys + code + keys()
    }

    private func keys() throws -> [Needle] {
        let vault = test.another()
        defer { try? vault.close() }
        let authority = try vault.authority(Self.recoveryKey)
        let keybag = try vault.currentSession().keybag
        var needles = [Needle(name: "root key", bytes: authority.rootKey.bytes)]
        needles += (authority.userKey.map { [Needle(name: "user key", bytes: $0.bytes)] } ?? [])
        let deviceKey = try DeviceKey.load(test.location.deviceKeyFile)
        needles += (deviceKey.map { [Needle(name: "device key", bytes: $0.secret.bytes)] } ?? [])
        needles.append(Needle(name: "wrapping keys", bytes: authority.wrappingKeys.bytes.bytes))
        if try vault.isInRing { needles += try ringKeys() }
        return try needles + classKeys(keybag, authority)
    }

    private func classKeys(_ keybag: Keybag, _ authority: Authority) throws -> [Needle] {
        let open = try ClassKeys(keybag, authority)
        return try keybag.keys.flatMap { entry in
            guard let key = try authority.wrappingKeys.unwrap(entry) else { return [Needle]() }
            let name = "class key \(entry.keyClass)"
            guard case .open(let pair) = open.availability(entry.keyClass, entry.generation) else {
                return [Needle(name: name, bytes: key.bytes)]
            }
            return [
                Needle(name: name, bytes: key.bytes),
                Needle(name: "metadata key \(entry.keyClass)", bytes: pair.metadata.bytes),
                Needle(name: "value key \(entry.keyClass)", bytes: pair.value.bytes),
            ]
        }
    }
}

extension Result where Success == NeedleVault.Template, Failure == any Error {
    /// A vault of its own with these files.
    fileprivate func copy() throws -> TestVault {
        let test = try TestVault()
        for (path, bytes) in try get().files { try test.place(bytes, at: test.root + path) }
        return test
    }
}

extension Query {
    fileprivate static func planted(_ account: String, _ seed: Int) -> Query {
        var query = genericPassword("exerciser", account)
        query.attributes[.label] = .string("label")
        query.value = Data(PlantedBytes.passphrase(seed))
        return query
    }
}
