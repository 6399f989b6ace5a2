// SPDX-License-Identifier: Apache-2.0
// The commands of macOS that have nothing to work on here. They fail, and say what to use instead.

struct UnsupportedCommand {
    let name: String
    let advice: String

    var failure: SecurityFailure {
        SecurityFailure(text: "security: \(name) is not supported here. \(advice)", status: 1)
    }

    /// Only a whole name: what a script abbreviates or misspells is an unknown command.
    static func find(_ name: String) -> UnsupportedCommand? {
        guard let group = groups.first(where: { $0.names.contains(name) }) else { return nil }
        return UnsupportedCommand(name: name, advice: group.advice)
    }

    private static let groups: [(names: [String], advice: String)] = [
        (
            [
                "add-trusted-cert", "remove-trusted-cert", "dump-trust-settings", "trust-settings-export",
                "trust-settings-import", "user-trust-settings-enable",
            ],
            trust
        ),
        (["verify-cert"], "No chain and no policy is evaluated. Use: openssl verify"),
        (["create-keypair"], "Use: keychainctl key generate"),
        (["authorize", "authorizationdb"], "There is no authorization database. Use the rules of polkit, or of sudo."),
        (["execute-with-privileges"], "Use: sudo, or pkexec"),
        (
            ["get-identity-preference", "set-identity-preference"],
            "There are no identity preferences. Name the certificate: security find-certificate -c NAME"
        ),
        (
            ["smartcards", "list-smartcards", "export-smartcard"],
            "Use: pkcs11-tool; for keys on a TPM: keychainctl key"
        ),
        (["create-filevaultmaster-keychain", "filevault"], "There is no FileVault. Use: cryptsetup"),
        (["create-db", "install-mds"], "There are no databases of CDSA."),
        (["leaks"], "It is for the developers of macOS's command."),
        (
            [
                "translocate-create", "translocate-policy-check", "translocate-status-check",
                "translocate-original-path", "requirement-evaluate",
            ],
            "It is for applications and code signatures of macOS."
        ),
    ]

    private static let trust =
        "There are no trust settings; nothing was changed. For root certificates that the programs of this machine trust, "
        + "put the file in PEM, named *.crt, into /usr/local/share/ca-certificates and run update-ca-certificates (Debian, "
        + "Ubuntu), or run: trust anchor FILE (Fedora, Arch)"
}
