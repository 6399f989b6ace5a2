// SPDX-License-Identifier: Apache-2.0
// A known value through the commands that take or give values: it is in no argument, no environment and no file.

import Foundation
import Testing

/// Once the tool has closed itself to the user's other programs, only root's strace sees what it writes. For other users the
/// verbs run without strace: what they leave in files and in messages is examined, and not what they give to programs.
/// One test after the other, because each looks for files of all of them in memory.
@Suite(
    "needle", .serialized,
    .enabled(if: Tool.hasStrace || geteuid() != 0, "strace cannot trace here"))
struct VerbNeedleTests {
    private let tool: Tool
    static let needle = NeedleScript.needle

    init() throws { tool = try Tool() }

    func expectNeedleSeenOnlyWhereItBelongs(_ script: NeedleScript) throws {
        let run = try script.run(tool)
        #expect(run.text == "seen\n", "\(run.everything)")
    }

    // MARK: - Passwords

    /// What the value comes from: files that the commands read.
    private static let sources = """
        printf \(needle) > in/value; printf 'machine n login a password \(needle)\\n' > in/netrc
        printf 'protocol=https\\nhost=g\\nusername=a\\npassword=\(needle)\\n' > in/git
        echo '{"ServerURL":"https://d","Username":"a","Secret":"\(needle)"}' > in/docker
        printf 'add-generic-password -a i -s i -w \(needle)\\nfind-generic-password -s i -w\\n' > in/commands
        printf 'otpauth://totp/\(needle)?secret=JBSWY3DPEHPK3PXP' > in/code
        echo several long words > pass; printf '#!/bin/sh\\ncat > /dev/null\\n' > bin/xclip; chmod +x bin/xclip
        """

    private static let verbs = """
        "$CTL" set -s s -a a < in/value; "$CTL" set -s sudo -a u < in/value; "$CTL" set -s otp -a a < in/code
        "$CTL" get -s s; "$CTL" list --json; "$CTL" search s; "$CTL" set -s s -a a --keep-value --label l
        "$CTL" expire 90d -s s -a a; "$CTL" generate -s g -a a; "$CTL" otp -s otp -a a; "$CTL" move -s s --to-account b
        VISUAL="sed -i s/needle/neeedle/" "$CTL" edit -s s -a b; "$CTL" history -s s; "$CTL" get -s s -a b --history 1; "$CTL" undo -s s -a b
        DISPLAY=:0 "$CTL" copy -s s --clear-after 0; "$CTL" askpass '[sudo] password for u: '
        echo 'x = {{ keychain://sudo/u }}' | "$CTL" inject
        echo 'x = {{ keychain://sudo/u }}' | "$CTL" inject --out clear/out
        echo 'y = {{ keychain://sudo/u }}' | "$CTL" inject --out clear/out --replace
        for verb in store get erase store; do "$CTL" git-credential $verb < in/git; done
        "$CTL" docker-credential store < in/docker; echo https://d | "$CTL" docker-credential get
        "$CTL" docker-credential list; "$CTL" import netrc in/netrc
        "$CTL" security -i < in/commands; "$CTL" security find-generic-password -s i -g 2> /dev/null; "$CTL" security dump-keychain
        "$CTL" export all.age --file-passphrase-fd 3 3< pass
        "$CTL" import-archive all.age --replace --yes --file-passphrase-fd 3 3< pass
        "$CTL" backup copy; "$CTL" restore copy --yes; "$CTL" status; "$CTL" doctor; "$CTL" delete -s s -a b
        """

    @Test func value_throughEveryVerb_isOnlyWhereItBelongs() throws {
        try expectNeedleSeenOnlyWhereItBelongs(
            NeedleScript(
                before: Self.sources, allowed: [.pipe, .fileInMemory, .clear("clear")], verbs: Self.verbs))
    }

    // MARK: - Other files

