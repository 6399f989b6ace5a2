// SPDX-License-Identifier: Apache-2.0
// Everything that reads bytes from elsewhere, by name.

import Foundation

/// What libFuzzer's own `main` would call; ours hands it over.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ length: Int) -> CInt { FuzzTarget.run(bytes, length) }

/// A reader of untrusted bytes. Each name is a folder of `Fuzz/Corpus`.
enum FuzzTarget: String, CaseIterable {
    // What is stored, and read again
    case item, keybag, head, anchor, database, rows, backup, reference
    case unlockEntry = "unlock-entry"
    case wrappingKeys = "wrapping-keys"
    case deviceKey = "device-key"
    // What keys and certificates of other programs are
    case certificate, pem, pkcs12
    case privateKey = "private-key"
    case publicKey = "public-key"
    case openSSH = "open-ssh"
    case keyFile = "key-file"
    case trust
    // What lies on a carrier of a ring, and what is stored of it
    case ringEntry = "ring-entry"
    case segment, snapshot, joining
    case ringHead = "ring-head"
    case keyWrap = "key-wrap"
    case objectName = "object-name"
    case etcdAnswer = "etcd-answer"
    case replica
    case sharedItem = "shared-item"
    // What callers and users give
    case query, environment, passphrase
    case recoveryKey = "recovery-key"
    case invitationCode = "invitation-code"
    // What other programs and files say
    case assuan, entitlements
    case tpmAnswers = "tpm-answers"
    case agent = "ssh-agent"
    case propertyList = "property-list"
    // What the tool imports
    case keepass, export
    case importSource = "import-source"
    case onePux = "1pux"
    case secretService = "secret-service"
    // What else the tool reads
    case toolInput = "tool-input"

    /// The one that runs. Set once, before there is any other thread.
    nonisolated(unsafe) private(set) static var current = FuzzTarget.item

    /// Done once, before the first input.
    func prepare() {
        Self.current = self
        switch self {
        case .anchor: Heads.prepare()
        case .database, .rows: FrozenVault.prepare()
        case .backup: Restorations.prepare()
        case .export: Exports.prepare()
        case .secretService: SecretServices.prepare()
        case .toolInput: ToolInput.prepare()
        default: break
        }
    }

    static func run(_ bytes: UnsafePointer<UInt8>?, _ length: Int) -> CInt {
        current.run(Data(UnsafeRawBufferPointer(start: bytes, count: length)))
        return 0
    }

    private func run(_ bytes: Data) {
        switch self {
        case .item: StoredBytes.item(bytes)
        case .keybag: StoredBytes.keybag(bytes)
        case .head: Heads.head(bytes)
        case .anchor: Heads.anchor(bytes)
        case .reference: StoredBytes.reference(bytes)
        case .unlockEntry: StoredBytes.unlockEntry(bytes)
        case .wrappingKeys: StoredBytes.wrappingKeys(bytes)
        case .deviceKey: StoredBytes.deviceKey(bytes)
        case .database: FrozenVault.database(bytes)
        case .rows: FrozenVault.rows(bytes)
        case .backup: Restorations.backup(bytes)
        case .certificate: Keys.certificate(bytes)
        case .pem: Keys.pem(bytes)
        case .pkcs12: Keys.pkcs12(bytes)
        case .privateKey: Keys.privateKey(bytes)
        case .publicKey: Keys.publicKey(bytes)
        case .openSSH: Keys.openSSH(bytes)
        case .keyFile: Keys.keyFile(bytes)
        case .trust: TrustChains.chain(bytes)
        case .ringEntry: SyncObjects.entry(bytes)
        case .segment: SyncObjects.segment(bytes)
        case .snapshot: SyncObjects.snapshot(bytes)
        case .ringHead: SyncObjects.head(bytes)
        case .keyWrap: SyncObjects.wrap(bytes)
        case .joining: SyncObjects.joining(bytes)
        case .objectName: SyncObjects.name(bytes)
        case .etcdAnswer: EtcdAnswers.answer(bytes)
        case .replica: SyncObjects.stored(bytes)
        case .sharedItem: StoredBytes.sharedItem(bytes)
        case .query: Dictionaries.query(bytes)
        case .environment: GivenText.environment(bytes)
        case .passphrase: GivenText.passphrase(bytes)
        case .recoveryKey: GivenText.recoveryKey(bytes)
        case .invitationCode: GivenText.invitationCode(bytes)
        case .assuan: Conversations.assuan(bytes)
        case .tpmAnswers: TPMAnswers.answers(bytes)
        case .agent: AgentMessages.messages(bytes)
        case .entitlements: PropertyLists.entitlements(bytes)
        case .propertyList: PropertyLists.file(bytes)
        case .keepass: ImportSources.keepass(bytes)
        case .importSource: ImportSources.any(bytes)
        case .onePux: ImportSources.onePux(bytes)
        case .export: Exports.file(bytes)
        case .secretService: SecretServices.answers(bytes)
        case .toolInput: ToolInput.any(bytes)
        }
    }
}
