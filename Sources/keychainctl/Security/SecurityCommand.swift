// SPDX-License-Identifier: Apache-2.0
// The table of the commands of `security`.

import KeychainKit

struct SecurityCommand {
    let name: String
    let synopsis: String
    let help: String
    let run: (SecurityCall) throws(SecurityFailure) -> Void

    init(
        _ name: String, _ synopsis: String, _ help: String,
        _ run: @escaping (SecurityCall) throws(SecurityFailure) -> Void
    ) {
        (self.name, self.synopsis, self.help, self.run) = (name, synopsis, help, run)
    }

    var usage: String {
        "Usage: \(name) \(synopsis)\n" + help.split(separator: "\n").map { "    \($0)\n" }.joined()
    }

    /// The first command that begins so, as in macOS's table: abbreviations mean the same.
    static func find(_ name: String) -> SecurityCommand? {
        name.isEmpty ? nil : all.first { $0.name.utf8.starts(with: name.utf8) }
    }

    /// In macOS's order.
    static var all: [SecurityCommand] { keychains + items + certificates }

    private static var keychains: [SecurityCommand] {
        [
            SecurityCommand("help", "[command]", "Show all commands, or show usage for a command.", SecurityTool.help),
            SecurityCommand(
                "list-keychains", "[-d user|system|common|dynamic] [-0] [--json] [-s [keychain...]]",
                "Display or manipulate the keychain search list.\n-d  Use the named preference domain\n"
                    + "-s  Set the search list to the named keychains\n-0  End each path with a NUL",
                KeychainCommands.list),
            SecurityCommand(
                "default-keychain", "[-d user|system|common|dynamic] [-0] [--json] [-s [keychain]]",
                "Display or set the default keychain.\n-d  Use the named preference domain\n-s  Set the default keychain",
                KeychainCommands.defaultKeychain),
            SecurityCommand(
                "login-keychain", "[-d user|system|common|dynamic] [-0] [--json] [-s [keychain]]",
                "Display the login keychain, which is the access group 'default'.", KeychainCommands.login),
            SecurityCommand(
                "create-keychain", "[-P] [-p password] [keychains...]",
                "Create keychains and add them to the search list.\n"
                    + "-p  Accepted without effect: the secrets of the vault open it\n-P  Accepted without effect",
                KeychainCommands.create),
            SecurityCommand(
                "delete-keychain", "[keychains...]", "Delete keychains with all their items.", KeychainCommands.delete),
            SecurityCommand(
                "lock-keychain", "[-a | keychain]", "Lock the vault, and so every keychain.", LockCommands.lock),
            SecurityCommand(
                "unlock-keychain", "[-u] [-p password] [keychain]",
                "Unlock the vault, and so every keychain.\n-p  The passphrase of the vault\n-u  Do not use a password",
                LockCommands.unlock),
            SecurityCommand(
                "set-keychain-settings", "[-lu] [-t timeout] [keychain]",
                "Set settings for the vault.\n-l  Accepted without effect\n-u  Lock after the timeout\n"
                    + "-t  Seconds without use, from the next unlock-keychain on (omitting this option means no timeout)",
                LockCommands.settings),
            SecurityCommand(
                "set-keychain-password", "[-o oldPassword] [-p newPassword] [keychain]",
                "Set the passphrase of the vault.", LockCommands.setPassword),
            SecurityCommand(
                "show-keychain-info", "[keychain]", "Show the settings for the vault; fails if it is locked.",
                LockCommands.show),
            SecurityCommand(
                "dump-keychain", "[-ad] [--json] [keychain...]",
                "Dump the contents of one or more keychains.\n-a  Dump access rules\n-d  Dump values, after a question",
                DumpKeychain.dump),
        ]
    }

    private static let matching =
        "-a  Match \"account\" string\n-c  Match \"creator\" (four-character code)\n"
        + "-C  Match \"type\" (four-character code)\n-D  Match \"kind\" string\n-j  Match \"comment\" string\n"
        + "-l  Match \"label\" string\n"

    private static let matchingGeneric =
        matching + "-G  Match \"generic attribute\" value\n-s  Match \"service\" string"

    private static let matchingInternet =
        matching + "-d  Match \"securityDomain\" string\n-p  Match \"path\" string\n-P  Match port number\n"
        + "-r  Match \"protocol\" (four-character code)\n-s  Match \"server\" string\n"
        + "-t  Match \"authenticationType\" (four-character code)"

    private static let showing =
        "\n-g  Display the password for the item found\n-w  Display only the password on stdout\n"
        + "-0  With -w, write the exact bytes and a NUL\n--json  Write JSON"

    private static let adding =
        "\n-A, -T  Accepted without effect\n-U  Update item if it already exists (if omitted, the item cannot already exist)\n"
        + "-X  Specify password data to be added as a hexadecimal string\n"
        + "-w  Specify password to be added. Put at end of command to be prompted (recommended)"

    private static let ofGeneric =
        "[-a account] [-s service] [-c creator] [-C type] [-D kind] [-G value] [-j comment] [-l label]"
    private static let ofInternet =
        "[-a account] [-s server] [-c creator] [-C type] [-d securityDomain] [-D kind] [-j comment] [-l label] [-p path] "
        + "[-P port] [-r protocol] [-t authenticationType]"

