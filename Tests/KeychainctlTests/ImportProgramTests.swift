// SPDX-License-Identifier: Apache-2.0
// Importing what the other programs themselves have written. Each test is skipped if its program is not installed.

import Foundation
import Testing

@Suite("import from programs")
struct ImportProgramTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    // MARK: - pass, gopass

    /// Makes a key without a passphrase. The agent ends with the folder. It is started here, because gpg waits only some seconds
    /// for one that it starts.
    private static let makeKey = """
        set -e; export GNUPGHOME="$HOME/g"; mkdir -m 700 g; trap 'gpgconf --kill gpg-agent' EXIT
        gpg-agent --daemon > /dev/null 2>&1
        gpg --batch --quiet --passphrase '' --quick-gen-key test@example.com future-default default never 2>/dev/null
        export PASSWORD_STORE_DIR="$HOME/store"

        """

    @Test(.enabled(if: Tool.has("pass") && Tool.has("gpg"), "pass or gpg is not installed"))
    func store_ofPass_isImportedWithNotesApart() throws {
        let run = try tool.shell(
            Self.makeKey
                + """
                pass init test@example.com > made
                printf 'pw-one\\nuser: x\\n' | pass insert -m web/github.com/alice > made
                ln -s /etc/passwd store/evil.gpg; ln -s /etc store/etc
                "$CTL" import pass && exit 9
                "$CTL" get -s web/github.com -a alice
                "$CTL" get -s web/github.com -a 'alice (notes)'
                """)
        #expect(run.status == 0, "\(run.everything)")
        #expect(run.text.hasSuffix("pw-oneuser: x\n") && run.text.contains("evil.gpg: it is a symbolic link"))
    }

    @Test(.enabled(if: Tool.has("pass") && Tool.has("gpg"), "pass or gpg is not installed"))
    func entriesOfPass_whoseNamesBeginWithADot_areImportedOrReported() throws {
        let run = try tool.shell(
            Self.makeKey
                + """
                pass init test@example.com > made
                echo pw | pass insert -e web/.pin > made; echo hidden | pass insert -e .folder/bank > made
                mkdir store/.git store/.github; touch store/.gitattributes store/.git/x.gpg store/.github/y
                mv store/.gpg-id id; ln -s ../id store/.gpg-id
                "$CTL" import pass || echo "exit $?"
                "$CTL" get -s web -a .pin
                """)
        #expect(run.status == 0 && run.text.hasSuffix("exit 1\npw"), "\(run.everything)")
        #expect(run.text.contains(".folder: it is a hidden folder") && !run.text.contains(".git"), "\(run.everything)")
    }

    /// As pass-otp appends it.
    @Test(.enabled(if: Tool.has("pass") && Tool.has("gpg"), "pass or gpg is not installed"))
    func otpauthLineOfPass_becomesAnItemThatPrintsCodes() throws {
        let run = try tool.shell(
            Self.makeKey
                + """
                pass init test@example.com > made
                printf 'pw\\nuser: x\\notpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0\\nurl: y\\n' | \
                    pass insert -m web/alice > made
                "$CTL" import pass > report || exit 9
                "$CTL" get -s web -a alice; "$CTL" get -s web -a 'alice (notes)'
                "$CTL" otp -s web -a 'alice (one-time password)'
                """)
        // The first code of RFC 4226.
        #expect(run.status == 0 && run.text == "pwuser: x\nurl: y\n755224\n", "\(run.everything)")
    }

    @Test(.enabled(if: Tool.has("pass") && Tool.has("gpg"), "pass or gpg is not installed"))
    func store_importedWhole_keepsTheTextOfAnEntry() throws {
        let run = try tool.shell(
            Self.makeKey
                + """
                pass init test@example.com > made; printf 'pw\\nmore\\n' | pass insert -m solo > made
                "$CTL" import pass --whole > report; "$CTL" get -s solo
                """)
        #expect(run.status == 0 && run.text == "pw\nmore\n", "\(run.everything)")
    }

    @Test(.enabled(if: Tool.has("gopass") && Tool.has("gpg"), "gopass or gpg is not installed"))
    func store_ofGopass_isImported() throws {
        let run = try tool.shell(
            Self.makeKey
                + """
                git config --global user.email test@example.com; git config --global user.name test
                gopass init test@example.com > made 2>&1; mkdir store/site
                timeout 300 gopass generate site/bob 12 < /dev/null > made 2>&1
                timeout 300 gopass show site/bob < /dev/null > shown
                "$CTL" import gopass > report; [ "$(cat shown)" = "$("$CTL" get -s site -a bob)" ]
                """)
        #expect(run.status == 0, "\(run.everything)")
    }

    @Test(.enabled(if: Tool.has("gpg"), "gpg is not installed"))
    func file_thatGpgCannotDecrypt_isReported() throws {
        let run = try tool.shell("mkdir store; echo junk > store/a.gpg; GNUPGHOME=$HOME \"$CTL\" import pass store")
        #expect(run.status == 1 && run.text.contains("gpg could not decrypt it"), "\(run.everything)")
    }

    @Test func store_thatIsMissing_isAnError() throws {
        #expect(try tool.run("import", "pass").status == 13)
    }

    /// Entries may be in there. As root, the tool runs without the right to read every folder.
    @Test(
        .enabled(if: geteuid() != 0 || Tool.has("setpriv"), "setpriv is not installed"),
        arguments: ["site", ".site", ".config/site", "site/.config"])
    func folderOfAStore_thatMayNotBeRead_isReported(folder: String) throws {
        let run = try tool.shell(
            """
            mkdir -p store/\(folder); chmod 000 store/\(folder); as=
            [ "$(id -u)" != 0 ] || as="setpriv --bounding-set=-dac_override,-dac_read_search"
            $as "$CTL" import pass store; code=$?; chmod 700 store/\(folder); exit $code
            """)
        #expect(run.status == 1 && run.text.contains("\(folder): Permission denied"), "\(run.everything)")
    }

    /// For any other user, strace cannot tell what the tool's descriptors are.
    @Test(
        .enabled(if: Tool.hasStrace && geteuid() == 0, "not root, or strace cannot trace here"),
        arguments: ["site", ".site"])
    func folderOfAStore_whoseListFails_isAnErrorThatNamesIt(folder: String) throws {
        let run = try tool.shell(
            """
            mkdir -p store/\(folder); there=$(cd store/\(folder); pwd -P)
            strace -f -qq -o trace -P "$there" -e inject=getdents64:error=EIO "$CTL" import pass store
            """)
        #expect(run.status != 0 && run.errors.contains("at '\(folder)'"), "\(run.everything)")
    }

    /// The name is no UTF-8, so no entry can have it.
    @Test func folderInAHiddenOne_whoseNameIsNotText_isReported() throws {
        let run = try tool.shell("mkdir -p \"store/.site/$(printf '\\377')\"; \"$CTL\" import pass store")
        #expect(run.status == 1 && run.text.contains(".site: the name of a file"), "\(run.everything)")
    }

    @Test func linkToAFolder_thatIsHidden_isReported() throws {
        let run = try tool.shell("mkdir -p store other; ln -s ../other store/.site; \"$CTL\" import pass store")
        #expect(run.status == 1 && run.text.contains(".site: it is a symbolic link"), "\(run.everything)")
    }

    @Test func hiddenFolder_withTooManyFiles_isReported() throws {
        let run = try tool.shell(
            """
            mkdir -p store/.cache; cd store/.cache; seq 100001 | xargs touch; cd ../..
            "$CTL" import pass store
            """)
        #expect(run.status == 1 && run.text.contains(".cache: it has too many files"), "\(run.everything)")
    }

    @Test func foldersInAHiddenOne_thatAreNestedTooDeep_areReported() throws {
        let path = (["store/.site"] + Array(repeating: "d", count: 32)).joined(separator: "/")
        let run = try tool.shell("mkdir -p \(path); touch \(path)/a.gpg; \"$CTL\" import pass store")
        #expect(run.status == 1 && run.text.contains("d: it is nested more than 32"), "\(run.everything)")
    }

    @Test func hiddenFolder_withoutEntries_isNotReported() throws {
        let run = try tool.shell("mkdir -p store/.site/d; touch store/.site/d/x; \"$CTL\" import pass store")
        #expect(run.status == 0 && !run.text.contains(".site"), "\(run.everything)")
    }

    // MARK: - KeePassXC

    @Test(.enabled(if: Tool.has("keepassxc-cli"), "keepassxc-cli is not installed"))
    func database_exportedByKeePassXC_isImported() throws {
        let run = try tool.shell(
            """
            set -e; printf 'pw\\npw\\n' | keepassxc-cli db-create -q -p d.kdbx
            printf 'pw\\ns"e,c\\n' | keepassxc-cli add -q -p -u alice --url https://git.example.com:8443/team \
                --notes 'line "1"' d.kdbx git
            printf 'pw\\n' | keepassxc-cli export -q -f csv d.kdbx | "$CTL" import keepassxc - > report
            "$CTL" get --server git.example.com -a alice
            "$CTL" get -s https://git.example.com:8443/team -a 'alice (notes)'
            """)
        #expect(run.status == 0 && run.text == "s\"e,cline \"1\"", "\(run.everything)")
    }

    // MARK: - Secret Service

    private static let hasSecretService =
        Tool.has("gnome-keyring-daemon") && Tool.has("secret-tool") && Tool.has("dbus-run-session")

    /// - Parameter before: A script that runs before the service is started.
    private func withKeyring(before: String = ":", _ script: String) throws -> Tool.Run {
        try Data(
            """
            set -e; export XDG_RUNTIME_DIR="$HOME/run"; mkdir -m 700 run
            \(before)
            printf pw | gnome-keyring-daemon --unlock --components=secrets > started 2>&1
            # It answers a moment later. Before that, the bus would start another one, which is locked.
            tries=0
            until dbus-send --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetNameOwner \
                string:org.freedesktop.secrets >/dev/null 2>&1; do tries=$((tries + 1)); [ $tries -lt 6000 ]; sleep 0.1; done
            \(script)
            """.utf8
        ).write(to: tool.home.appendingPathComponent("script"))
        return try tool.shell("dbus-run-session -- sh script")
    }

    @Test(.enabled(if: hasSecretService, "gnome-keyring, libsecret-tools or dbus is not installed"))
    func secretService_ofGNOMEKeyring_isImported() throws {
        let run = try withKeyring(
            """
            printf one | secret-tool store --label=First service svc username alice
            printf two | secret-tool store --label=Net server git.example.com user bob protocol https port 8443
            "$CTL" import secret-service > report
            "$CTL" get -s svc -a alice; "$CTL" get --server https://git.example.com:8443 -a bob
            """)
        #expect(run.status == 0 && run.text == "onetwo", "\(run.everything)")
    }

    /// GNOME Keyring makes a collection after a question in a window alone, so this one is a file in its clear-text format.
    @Test(.enabled(if: hasSecretService, "gnome-keyring, libsecret-tools or dbus is not installed"))
    func secretService_withTwoCollections_isImportedFromBoth() throws {
        let run = try withKeyring(
            before: """
                mkdir -p .local/share/keyrings; chmod 700 .local/share/keyrings
                printf '[keyring]\\ndisplay-name=Work\\n' > .local/share/keyrings/work.keyring
                """,
            """
            printf one | secret-tool store --label=First service svc1 username alice
            printf two | secret-tool store --collection=/org/freedesktop/secrets/collection/work \
                --label=Second service svc2 username bob
            "$CTL" import secret-service > report
            "$CTL" get -s svc1 -a alice; "$CTL" get -s svc2 -a bob
            grep -o "(collection.*" report | sort
            """)
        #expect(
            run.status == 0 && run.text == "onetwo(collection 'Login')\n(collection 'Work')\n", "\(run.everything)")
    }

    @Test func secretService_withoutASessionBus_isUnavailable() throws {
        let run = try tool.run("import", "secret-service")
        #expect(run.status == 13 && run.errors.contains("no session bus"), "\(run.errors)")
    }

    @Test(.enabled(if: Tool.has("dbus-run-session"), "dbus is not installed"))
    func secretService_thatDoesNotRun_isUnavailable() throws {
        // A bus that starts no services.
        let policy = "<allow send_destination='*'/><allow receive_sender='*'/><allow own='*'/>"
        let config =
            "<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen>"
            + "<policy context='default'>\(policy)</policy></busconfig>"
        try Data(config.utf8).write(to: tool.home.appendingPathComponent("bus.conf"))
        let run = try tool.shell("dbus-run-session --config-file bus.conf -- \"$CTL\" import secret-service")
        #expect(run.status == 13 && run.errors.contains("No Secret Service runs"), "\(run.errors)")
    }
}

extension Tool {
    /// Whether a program is installed.
    static func has(_ program: String) -> Bool {
        do {
            return try Tool().shell("command -v \(program)").status == 0
        } catch {
            return false
        }
    }
}
