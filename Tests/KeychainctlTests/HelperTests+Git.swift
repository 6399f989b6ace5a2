// SPDX-License-Identifier: Apache-2.0
// helper install and remove for git, and what its configuration does with the helper.

import Foundation
import KeychainTestSupport
import Testing

extension HelperTests {
    private static let hasGit = Programs.installed("git") != nil

    @Test(.enabled(if: hasGit, "git is not installed"))
    func git_installAndRemove_leaveOtherHelpers() throws {
        let before = "[credential]\n\thelper = cache\n\thelper = store --file x\n"
        try Data(before.utf8).write(to: file(".gitconfig"))
        let run = try install("git")
        #expect(run.errors.contains("git also gives each password to: cache, store --file x"))
        #expect(try text(".gitconfig") == before + "\thelper = \(Tool.executable) git-credential\n")
        try remove("git")
        #expect(try text(".gitconfig") == before)
    }

    @Test(.enabled(if: hasGit && Tool.hasPython, "git or python3 is not installed"))
    func git_installedWithSIGCHLDIgnored_hasTheHelper() throws {
        let run = try tool.shellIgnoringSIGCHLD("helper install git --yes")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try text(".gitconfig") == "[credential]\n\thelper = \(Tool.executable) git-credential\n")
    }

    @Test(.enabled(if: hasGit, "git is not installed"))
    func git_afterTheProgramMoved_hasOneHelper() throws {
        try Data("[credential]\n\thelper = /old/bin/keychainctl git-credential\n".utf8).write(to: file(".gitconfig"))
        try install("git")
        #expect(try text(".gitconfig") == "[credential]\n\thelper = \(Tool.executable) git-credential\n")
    }

    @Test(.enabled(if: hasGit, "git is not installed"))
    func git_withABrokenConfiguration_isAnErrorAndLeft() throws {
        try Data("[credential\n".utf8).write(to: file(".gitconfig"))
        #expect(try install("git").status == 17)
        #expect(try text(".gitconfig") == "[credential\n")
    }

    @Test(.enabled(if: hasGit, "git is not installed"))
    func git_withAProgramInAFolderWithSpaces_runsIt() throws {
        let run = try tool.shell(
            """
            mkdir "it's here"; cp "$CTL" "it's here/keychainctl"; "it's here/keychainctl" helper install git --yes 2> log
            printf secret | "$CTL" set --server https://h -a alice
            printf 'protocol=https\\nhost=h\\n\\n' | GIT_TERMINAL_PROMPT=0 git credential fill | tail -n 1
            """)
        #expect(run.text == "password=secret\n", "\(run.everything)")
    }

    /// git would wait for the FIFO, and put a file in the place of a device.
    @Test(
        .enabled(if: hasGit, "git is not installed"),
        arguments: [
            ("GIT_CONFIG_GLOBAL=\"$HOME/pipe\"", "/pipe.*Unset GIT_CONFIG_GLOBAL"),
            ("GIT_CONFIG_GLOBAL=link", "link.*Unset GIT_CONFIG_GLOBAL"),
            ("HOME=\"$HOME/other\"", "/other/.gitconfig.*put a file in its place"),
            ("XDG_CONFIG_HOME=\"$HOME/x\"", "/x/git/config.*put a file in its place"),
        ])
    func git_withAConfigurationThatIsNotAFile_isNotRun(variable: String, advice: String) throws {
        let run = try tool.shell(
            """
            mkfifo pipe; ln -s pipe link; mkdir -p other x/git; mkfifo other/.gitconfig x/git/config
            for verb in install remove; do
                \(variable) timeout 600 "$CTL" helper $verb git --yes 2> log; echo $?; grep -c 'is not a file' log
                grep -c '\(advice)' log
            done
            test -p pipe && test -p other/.gitconfig && test -p x/git/config; echo $?
            """)
        #expect(run.text == "15\n1\n1\n15\n1\n1\n0\n", "\(run.everything)")
    }

    @Test func git_thatIsMissing_isUnavailable() throws {
        var environment = tool.environment
        environment["PATH"] = "/nonexistent"
        #expect(try tool.run("helper", "install", "git", "--yes", environment: environment).status == 13)
    }

    // MARK: - An empty entry

    /// In a repository whose own configuration drops the helpers of the user.
    @Test(.enabled(if: hasGit, "git is not installed"))
    func installGit_whereTheHelpersAreReset_saysSo() throws {
        let run = try tool.shell(
            """
            git init -q repository && cd repository || exit 99
            "$CTL" helper install git --yes 2> first; "$CTL" helper install git --yes 2> second
            git config credential.helper ''; git config --add credential.helper store
            "$CTL" helper install git --yes 2> third
            cat first second third >&2; ! grep Warning first second > found && grep -q Warning third
            """)
        #expect(run.status == 0, "\(run.everything)")
        #expect(run.errors.contains("git already uses the keychain"), "\(run.errors)")
        #expect(run.errors.contains("Your global git configuration already names the keychain"))
        #expect(run.errors.contains("the keychain is set in your global git configuration, but git does not ask it"))
    }

    /// Where the empty entry is, what the advice says, and the commands of the advice.
    private static let resets: [(reset: String, advice: String, repair: String)] = [
        (
            "git config credential.helper ''", "The repository's own configuration resets it",
            "git config --local --unset-all credential.helper '^$'"
        ),
        (
            "git config --global --add credential.helper ''", "In the same file",
            "\"$CTL\" helper remove git --yes; \"$CTL\" helper install git --yes"
        ),
        (
            "git config --file ../other credential.helper ''; git config --global include.path other",
            "/other', which comes after it. Remove that entry",
            "git config --file ../other --unset-all credential.helper"
        ),
    ]

    @Test(.enabled(if: hasGit, "git is not installed"), arguments: resets)
    func installGit_afterTheAdviceWasFollowed_isAsked(reset: String, advice: String, repair: String) throws {
        let run = try tool.shell(
            """
            git init -q repository && cd repository || exit 99
            "$CTL" helper install git --yes 2> first; \(reset); "$CTL" helper install git --yes; { \(repair); } 2> second
            "$CTL" helper install git --yes
            """)
        #expect(run.errors.contains(advice), "\(run.everything)")
        for command in ["git config --local", "helper remove git"] where repair.contains(command) {
            #expect(run.errors.contains(command), "\(run.errors)")
        }
        #expect(run.errors.hasSuffix("git already uses the keychain; nothing was changed.\n"), "\(run.errors)")
    }

    /// The repository drops the helpers before the keychain is set.
    @Test(.enabled(if: hasGit, "git is not installed"))
    func installGit_inARepositoryThatResets_setsItAndWarns() throws {
        let run = try tool.shell(
            """
            git init -q repository && cd repository || exit 99
            git config credential.helper ''; "$CTL" helper install git --yes; echo $?; git config --global --get credential.helper
            """)
        #expect(run.text == "0\n\(Tool.executable) git-credential\n", "\(run.everything)")
        #expect(run.errors.contains("The repository's own configuration resets it with"), "\(run.errors)")
    }

    /// As git does before version 2.26, which does not know the option.
    @Test(.enabled(if: hasGit, "git is not installed"))
    func installGit_whereGitCannotSayWhoIsAsked_claimsNothing() throws {
        let run = try tool.shell(
            """
            mkdir old; git=$(command -v git)
            printf '#!/bin/sh\\ncase "$*" in *--show-scope*) exit 129 ;; esac; exec %s "$@"\\n' "$git" > old/git
            chmod +x old/git; export PATH="$PWD/old:$PATH"
            "$CTL" helper install git --yes 2> first; "$CTL" helper install git --yes
            """)
        #expect(run.status == 0 && run.errors.contains("already names the keychain; nothing was changed"))
        #expect(!run.errors.contains("Warning") && !run.errors.contains("already uses"), "\(run.everything)")
    }
}
