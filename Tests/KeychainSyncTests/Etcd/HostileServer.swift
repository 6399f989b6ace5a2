// SPDX-License-Identifier: Apache-2.0
// A server for tests that is no etcd.

#if Etcd
    import Foundation
    import KeychainSync
    import SecretMemory

    @testable import KeychainSyncEtcd

    /// Answers each request with what a closure sends. It ends with this object.
    final class HostileServer: Sendable {
        /// What a closure can do with its connection.
        struct Connection {
            fileprivate let descriptor: Int32
            /// Its path and its body.
            let request: (path: String, body: String)

            /// - Returns: `false` if the other side has closed it.
            @discardableResult
            func send(_ bytes: Data) -> Bool {
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes {
                        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else { return false }
                    rest = rest.dropFirst(count)
                }
                return true
            }

            @discardableResult
            func send(_ text: String) -> Bool { send(Data(text.utf8)) }

            func answer(_ body: String, status: String = "200 OK", type: String = "application/json") {
                send("HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }

            /// Closes it without an answer.
            func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

            /// Waits until the other side closes it.
            func awaitEnd() {
                var byte: UInt8 = 0
                while recv(descriptor, &byte, 1, 0) > 0 {}
            }
        }

        let port: Int
        private let listener: Int32

        init(_ answer: @escaping @Sendable (Connection) -> Void) throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in.loopback(0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isListening = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, length) == 0 && listen(listener, 16) == 0
                        && getsockname(listener, $0, &length) == 0
                }
            }
            guard isListening else { throw CocoaError(.fileReadUnknown) }
            (self.listener, port) = (listener, Int(UInt16(bigEndian: address.sin_port)))
            Thread.detachNewThread {
                while true {
                    let descriptor = accept(listener, nil, nil)
                    guard descriptor >= 0 else { break }
                    Thread.detachNewThread {
                        while let request = Self.request(descriptor) {
                            answer(Connection(descriptor: descriptor, request: request))
                        }
                        close(descriptor)
                    }
                }
                close(listener)
            }
        }

        deinit { shutdown(listener, Int32(SHUT_RDWR)) }

        private static func request(_ descriptor: Int32) -> (path: String, body: String)? {
            var (text, piece) = (Data(), [UInt8](repeating: 0, count: 65_536))
            while true {
                if let end = text.firstRange(of: Data("\r\n\r\n".utf8)) {
                    let head = String(decoding: text[..<end.lowerBound], as: UTF8.self)
                    let field = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                    let length = field.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
                    if text.count - end.upperBound >= length {
                        let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
                        return (path, String(decoding: text[end.upperBound...], as: UTF8.self))
                    }
                }
                let count = recv(descriptor, &piece, piece.count, 0)
                guard count > 0, text.count < 8 << 20 else { return nil }
                text += piece[..<count]
            }
        }

        func place(user: String? = nil) throws -> CarrierPlace {
            var place = EtcdPlace(endpoints: try EtcdPlace.endpoints("http://127.0.0.1:\(port)"))
            (place.user, place.password) = (user, user)
            return place.place
        }

        /// Short limits, since much of what it does takes them all.
        static let timing: EtcdTiming = {
            var timing = EtcdTiming()
            (timing.first, timing.whole, timing.silence) = (.milliseconds(300), .seconds(1), .milliseconds(300))
            timing.pauses = (.milliseconds(5), .milliseconds(20))
            return timing
        }()

        /// For a server that answers or closes the connection: what it does is seen, however busy the machine is.
        static let patience: EtcdTiming = {
            var patience = timing
            (patience.first, patience.whole) = (.seconds(600), .seconds(3600))
            return patience
        }()
    }
#endif
