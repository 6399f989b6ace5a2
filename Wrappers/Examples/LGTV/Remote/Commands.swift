// SPDX-License-Identifier: Apache-2.0
// What the remote control can be told.

import ArgumentParser
import Foundation
import LGTVControl

struct Pair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Pair with a TV; somebody has to accept on it.")

    @Option(help: "The address of the TV, as 192.0.2.14.")
    var ip: String

    @Option(help: "Its hardware address, as 02:00:5E:10:00:01; the TV shows it in its network settings.")
    var mac: String

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let manager = connection.manager
        try await Failure.explained { try await manager.connectAsking(ip: ip, mac: mac) }
        print("Paired with the TV at \(ip).")
    }
}

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Connect to the TV, and show its volume.")

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        try await connection.withTV { manager, credentials in
            let volume = try await manager.request("ssap://audio/getVolume", returning: VolumeReport.self)
            print("Connected to the TV at \(credentials.ipAddress). Volume: \(volume.words)")
        }
    }
}

struct Volume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change the volume.", subcommands: [Up.self, Down.self, Set.self, Mute.self])

    struct Up: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "A little louder.")
        @OptionGroup var connection: ConnectionOptions

        func run() async throws {
            try await connection.withTV { manager, _ in try await manager.sendCommand("ssap://audio/volumeUp") }
        }
    }

    struct Down: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "A little softer.")
        @OptionGroup var connection: ConnectionOptions

        func run() async throws {
            try await connection.withTV { manager, _ in try await manager.sendCommand("ssap://audio/volumeDown") }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "To a number from 0 to 100.")
        @Argument var volume: Int
        @OptionGroup var connection: ConnectionOptions

        func validate() throws {
            guard (0...100).contains(volume) else { throw ValidationError("The volume is a number from 0 to 100.") }
        }

        func run() async throws {
            try await connection.withTV { manager, _ in
                try await manager.sendCommand("ssap://audio/setVolume", parameters: ["volume": volume])
            }
        }
    }

    struct Mute: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "No sound, or with --off sound again.")
        @Flag(help: "Sound again.") var off = false
        @OptionGroup var connection: ConnectionOptions

        func run() async throws {
            try await connection.withTV { manager, _ in
                try await manager.sendCommand("ssap://audio/setMute", parameters: ["mute": !off])
            }
        }
    }
}

struct Forget: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Forget the TV and its key.")

    func run() throws {
        let manager = LGTVControlManager.shared
        do {
            try manager.forgetCredentials()
        } catch {
            let reason = manager.lastFailure?.localizedDescription ?? error.localizedDescription
            throw Failure("The credentials could not be removed. \(reason)")
        }
        // What the widget shows is no longer so.
        manager.disconnect()
        print("The TV is forgotten.")
    }
}

/// Televisions tell it in one of two ways.
struct VolumeReport: Decodable {
    struct Nested: Decodable {
        let volume: Int?
        let muteStatus: Bool?
    }

    let volume: Int?
    let muted: Bool?
    let volumeStatus: Nested?

    var words: String {
        let number = (volume ?? volumeStatus?.volume).map { "\($0)" } ?? "not known"
        return number + ((muted ?? volumeStatus?.muteStatus) == true ? ", muted" : "")
    }
}
