// SPDX-License-Identifier: Apache-2.0
// The remote control: its commands, and how each of them ends.

import ArgumentParser
import Foundation
import LGTVControl

@main
struct Remote: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lgtv-remote",
        abstract: "Control an LG TV.",
        discussion: "The key by which the TV knows this program is kept in your keychain, and never shown.",
        subcommands: [Pair.self, Status.self, Volume.self, Forget.self])
}

/// Where the television listens, should it not be where all do.
struct ConnectionOptions: ParsableArguments {
    @Option(help: "The port of open connections.")
    var port = 3000

    @Option(help: "The port of encrypted connections.")
    var tlsPort = 3001

    @Option(help: "Where the packet goes that wakes the TV, besides its own address.")
    var broadcast = "255.255.255.255"

    @Option(help: "How many seconds each step may take, the wait for somebody to accept among them.")
    var timeout: Int?

    func validate() throws {
        guard [port, tlsPort].allSatisfy({ (1...65_535).contains($0) }) else {
            throw ValidationError("A port is a number from 1 to 65535.")
        }
        guard (1...86_400).contains(timeout ?? 1) else {
            throw ValidationError("A timeout is a number of seconds from 1 to 86400.")
        }
    }

    var manager: LGTVControlManager {
        var options = LGTVControlManager.Options()
        (options.port, options.tlsPort, options.broadcastAddress) = (port, tlsPort, broadcast)
        if let limit = timeout.map({ Duration.seconds($0) }) {
            (options.connectTimeout, options.attemptTimeout) = (limit, limit)
            (options.promptTimeout, options.requestTimeout) = (limit, limit)
        }
        return LGTVControlManager(options: options)
    }

    /// Connects to the television that was paired with, and leaves it again.
    func withTV(_ body: (LGTVControlManager, TVCredentials) async throws -> Void) async throws {
        let manager = manager
        try await Failure.explained {
            guard let credentials = try manager.stored() else {
                throw Failure("No TV is paired. Pair with one first: lgtv-remote pair --ip … --mac …")
            }
            try await manager.connectAsking(ip: credentials.ipAddress, mac: credentials.macAddress)
            try await body(manager, credentials)
        }
    }
}

/// What went wrong, in a sentence.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    static func explained(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let failure as Failure {
            throw failure
        } catch {
            let reason = (error as? any LocalizedError)?.failureReason
            throw Failure(reason.map { "\(error.localizedDescription): \($0)" } ?? error.localizedDescription)
        }
    }
}

extension LGTVControlManager {
    /// With what the keychain has to say, where it cannot be read.
    func stored() throws -> TVCredentials? {
        do {
            return try storedCredentials()
        } catch {
            throw Failure(
                "The credentials could not be read. \(lastFailure?.localizedDescription ?? error.localizedDescription)")
        }
    }

    /// Tells the person in front of the television what it waits for.
    func connectAsking(ip: String, mac: String) async throws {
        let updates = statusUpdates
        let telling = Task {
            for await status in updates where status == .pairingRequired(code: nil) {
                print("Accept the request on the TV.")
                fflush(nil)
            }
        }
        defer { telling.cancel() }
        guard let code = try await connect(ip: ip, mac: mac) else { return }
        print(
            code.isEmpty ? "Enter the code that the TV shows:" : "Enter the code \(code), if the TV shows it as well:")
        fflush(nil)
        guard let entered = readLine(), !entered.isEmpty else { throw Failure("No code was entered.") }
        try await submitPairingCode(entered)
    }
}
