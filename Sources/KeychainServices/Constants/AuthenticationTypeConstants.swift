// SPDX-License-Identifier: Apache-2.0
// Values of `kSecAttrAuthenticationType`.

// `nonisolated(unsafe)` is safe here: each constant is an immutable string literal that is never reassigned.

#if os(Linux)
    public import Foundation

    /// Windows NT LAN Manager; a value of `kSecAttrAuthenticationType`.
    nonisolated(unsafe) public let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"

    /// Microsoft Network; a value of `kSecAttrAuthenticationType`.
    nonisolated(unsafe) public let kSecAttrAuthenticationTypeMSN: CFString = "msna"

    /// Distributed Password Authentication; a value of `kSecAttrAuthenticationType`.
    nonisolated(unsafe) public let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"

    /// Remote Password Authentication; a value of `kSecAttrAuthenticationType`.
    nonisolated(unsafe) public let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"

    /// HTTP Basic; a value of `kSecAttrAuthenticationType`.
    nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"

    /// HTTP Digest; a value of `kSecAttrAuthenticationType`.
    nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"

    /// A form on a web page; a value of `kSecAttrAuthenticationType`.
    nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"

    /// The server's default; a value of `kSecAttrAuthenticationType`.
    nonisolated(unsafe) public let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
#endif
