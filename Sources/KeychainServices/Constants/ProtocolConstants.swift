// SPDX-License-Identifier: Apache-2.0
// Values of `kSecAttrProtocol`.

// `nonisolated(unsafe)` is safe here: each constant is an immutable string literal that is never reassigned.

#if os(Linux)
    public import Foundation

    /// FTP; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolFTP: CFString = "ftp "

    /// An account on an FTP server; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolFTPAccount: CFString = "ftpa"

    /// HTTP; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolHTTP: CFString = "http"

    /// IRC; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolIRC: CFString = "irc "

    /// NNTP, network news; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolNNTP: CFString = "nntp"

    /// POP3 mail retrieval; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolPOP3: CFString = "pop3"

    /// SMTP mail submission; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolSMTP: CFString = "smtp"

    /// SOCKS proxy; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolSOCKS: CFString = "sox "

    /// IMAP mail access; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolIMAP: CFString = "imap"

    /// LDAP directory; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolLDAP: CFString = "ldap"

    /// AFP over AppleTalk; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolAppleTalk: CFString = "atlk"

    /// AFP over TCP; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolAFP: CFString = "afp "

    /// Telnet; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolTelnet: CFString = "teln"

    /// SSH; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolSSH: CFString = "ssh "

    /// FTP over TLS; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolFTPS: CFString = "ftps"

    /// HTTP over TLS; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolHTTPS: CFString = "htps"

    /// HTTP proxy; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolHTTPProxy: CFString = "htpx"

    /// HTTPS proxy; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolHTTPSProxy: CFString = "htsx"

    /// FTP proxy; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolFTPProxy: CFString = "ftpx"

    /// SMB file sharing; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolSMB: CFString = "smb "

    /// RTSP media streaming; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolRTSP: CFString = "rtsp"

    /// RTSP proxy; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolRTSPProxy: CFString = "rtsx"

    /// DAAP music sharing; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolDAAP: CFString = "daap"

    /// Remote Apple events; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolEPPC: CFString = "eppc"

    /// IPP printing; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolIPP: CFString = "ipp "

    /// NNTP over TLS; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolNNTPS: CFString = "ntps"

    /// LDAP over TLS; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolLDAPS: CFString = "ldps"

    /// Telnet over TLS; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolTelnetS: CFString = "tels"

    /// IMAP over TLS; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolIMAPS: CFString = "imps"

    /// IRC over TLS; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolIRCS: CFString = "ircs"

    /// POP3 over TLS; a value of `kSecAttrProtocol`.
    nonisolated(unsafe) public let kSecAttrProtocolPOP3S: CFString = "pops"
#endif
