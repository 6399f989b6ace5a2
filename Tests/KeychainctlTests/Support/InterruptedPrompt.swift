// SPDX-License-Identifier: Apache-2.0
// The prompts of the tool: how each is reached on a terminal.

import Foundation
import Testing

/// A command that asks on a terminal.
struct InterruptedPrompt: Sendable, CustomTestStringConvertible {
    enum Vault: Sendable {
        /// There is none yet.
        case missing
        /// It opens by itself, and holds an item.
        case open
        /// Its recovery key opens it, and it holds an item.
        case locked
    }

    let vault: Vault
    /// A script that runs before the command. The recovery key is in the file `paper`.
    var before = ":"
    let command: String
    /// What is entered at the prompts before this one.
    var answered: [(appears: String, text: String)] = []
    /// The end of the prompt at which ^C is typed.
    let question: String
    /// A script that puts back what the script of the command has moved.
    var after = ":"

    var testDescription: String { "\(question): \(command)" }

    static let all = making + opening + values + confirmations + files + security + syncing + answering

    /// A prompt of a command on a vault that is open.
    private static func asking(
        _ command: String, _ question: String, before: String = ":", after: String = ":"
    ) -> Self {
        Self(vault: .open, before: before, command: command, question: question, after: after)
    }

    /// A prompt for a new secret, and its repetition.
    private static func twice(
        _ command: String, _ question: String, again: String = "again: ", before: String = ":", on vault: Vault = .open
    ) -> [Self] {
        [
            Self(vault: vault, before: before, command: command, question: question),
            Self(
                vault: vault, before: before, command: command, answered: [(question, "several words")],
                question: again),
        ]
    }

    private static let words = "echo several words > words"
    private static let passphrase = words + "; \"$CTL\" protect add passphrase --new-passphrase-fd 4 4< words"
    private static let locked = passphrase + "; \"$CTL\" protect remove device-key --passphrase-fd 3 3< words"

    // MARK: - The vault and its secrets

    private static let making =
        twice("init --passphrase --no-device-key", "New passphrase of the keychain: ", on: .missing)
        + twice("protect add passphrase", "New passphrase of the keychain: ")
        + twice(
            "protect change passphrase --passphrase-fd 3 3< words", "New passphrase of the keychain: ",
            before: passphrase)
        + [
            asking("protect change passphrase", "Passphrase of the keychain: ", before: passphrase),
            asking("unlock", "Passphrase of the keychain: ", before: locked),
        ]

    private static let backup = "\"$CTL\" backup copy"
    private static let clear = "\"$CTL\" export given --clear-text json --recovery-key-fd 3 3< paper"

    /// Commands that ask for the secret that opens the vault.
    private static let opening = [
        (":", "unlock"), (":", "get -s example.com -a alice"), ("echo new > new", "set -s example.com -a alice < new"),
        (":", "set -s example.com -a alice --keep-value --comment new"),
        (":", "move -s example.com -a alice --to-account bob"), (":", "list"), (":", "search alice"),
        (":", "copy -s example.com"), (":", "generate -s new -a alice"), (":", "history -s example.com"),
        (":", "undo -s example.com -a alice"), (":", "expire 90d -s example.com -a alice"),
        (":", "run --env T=keychain://example.com/alice -- touch made"),
        ("export EDITOR=true", "edit -s example.com -a alice"),
        ("echo '{{ keychain://example.com/alice }}' > template", "inject --in template --out made"), (":", "rotate"),
        (":", "export made --clear-text csv"), ("echo machine a login b password c > netrc", "import netrc netrc"),
        (clear, "import-archive given --yes --replace"), (":", "protect add device-key"),
        (":", "protect change recovery-key"), (":", "key generate p256 --tag t"), (":", "key list"),
        ("mkdir shared", "sync init --folder shared --name laptop"), (backup, "restore copy --yes --recovery-key"),
        (":", "security find-generic-password -s example.com -w"),
        (":", "security delete-generic-password -s example.com"),
    ].map { Self(vault: .locked, before: $0, command: $1, question: "Recovery key of the keychain: ") }

    // MARK: - Items

    private static let requirement = passphrase + "; printf value | \"$CTL\" set -s s -a a --require user-presence"

