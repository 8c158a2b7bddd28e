//! Selects the proxy for an address.

use crate::proxy::ProxyError;
use crate::{ProxyVariable, variable_value};

/// The proxies named by the usual environment variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxySettings {
    http: Option<ProxyVariable>,
    https: Option<ProxyVariable>,
    /// Hosts that are contacted directly: names, domains and `*`.
    direct: Vec<String>,
}

impl ProxySettings {
    /// Reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`. Lower case takes precedence
    /// over upper case.
    pub fn from_variables<'a>(get: impl Fn(&str) -> Option<&'a str> + Copy) -> Self {
        let direct = variable_value("no_proxy", get).unwrap_or_default();
        Self {
            http: ProxyVariable::from_variables(["http_proxy", "all_proxy"], get),
            https: ProxyVariable::from_variables(["https_proxy", "all_proxy"], get),
            direct: direct
                .split(',')
                .map(|host| host.trim().to_owned())
                .filter(|host| !host.is_empty())
                .collect(),
        }
    }

    /// Returns the proxy for an address, with the exceptions of `no_proxy`.
    pub(super) fn proxy_for(&self, address: &str) -> Result<Option<ureq::Proxy>, ProxyError> {
        let proxy_variable = if address.starts_with("https://") {
            &self.https
        } else {
            &self.http
        };
        let Some(proxy_variable) = proxy_variable else {
            return Ok(None);
        };
        // ureq is built without SOCKS support and panics if it is used.
        if let Some(scheme) = proxy_variable.scheme().filter(|scheme| is_socks(scheme)) {
            return Err(proxy_variable.unsupported(scheme));
        }
        let proxy =
            ureq::Proxy::new(proxy_variable.address()).map_err(|_| proxy_variable.malformed())?;
        let mut with_exceptions = ureq::Proxy::builder(proxy.protocol())
            .host(proxy.host())
            .port(proxy.port());
        if let Some(name) = proxy.username() {
            with_exceptions = with_exceptions.username(name);
        }
        if let Some(password) = proxy.password() {
            with_exceptions = with_exceptions.password(password);
        }
        for host in &self.direct {
            with_exceptions = with_exceptions.no_proxy(host);
        }
        with_exceptions
            .build()
            .map(Some)
            .map_err(|_| proxy_variable.malformed())
    }
}

/// Returns whether a scheme is one of curl's SOCKS schemes: `socks`, `socks4`, `socks4a`, `socks5`,
/// `socks5h`.
fn is_socks(scheme: &str) -> bool {
    scheme
        .get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case("socks"))
}

#[cfg(test)]
mod tests {
    use super::ProxySettings;

    fn of(variables: &[(&str, &str)], address: &str) -> Option<(String, u16)> {
        let get = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| *value)
        };
        let proxy = ProxySettings::from_variables(get)
            .proxy_for(address)
            .unwrap()?;
        Some((proxy.host().to_owned(), proxy.port()))
    }

    #[test]
    fn lower_case_variables_win() {
        let variables = [
            ("http_proxy", "http://a:1"),
            ("HTTP_PROXY", "http://b:2"),
            ("HTTPS_PROXY", "http://c:3"),
        ];
        assert_eq!(of(&variables, "http://x/"), Some(("a".into(), 1)));
        assert_eq!(of(&variables, "https://x/"), Some(("c".into(), 3)));
        assert_eq!(
            of(&[("ALL_PROXY", "http://d:4")], "http://x/"),
            Some(("d".into(), 4))
        );
        assert_eq!(of(&[], "http://x/"), None);
    }

    #[test]
    fn socks_proxies_are_rejected() {
        for scheme in ["socks", "socks4", "SOCKS4A", "socks5", "socks5h"] {
            let text = format!("{scheme}://name:secret@127.0.0.1:1080");
            let proxies = ProxySettings::from_variables(|name| {
                (name == "ALL_PROXY").then_some(text.as_str())
            });
            for address in ["http://x/", "https://x/"] {
                let expected = format!(
                    "`all_proxy` is a `{scheme}:` proxy, but only `http:` proxies are supported"
                );
                let error = proxies.proxy_for(address).unwrap_err();
                assert_eq!(error.to_string(), expected);
            }
            assert!(!format!("{proxies:?}").contains("secret"));
        }
    }

    #[test]
    fn malformed_addresses_are_reported_without_their_value() {
        let bad = ProxySettings::from_variables(|name| {
            (name == "http_proxy").then_some("ftp://name:secret@h")
        });
        let error = bad.proxy_for("http://x/").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the value of `http_proxy` is not the address of a proxy"
        );
    }
}