    private static var items: [SecurityCommand] {
        [
            SecurityCommand(
                "add-generic-password", ofGeneric + " [-p|-w password] [-X hex] [-AU] [-T app] [keychain]",
                "Add a generic password item; -a and -s are required." + adding, AddPassword.generic),
            SecurityCommand(
                "add-internet-password", ofInternet + " [-w password] [-X hex] [-AU] [-T app] [keychain]",
                "Add an internet password item; -a and -s are required." + adding, AddPassword.internet),
            SecurityCommand(
                "add-certificates", "[-k keychain] file...",
                "Add certificates to a keychain, from files in PEM or DER.", AddCertificates.add),
            SecurityCommand(
                "find-generic-password", ofGeneric + " [-gw0] [--json] [keychain...]",
                "Find a generic password item.\n" + matchingGeneric + showing, FindPassword.findGeneric),
            SecurityCommand(
                "delete-generic-password", ofGeneric + " [--json] [keychain...]",
                "Delete a generic password item.\n" + matchingGeneric, FindPassword.deleteGeneric),
            SecurityCommand(
                "set-generic-password-partition-list",
                "-S partition-list [-k password] " + ofGeneric + " [keychain...]",
                "Accepted without effect; fails if nothing matches.\n" + matchingGeneric, FindPassword.partitionGeneric),
            SecurityCommand(
                "find-internet-password", ofInternet + " [-gw0] [--json] [keychain...]",
                "Find an internet password item.\n" + matchingInternet + showing, FindPassword.findInternet),
            SecurityCommand(
                "delete-internet-password", ofInternet + " [--json] [keychain...]",
                "Delete an internet password item.\n" + matchingInternet, FindPassword.deleteInternet),
            SecurityCommand(
                "set-internet-password-partition-list",
                "-S partition-list [-k password] " + ofInternet + " [keychain...]",
                "Accepted without effect; fails if nothing matches.\n" + matchingInternet,
                FindPassword.partitionInternet),
            SecurityCommand(
                "find-key",
                "[-a appLabel] [-c creator] [-D kind] [-j comment] [-l label] [-t type] [-dersuvw] [keychain...]",
                "Find keys.\n-t  private, public or symmetric\n-d, -e, -r, -s, -u, -v, -w  Only keys that can decrypt, "
                    + "encrypt, derive, sign, unwrap, verify, wrap",
                FindKey.find),
            SecurityCommand(
                "set-key-partition-list", "-S partition-list [-k password] [-dersuvw] [-l label] [keychain...]",
                "Accepted without effect; fails if nothing matches.", FindPassword.partitionKeys),
        ]
    }

    private static let deleting = "[-c name] [-Z hash] [-t] [keychain...]"
    private static let choosing =
        "-c  The common name, or a part of it; only one certificate may match\n"
        + "-Z  The SHA-256 (or SHA-1) hash\n-t  Accepted without effect"

    private static var certificates: [SecurityCommand] {
        [
            SecurityCommand(
                "find-certificate", "[-amp] [-c name] [-e emailAddress] [-Z] [keychain...]",
                "Find a certificate item.\n-a  Find all matching certificates, not just the first one\n"
                    + "-c  Match on \"name\"\n-e  Match on \"emailAddress\"\n-m  Show the email addresses\n"
                    + "-p  Output certificate in pem format\n-Z  Print SHA-256 (and SHA-1) hash of the certificate",
                CertificateCommands.find),
            SecurityCommand(
                "find-identity", "[-v] [-p policy] [-s string] [keychain...]",
                "Find private keys with their certificates.\n-v  Show only those whose certificate is valid today",
                CertificateCommands.findIdentity),
            SecurityCommand(
                "delete-certificate", deleting, "Delete a certificate from a keychain.\n" + choosing,
                DeleteCertificate.deleteCertificate),
            SecurityCommand(
                "delete-identity", deleting, "Delete a certificate and its private key from a keychain.\n" + choosing,
                DeleteCertificate.deleteIdentity),
            SecurityCommand(
                "export",
                "[-k keychain] [-t certs|allKeys|pubKeys|privKeys|identities|all] [-f format] [-w] [-p] [-P passphrase] [-o outfile]",
                "Export items from a keychain; passwords are not exported.\n-f  openssl, x509, pkcs8, pkcs12 or pemseq\n"
                    + "-w  Encrypt private keys with the passphrase",
                ExportCommand.export),
            SecurityCommand(
                "import",
                "inputfile [-k keychain] [-t type] [-f format] [-w] [-P passphrase] [-x] [-A] [-T app] [-a name value]",
                "Import keys and certificates into a keychain: PEM, DER or PKCS#12.\n"
                    + "-x  The private keys cannot be exported\n-A, -T, -a  Accepted without effect",
                ImportCommand.importFile),
            SecurityCommand(
                "cms", "-D [-i infile] [-o outfile] [-n] [-k keychain] [-u certusage]",
                "Decode a signed message, such as a provisioning profile, and write its content.\n"
                    + "No signature is checked: anybody may have written the content.\n"
                    + "-n  Only decode\n-k, -u  Accepted without effect",
                CMSCommand.decode),
            SecurityCommand(
                "error", "<error code(s)...>", "Display a descriptive message for the given error code(s).",
                ErrorCommand.explain),
        ]
    }
}
