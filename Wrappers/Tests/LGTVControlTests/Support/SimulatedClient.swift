// SPDX-License-Identifier: Apache-2.0
// A client of a simulated television, and the frames that are sent to it, including invalid ones.

#if LGTVControl
    import Foundation
    import NIOCore
    import NIOWebSocket

    enum SimulatedFrame: Sendable {
        /// `ID` in it becomes the name of what is answered.
        case text(String)
        case fragments([String])
        case binary([UInt8])
        case ping
        /// The head of a frame that says it is this long, and nothing of it.
        case announced(length: UInt64)
        /// A text of so many bytes.
        case long(Int)
        /// Text that is no UTF-8.
        case brokenText
        /// A fragment of a message that was never begun.
        case strayFragment
        case close
        case drop
    }

    final class SimulatedClient: Sendable {
        private let channel: any Channel

        init(_ channel: any Channel) { self.channel = channel }

        func send(_ frames: [SimulatedFrame], _ id: String = "") {
            for frame in frames { send(frame, id) }
        }

        private func send(_ frame: SimulatedFrame, _ id: String) {
            switch frame {
            case .text(let text): write(.text, Data(text.replacingOccurrences(of: "\"ID\"", with: "\"\(id)\"").utf8))
            case .fragments(let parts):
                for (index, part) in parts.enumerated() {
                    let text = part.replacingOccurrences(of: "ID", with: id)
                    write(index == 0 ? .text : .continuation, Data(text.utf8), isLast: index == parts.count - 1)
                }
            case .binary(let bytes): write(.binary, Data(bytes))
            case .ping: write(.ping, Data("are you there".utf8))
            case .announced(let length): announce(length)
            case .long(let count): write(.text, Data(repeating: UInt8(ascii: "a"), count: count))
            case .brokenText: write(.text, Data([0x7B, 0xFF, 0xFE, 0x7D]))
            case .strayFragment: write(.continuation, Data("}".utf8))
            case .close: write(.connectionClose, Data())
            case .drop: channel.close(promise: nil)
            }
        }

        private func write(_ opcode: WebSocketOpcode, _ bytes: Data, isLast: Bool = true) {
            channel.writeAndFlush(
                WebSocketFrame(fin: isLast, opcode: opcode, data: ByteBuffer(bytes: bytes)), promise: nil)
        }

        /// Behind the encoder, which would write what it announces.
        private func announce(_ length: UInt64) {
            channel.eventLoop.execute { [channel] in
                var bytes = ByteBuffer(bytes: [0x81, 127] as [UInt8])
                bytes.writeInteger(length)
                do {
                    let encoder = try channel.pipeline.syncOperations.context(handlerType: WebSocketFrameEncoder.self)
                    encoder.writeAndFlush(NIOAny(bytes), promise: nil)
                } catch {
                    channel.close(promise: nil)
                }
            }
        }
    }

    final class ClientHandler: ChannelInboundHandler {
        typealias InboundIn = WebSocketFrame

        private let tv: TVSimulator
        private let client: SimulatedClient

        init(_ tv: TVSimulator, _ client: SimulatedClient) { (self.tv, self.client) = (tv, client) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            let text = String(decoding: frame.unmaskedData.readableBytesView, as: UTF8.self)
            switch frame.opcode {
            case .text: tv.hear(text, from: client)
            case .pong: tv.hear("pong: \(text)", from: client)
            case .connectionClose: context.close(promise: nil)
            default: break
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// A message, by the paths of its texts and numbers.
    struct JSONText {
        private let object: [String: Any]

        init?(_ text: String) {
            do {
                guard let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
                    return nil
                }
                self.object = object
            } catch {
                return nil
            }
        }

        subscript(path: String...) -> String? {
            var value: Any? = object
            for key in path { value = (value as? [String: Any])?[key] }
            return (value as? String) ?? (value as? NSNumber).map { "\($0)" }
        }
    }

    extension [String: Any] {
        /// As an answer to a message.
        func frame(id: String) -> SimulatedFrame {
            let message = merging(["id": id]) { $1 }
            guard JSONSerialization.isValidJSONObject(message),
                let bytes = try? JSONSerialization.data(withJSONObject: message, options: [.sortedKeys])
            else { return .drop }
            return .text(String(decoding: bytes, as: UTF8.self))
        }
    }
#endif