    private static let values =
        twice("set -s example.com -a bob", "Value for bob at example.com: ")
        + twice("set -s example.com -a alice", "Value for alice at example.com: ")
        + twice(
            "set -s s -a a --require application-password < value", "assword: ", before: "echo value > value")
        + [
            asking("get -s s -a a", "assphrase: ", before: requirement),
            asking("set -s s -a a --keep-value --require none", "assphrase: ", before: requirement),
            asking("export made --clear-text csv", "assphrase: ", before: requirement),
            asking(
                "edit -s example.com", "Try again? [Y/n] ",
                before: "export EDITOR='mv $HOME/.local/share away; echo new >'", after: "mv away .local/share"),
        ]

    // MARK: - Confirmations

    private static let quarantined =
        changed("INSERT INTO quarantine SELECT *, 7.5 FROM item; DELETE FROM item")
        + "; \"$CTL\" accept --yes > log"

    /// Changes the database behind the back of the vault.
    private static func changed(_ statements: String) -> String {
        "python3 -c 'import sqlite3; sqlite3.connect(\".local/share/swift-keychain/vault.db\", "
            + "isolation_level=None).executescript(\"\(statements)\")'"
    }

    private static let confirmations =
        [
            asking("restore copy", "[y/N] ", before: backup + "; printf new | \"$CTL\" set -s example.com -a alice"),
            asking("accept", "Type yes: ", before: changed("DELETE FROM item")),
            asking("quarantine purge --all", "[y/N] ", before: quarantined),
            asking("quarantine purge 1", "[y/N] ", before: quarantined),
        ]
        + ["git", "docker", "ssh"].flatMap { program in
            [
                asking("helper install \(program)", "[y/N] "),
                asking("helper remove \(program)", "[y/N] ", before: "\"$CTL\" helper install \(program) --yes"),
            ]
        }

    // MARK: - Files

    private static let identity =
        words + "; openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -subj /CN=x 2> log; "
        + "openssl pkcs12 -export -inkey k.pem -in c.pem -passout file:words -out id.p12"
    private static let key = words + "; openssl genpkey -algorithm ED25519 -aes256 -pass file:words -out k.pem"
    private static let archive =
        words + "; \"$CTL\" export items.age --file-passphrase-fd 3 3< words; \"$CTL\" delete -s example.com --all"

    private static let stored = identity + "; \"$CTL\" identity import id.p12 --tag t --file-passphrase-fd 3 3< words"

    private static let files =
        twice("export made", "New passphrase of the file: ")
        + twice(
            "key export made --tag t", "New passphrase of the file: ", before: "\"$CTL\" key generate p256 --tag t")
        + twice("identity export made --tag t", "New passphrase of the file: ", before: stored)
        + [
            asking("import-archive items.age", "file: ", before: archive),
            asking("import-archive items.age --file-passphrase-fd 3 3< words", "[y/N] ", before: archive),
            asking("key import k.pem --tag t", "Passphrase of the file: ", before: key),
            asking("identity import id.p12", "Passphrase of the file: ", before: identity),
        ]

    // MARK: - security

    private static let security =
        twice(
            "security add-generic-password -a a -s s -w", "password data for new item: ",
            again: "retype password for new item: ")
        + twice(
            "security set-keychain-password -o 'several words'", "New Password: ", again: "Retype New Password: ",
            before: passphrase)
        + twice(
            "security export -t identities -f pkcs12 -o made", "passphrase for exported items: ",
            again: "retype passphrase for exported items: ", before: stored)
        + [
            asking("security dump-keychain -d", "[y/N] "), asking("security -i", "security> "),
            asking("security create-keychain", "keychain to create: "),
            asking("security set-keychain-password", "Old Password: ", before: passphrase),
            asking("security unlock-keychain", "password to unlock default: ", before: locked),
            asking("security import id.p12", "password for id.p12: ", before: identity),
        ]

    // MARK: - sync

    private static let ring = "mkdir shared; \"$CTL\" sync init --folder shared --name laptop"

    private static let syncing = [
        asking("sync remove desktop", "[y/N] ", before: ring),
        asking("sync keep desktop", "[y/N] ", before: ring), asking("sync leave", "[y/N] ", before: ring),
        Self(
            vault: .missing, before: "mkdir shared", command: "sync join --folder shared",
            question: "Code of the invitation: "),
    ]

    // MARK: - Questions of other programs

    private static let answering = [
        asking("askpass '[sudo] password for bob: '", "password for bob: "),
        asking("askpass 'Are you sure (yes/no/[fingerprint])? '", "[fingerprint])? "),
        asking("askpass 'Allow use of key?'", "[y/N] ", before: "export SSH_ASKPASS_PROMPT=confirm"),
    ]
}
