//! The TLS configuration: trusted certificates.

use std::sync::LazyLock;

use rustls::crypto::ring::default_provider;
use rustls::{ClientConfig, RootCertStore};

/// Returns the TLS configuration with the trusted root certificates: those of `SSL_CERT_FILE` and
/// `SSL_CERT_DIR`, or else of the system, as for git and curl; Mozilla's if there are none, for
/// example in a container without `ca-certificates`.
///
/// # Errors
/// If certificates are configured but none can be read.
pub(super) fn client_config() -> Result<ClientConfig, String> {
    CLIENT_CONFIG.clone()
}

/// Created once, because reading the certificates of a system is slow.
static CLIENT_CONFIG: LazyLock<Result<ClientConfig, String>> = LazyLock::new(|| {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        if let Some(error) = found.errors.first() {
            return Err(format!("cannot read certificates: {error}"));
        }
        let is_set = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if let Some(name) = ["SSL_CERT_FILE", "SSL_CERT_DIR"].iter().find(is_set) {
            return Err(format!(
                "`{name}` does not refer to certificates in PEM format"
            ));
        }
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    Ok(
        ClientConfig::builder_with_provider(default_provider().into())
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth(),
    )
});
