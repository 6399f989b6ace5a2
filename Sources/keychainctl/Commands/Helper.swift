// SPDX-License-Identifier: Apache-2.0
// keychainctl helper: lets git, docker and ssh use the keychain.

import ArgumentParser
import Foundation
import KeychainKit

extension Keychainctl {
    struct Helper: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "helper",
            abstract: "Let git, docker or ssh use the keychain.",
            usage: "keychainctl helper (install | remove) (git | docker | ssh) [--yes]",
            discussion: """
                The change is shown first, and made after you confirm it.

                git: adds this program to credential.helper of your global configuration.
                docker: adds credsStore to config.json, and a link to this program in ~/.local/bin, which \
                must be on the PATH.
                ssh: makes a link in ~/.local/bin, and a file in environment.d of your configuration, \
                which systemd reads when you log in. For other shells, the lines for the profile are \
                printed. Lines that you add to the file stay when it is removed.

                EXAMPLES
                  keychainctl helper install git
                  keychainctl helper install docker --yes
                  keychainctl helper remove ssh
                """,
            subcommands: [Install.self, Remove.self])
    }
}

enum HelpedProgram: String, CaseIterable, ExpressibleByArgument {
    case git, docker, ssh
}

extension Keychainctl.Helper {
    struct Install: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "install",
            abstract: "Change the configuration of a program, so that it uses the keychain.",
            usage: "keychainctl helper install (git | docker | ssh) [--yes]",
            discussion: """
                EXAMPLES
                  keychainctl helper install git
                """)

        @Argument(help: "git, docker or ssh.")
        var program: HelpedProgram

        @OptionGroup var confirmation: Confirmation

        func run() throws {
            let path = try UnitStart.programPath()
            guard access(path, X_OK) == 0 else {
                throw KeychainError(.unavailable, "This program is no longer at '\(path)'. Start the new one.")
            }
            switch program {
            case .git: try installGit(path)
            case .docker: try installDocker(path)
            case .ssh: try installSSH(path)
            }
        }

        private func installGit(_ path: String) throws(KeychainError) {
            let (helper, present) = (GitConfiguration.command(path), try GitConfiguration.helpers())
            let outdated = present.filter { GitConfiguration.isOwn($0) && $0 != helper }
            guard !present.contains(helper) || !outdated.isEmpty else {
                return try Self.tellOfUnchanged(helper)
            }
            for old in outdated { Output.note("To be removed from your git configuration: credential.helper = \(old)") }
            Output.note("To be added to your git configuration: credential.helper = \(helper)")
            try confirmation.ask("Your global git configuration will be changed.")
            if !present.contains(helper) { try GitConfiguration.add(helper) }
            for old in outdated { try GitConfiguration.remove(old) }
            if case .dropped(let advice) = try GitConfiguration.use(of: helper) { Self.warn(advice) }
            let others = present.filter { !GitConfiguration.isOwn($0) && !$0.isEmpty }
            guard !others.isEmpty else { return }
            Output.note(
                "git also gives each password to: \(others.joined(separator: ", ")). To see where that is set: "
                    + "git config --show-origin --get-all credential.helper")
        }

        private static func tellOfUnchanged(_ helper: String) throws(KeychainError) {
            let use = try GitConfiguration.use(of: helper)
            if case .asked = use { return Output.note("git already uses the keychain; nothing was changed.") }
            Output.note("Your global git configuration already names the keychain; nothing was changed.")
            if case .dropped(let advice) = use { warn(advice) }
        }

        private static func warn(_ advice: String) {
            Output.complain(
                "Warning: the keychain is set in your global git configuration, but git does not ask it in this folder. "
                    + advice)
        }

        private func installDocker(_ path: String) throws(KeychainError) {
            let configuration = try DockerConfiguration()
            let link = try ProgramLink(.docker, to: path)
            let needsLink = ProgramLink.found(.docker, path) == nil
            guard configuration.current == nil || configuration.isInstalled else {
                throw KeychainError(
                    .duplicateItem,
                    "'\(configuration.file.path)' names another helper, and docker would not find its passwords any more. "
                        + "Nothing was changed. Log out with docker, remove credsStore from the file, and try again.")
            }
            if needsLink { try link.check() }
            guard needsLink && !link.leadsHere || !configuration.isInstalled else {
                Output.note("docker already uses the keychain; nothing was changed.")
                return tellAboutPath(needsLink ? link : nil)
            }
            if needsLink, !link.leadsHere { Output.note("Link to be made: \(link.path) -> \(path)") }
            if !configuration.isInstalled {
                Output.note("To be added to '\(configuration.file.path)': \(DockerConfiguration.member)")
            }
            try confirmation.ask("The configuration of docker will be changed.")
            if needsLink { try link.make() }
            if !configuration.isInstalled { try configuration.add() }
            tellAboutPath(needsLink ? link : nil)
            guard !configuration.plainServers.isEmpty else { return }
            Output.note(
                "The file still contains passwords in plain text. To move each of them, use docker login again for: "
                    + configuration.plainServers.joined(separator: ", "))
        }

        private func installSSH(_ path: String) throws(KeychainError) {
            let environment = try SSHEnvironment(path)
            let found = try environment.checked()
            let text = environment.added(to: found)
            try environment.link.check()
            if found == text, environment.link.leadsHere {
                Output.note("ssh already uses the keychain; nothing was changed.")
            } else {
                Output.note("Link to be made: \(environment.link.path) -> \(path)")
                Output.note("To be written to '\(environment.file.path)':\n" + environment.text)
                try confirmation.ask("The environment of your sessions will be changed.")
                try environment.link.make()
                if found != text { try environment.file.replace(found, by: text, mode: 0o644) }
            }
            Output.note(
                "It takes effect when systemd starts your next session. A shell that is started otherwise, for example by "
                    + "sshd, needs these lines in its profile:\n" + environment.exports)
        }

        private func tellAboutPath(_ link: ProgramLink?) {
            guard let link, !link.isOnPath else { return }
            Output.complain(
                "Warning: the folder of '\(link.path)' is not on the PATH, so docker does not find the link. Add it to the "
                    + "PATH in the profile of your shell.")
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Undo what `install` did. The passwords stay in the keychain.",
            usage: "keychainctl helper remove (git | docker | ssh) [--yes]",
            discussion: """
                EXAMPLES
                  keychainctl helper remove git
                """)

        @Argument(help: "git, docker or ssh.")
        var program: HelpedProgram

        @OptionGroup var confirmation: Confirmation

        func run() throws {
            let path = try UnitStart.programPath()
            switch program {
            case .git: try removeGit()
            case .docker: try removeDocker(path)
            case .ssh: try removeSSH(path)
            }
        }

        private func removeGit() throws(KeychainError) {
            let own = Swift.Set(try GitConfiguration.helpers().filter(GitConfiguration.isOwn)).sorted()
            guard !own.isEmpty else { return Self.tellNothing("git") }
            for helper in own {
                Output.note("To be removed from your git configuration: credential.helper = \(helper)")
            }
            try confirmation.ask("Your global git configuration will be changed.")
            for helper in own { try GitConfiguration.remove(helper) }
        }

        private func removeDocker(_ path: String) throws(KeychainError) {
            let configuration = try DockerConfiguration()
            let link = try ProgramLink(.docker, to: path)
            let registries = configuration.ownRegistries
            guard configuration.isInstalled || link.isOwn || !registries.isEmpty else {
                return Self.tellNothing("docker")
            }
            if configuration.isInstalled {
                Output.note("To be removed from '\(configuration.file.path)': \(DockerConfiguration.member)")
            }
            if !registries.isEmpty {
                Output.note(
                    "Its credHelpers for these registries will be removed too: \(registries.joined(separator: ", "))")
            }
            if link.isOwn { Output.note("Link to be removed: \(link.path)") }
            try confirmation.ask("The configuration of docker will be changed.")
            try configuration.remove()
            try link.remove()
        }

        private func removeSSH(_ path: String) throws(KeychainError) {
            let environment = try SSHEnvironment(path)
            let found = try environment.checked()
            let rest = found.flatMap(environment.removed)
            guard found != nil || environment.link.isOwn else { return Self.tellNothing("ssh") }
            if rest != nil {
                Output.note(
                    "The lines of this program will be removed from '\(environment.file.path)'. The file stays, because "
                        + "it has other lines.")
            } else if found != nil {
                Output.note("File to be removed: \(environment.file.path)")
            }
            if environment.link.isOwn { Output.note("Link to be removed: \(environment.link.path)") }
            try confirmation.ask("The environment of your sessions will be changed.")
            if let rest {
                try environment.file.replace(found, by: rest, mode: 0o644)
            } else if found != nil {
                try environment.file.remove(found)
            }
            try environment.link.remove()
            Output.note("If you added lines to the profile of a shell, remove them too.")
        }

        private static func tellNothing(_ program: String) {
            Output.note("The configuration of \(program) does not name the keychain; nothing was changed.")
        }
    }
}