    private static let files = """
        printf 'https://u:\(needle)@g.example\\n' > in/git-credentials; printf "A='\(needle)'\\n" > in/env
        printf 'machine n login a password \(needle)\\n' > in/netrc; echo 'machine n login a password p' > in/other
        echo '{"auths": {"d.example": {"auth": "Og==", "identitytoken": "\(needle)"},
            "https://e.example/": {"auth": "'$(printf me:\(needle) | base64)'"}}}' > in/docker
        printf '"Group","Title","Username","Password","URL","Notes","TOTP"\\n' > in/keepassxc
        printf '"P","k","u","\(needle)","https://k.example","\(needle)","\(needle)"\\n' >> in/keepassxc
        echo '{"items": [{"type": 1, "name": "b", "notes": "\(needle)", "login": {"uris": [{"uri": "https://b.example"}],
            "username": "u", "password": "\(needle)", "totp": "\(needle)"}, "fields":
            [{"name": "x", "type": 1, "value": "\(needle)"}]}]}' > in/bitwarden
        printf 'Title,Url,Username,Password,OTPAuth,Notes\\nx,o.example,u,\(needle),\(needle),\(needle)\\n' > in/1password
        printf 'url,username,password,httpRealm\\nhttps://f.example,u,\(needle),r\\n' > in/firefox
        printf 'name,url,username,password,note\\nx,https://c.example,u,\(needle),\(needle)\\n' > in/chrome
        printf 'keychain: "k"\\nclass: "genp"\\nattributes:\\n    "acct"<blob>="u"\\n    "svce"<blob>="s"\\n' > in/keychain-dump
        printf 'data:\\n"\(needle)"\\n' >> in/keychain-dump; cp in/netrc in/gone; echo \(needle) > in/bad
        """

    private static let imports = """
        for format in netrc git-credentials docker env keepassxc bitwarden 1password firefox chrome keychain-dump; do
            "$CTL" import $format in/$format --json
        done
        for format in netrc docker keepassxc keychain-dump; do fails "$CTL" import $format in/bad; done
        "$CTL" import netrc in/other --replace; fails "$CTL" import netrc in/netrc
        "$CTL" import bitwarden in/bitwarden --dry-run; "$CTL" import netrc in/gone --replace --remove-source
        "$CTL" export clear/items.json --clear-text json; "$CTL" export clear/items.csv --clear-text csv
        "$CTL" import-archive clear/items.json --yes; "$CTL" get --server n
        """

    @Test func value_ofEachFormatThatIsImported_isOnlyWhereItBelongs() throws {
        try expectNeedleSeenOnlyWhereItBelongs(
            NeedleScript(before: Self.files, allowed: [.clear("clear")], verbs: Self.imports))
    }

    // MARK: - Programs

    /// The programs end with an error unless they have the value.
    private static let programs = """
        printf \(needle) > in/value; echo '{"x": "\(needle)"}' > in/json; echo 'Y=keychain://s/j#x' > in/references
        printf '#!/bin/sh\\ntest "$W" = \(needle) && test "$Y" = "$W"\\n' > in/child
        printf '#!/bin/sh\\ntest "$SWIFTPM_REGISTRY_TOKEN" = \(needle) && test "$SWIFTPM_NETRC_DATA" != "${SWIFTPM_NETRC_DATA%%%%needle*}"\\n' > in/swift
        chmod +x in/child in/swift; echo '{{ keychain://s/a }} {{ keychain://s/none }}' > in/template
        """

    private static let runs = """
        "$CTL" set -s s -a a < in/value; "$CTL" set -s s -a j < in/json
        "$CTL" set --server https://r.example -a token < in/value
        "$CTL" run --env W=keychain://s/a --env-file in/references -- in/child; "$CTL" run --swiftpm -- in/swift
        fails "$CTL" run --env W=keychain://s/a --env V=keychain://s/none -- in/other
        fails "$CTL" inject --in in/template; fails env VISUAL=false "$CTL" edit -s s -a a; "$CTL" get -s s -a a
        """

    @Test func value_forAProgram_isInItsEnvironmentAlone() throws {
        try expectNeedleSeenOnlyWhereItBelongs(
            NeedleScript(
                before: Self.programs,
                allowed: [.fileInMemory, .environment("in/child"), .environment("in/swift")], verbs: Self.runs))
    }
}
