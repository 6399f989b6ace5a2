// SPDX-License-Identifier: Apache-2.0
// Wakes a television that is off.

public import Foundation

#if LGTVControl
    import NIOCore
    import NIOPosix
#endif

/// Why a television was not woken.
public enum WakeOnLANError: Error, Equatable, Sendable {
    /// Not six pairs of hexadecimal digits with `:` or `-` between them.
    case invalidMAC
    /// The packet could not be sent. A sentence says why.
    case sendFailed(String)
}

extension WakeOnLANError: LocalizedError {
    /// The original's texts, because tests and logs of programs contain them.
    public var errorDescription: String? {
        switch self {
        case .invalidMAC: "Invalid MAC address"
        case .sendFailed(let reason): "Wake-on-LAN send failed: \(reason)"
        }
    }

    /// What to do about it; `nil` if the description says everything.
    public var failureReason: String? {
        switch self {
        case .invalidMAC: "An address is written as 02:00:5E:10:00:01 or 02-00-5E-10-00-01."
        case .sendFailed: nil
        }
    }
}

/// Sends the packet at which a sleeping network card wakes its device: six bytes of ones, then its address sixteen
/// times.
///
/// ```swift
/// try await WakeOnLAN().send(macAddress: "02:00:5E:10:00:01")
/// ```
///
/// The packet has no answer, so sending it does not mean that a device has woken.
public final class WakeOnLAN: Sendable {
    private let broadcastAddress: String
    private let port: Int

    /// Sends to port 9 of the local network's broadcast address.
    public convenience init() { self.init(LGTVControlManager.Options()) }

    init(_ options: LGTVControlManager.Options) {
        (broadcastAddress, port) = (options.broadcastAddress, options.wakePort)
    }

    /// Sends the packet to the local network's broadcast address, and to `ipAddress` if it is not `nil`.
    ///
    /// - Parameter ipAddress: The last known address of the device. Some networks do not forward broadcasts.
    /// - Throws: ``WakeOnLANError``; without the trait `LGTVControl` a ``ConnectionError`` that says so.
    public nonisolated(nonsending) func send(macAddress: String, ipAddress: String? = nil) async throws {
        try await send(try MACAddress(macAddress), ipAddress)
    }

    nonisolated(nonsending) func send(_ mac: MACAddress, _ ipAddress: String?) async throws {
        #if LGTVControl
            var problem: (any Error)?
            var isSent = false
            for target in Set([broadcastAddress, ipAddress].compactMap(\.self)) {
                do {
                    try await send(mac.magicPacket, to: target)
                    isSent = true
                } catch let error as CancellationError {
                    throw error
                } catch {
                    problem = error
                }
            }
            if !isSent { throw WakeOnLANError.sendFailed(PrintableText.reason(of: problem)) }
        #else
            throw ConnectionError.withoutTrait
        #endif
    }

    #if LGTVControl
        private nonisolated(nonsending) func send(_ packet: [UInt8], to target: String) async throws {
            let address = try SocketAddress(ipAddress: target, port: port)
            let any = address.protocol == .inet6 ? "::" : "0.0.0.0"
            let sent = DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.socketOption(.so_broadcast), value: 1)
                .bind(host: any, port: 0)
                .flatMap { channel in
                    let envelope = AddressedEnvelope(remoteAddress: address, data: ByteBuffer(bytes: packet))
                    let written = channel.writeAndFlush(envelope)
                    written.whenComplete { _ in channel.close(promise: nil) }
                    return written
                }
            try await sent.value(
                by: .now + .seconds(2), late: ConnectionError(.timedOut, "The network did not accept the packet."))
        }
    #endif
}
