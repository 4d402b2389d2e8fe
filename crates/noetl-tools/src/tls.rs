//! TLS for everything that connects: whom to trust, with one set of ciphers.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use noetl_types::{ErrorKind, ToolError};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

/// Which servers to believe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust<'a> {
    /// Those that the system's certificates vouch for.
    System,
    /// Those that the certificates in this file vouch for.
    File(&'a Path),
    /// Any server: the connection is private, but nobody knows with whom.
    Anyone,
}

pub fn client_config(trust: Trust<'_>) -> Result<ClientConfig, ToolError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("the ring provider supports the default versions");
    let builder = match trust {
        Trust::System => builder.with_root_certificates(system_roots()?.clone()),
        Trust::File(path) => builder.with_root_certificates(roots_in(path)?),
        Trust::Anyone => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(BelieveAnyone(provider)))
        }
    };
    Ok(builder.with_no_client_auth())
}

fn system_roots() -> Result<&'static Arc<RootCertStore>, ToolError> {
    static ROOTS: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    let roots = ROOTS.get_or_init(|| {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Arc::new(store)
    });
    if roots.is_empty() {
        let message = "this machine has no trusted TLS certificates; install its ca-certificates package or set \
                       SSL_CERT_FILE";
        return Err(ToolError::new(ErrorKind::Config, message));
    }
    Ok(roots)
}

fn roots_in(path: &Path) -> Result<RootCertStore, ToolError> {
    let fault = |what: String| {
        ToolError::new(ErrorKind::Config, format!("the TLS certificates in {} {what}", path.display()))
    };
    let mut store = RootCertStore::empty();
    let certificates =
        CertificateDer::pem_file_iter(path).map_err(|error| fault(format!("cannot be read: {error}")))?;
    store.add_parsable_certificates(certificates.filter_map(Result::ok));
    if store.is_empty() { Err(fault("hold no certificate".to_owned())) } else { Ok(store) }
}

/// Checks the handshake's signatures but not who signed.
#[derive(Debug)]
struct BelieveAnyone(Arc<CryptoProvider>);

impl ServerCertVerifier for BelieveAnyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
