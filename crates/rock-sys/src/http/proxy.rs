//! Selects the proxy for a URL.

use http::Uri;
use http::uri::Authority;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

use super::is_loopback;
use crate::proxy::ProxyError;
use crate::{ProxyVariable, variable_value};

/// The proxies that the usual environment variables name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxySettings {
    http: Option<ProxyVariable>,
    https: Option<ProxyVariable>,
    /// Hosts that are connected to directly, separated by commas: names, domains and `*`.
    no_proxy: String,
}

impl ProxySettings {
    /// Reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`. Lower case takes precedence
    /// over upper case. `get` returns the value of a variable.
    pub fn from_variables<'a>(get: impl Fn(&str) -> Option<&'a str> + Copy) -> Self {
        Self {
            http: ProxyVariable::from_variables(["http_proxy", "all_proxy"], get),
            https: ProxyVariable::from_variables(["https_proxy", "all_proxy"], get),
            no_proxy: variable_value("no_proxy", get).unwrap_or_default(),
        }
    }

    /// Returns the proxy for a URL. This machine and the hosts of `no_proxy` are connected to
    /// directly.
    ///
    /// # Errors
    /// If the proxy cannot be used.
    pub(super) fn proxy_for(&self, uri: &Uri) -> Result<Option<Intercept>, ProxyError> {
        let variable = if uri.scheme_str() == Some("https") {
            &self.https
        } else {
            &self.http
        };
        let Some(variable) = variable else {
            return Ok(None);
        };
        if uri.host().is_some_and(is_loopback) {
            return Ok(None);
        }
        let error = error_of(variable);
        // The matcher ignores an invalid address, and would connect directly.
        let address = if error.is_some() {
            "http://unusable.invalid"
        } else {
            variable.address()
        };
        let matcher = Matcher::builder()
            .all(address.to_owned())
            .no(self.no_proxy.clone())
            .build();
        match (matcher.intercept(uri), error) {
            (Some(_), Some(error)) => Err(error),
            (proxy, _) => Ok(proxy),
        }
    }
}

/// Returns why a proxy cannot be used, if so.
fn error_of(proxy: &ProxyVariable) -> Option<ProxyError> {
    let is_http = |scheme: &&str| scheme.eq_ignore_ascii_case("http");
    if let Some(scheme) = proxy.scheme().filter(|scheme| !is_http(scheme)) {
        return Some(proxy.unsupported(scheme));
    }
    let address = proxy.address();
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let is_address = format!("http://{rest}").parse::<Uri>().is_ok_and(|uri| {
        let authority = uri.authority().map_or("", Authority::as_str);
        let address = authority
            .rsplit_once('@')
            .map_or(authority, |(_, address)| address);
        let host = uri.host().unwrap_or_default();
        // `Uri` accepts a port above 65535, and then returns none.
        let is_port = |port: &str| {
            port.strip_prefix(':')
                .is_some_and(|port| port.parse::<u16>().is_ok())
        };
        !host.is_empty()
            && address
                .strip_prefix(host)
                .is_some_and(|port| port.is_empty() || is_port(port))
    });
    (!is_address).then(|| proxy.malformed())
}

#[cfg(test)]
mod tests {
    use super::ProxySettings;

    fn settings(variables: &[(&str, &str)]) -> ProxySettings {
        ProxySettings::from_variables(|name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| *value)
        })
    }

    fn proxy_of(variables: &[(&str, &str)], address: &str) -> Option<String> {
        let proxy = settings(variables)
            .proxy_for(&address.parse().unwrap())
            .unwrap()?;
        proxy.uri().authority().map(ToString::to_string)
    }

    #[test]
    fn lower_case_variables_win() {
        let variables = [
            ("http_proxy", "http://a:1"),
            ("HTTP_PROXY", "http://b:2"),
            ("HTTPS_PROXY", "http://c:3"),
        ];
        assert_eq!(proxy_of(&variables, "http://x/").as_deref(), Some("a:1"));
        assert_eq!(proxy_of(&variables, "https://x/").as_deref(), Some("c:3"));
        let all = [("ALL_PROXY", "http://d:4")];
        assert_eq!(proxy_of(&all, "http://x/").as_deref(), Some("d:4"));
        assert_eq!(proxy_of(&all, "https://x/").as_deref(), Some("d:4"));
        assert_eq!(proxy_of(&[], "http://x/"), None);
    }

    #[test]
    fn excepted_hosts_and_this_machine_are_connected_to_directly() {
        let variables = [
            ("HTTPS_PROXY", "http://me:secret@proxy.example.com:3128"),
            ("HTTP_PROXY", "http://proxy.example.com:3128"),
            ("NO_PROXY", "internal.example.com,.corp.example.com"),
        ];
        assert_eq!(
            proxy_of(&variables, "https://api.github.com/x").as_deref(),
            Some("proxy.example.com:3128")
        );
        for direct in [
            "https://internal.example.com/x",
            "https://a.corp.example.com/x",
            "https://localhost/x",
            "https://127.0.0.1:8/x",
            "https://[::1]:8/x",
            "http://127.0.0.1:8/x",
        ] {
            assert_eq!(proxy_of(&variables, direct), None, "{direct}");
        }
        let no_proxy = [("NO_PROXY", "*"), variables[0]];
        assert_eq!(proxy_of(&no_proxy, "https://api.github.com"), None);
    }

    #[test]
    fn socks_proxies_are_rejected() {
        for scheme in ["socks", "socks4", "SOCKS4A", "socks5", "socks5h"] {
            let text = format!("{scheme}://name:secret@127.0.0.1:1080");
            let proxies = settings(&[("ALL_PROXY", &text)]);
            for address in ["http://x/", "https://x/"] {
                let expected = format!(
                    "`all_proxy` is a `{scheme}:` proxy, but only `http:` proxies are supported"
                );
                let error = proxies.proxy_for(&address.parse().unwrap()).unwrap_err();
                assert_eq!(error.to_string(), expected);
            }
            assert!(!format!("{proxies:?}").contains("secret"));
        }
    }

    #[test]
    fn malformed_addresses_are_reported_without_their_value() {
        for address in [":::", "http://name:secret@h:99999"] {
            let proxies = settings(&[("http_proxy", address)]);
            let error = proxies
                .proxy_for(&"http://x/".parse().unwrap())
                .unwrap_err();
            assert_eq!(
                error.to_string(),
                "the value of `http_proxy` is not the address of a proxy"
            );
        }
    }
}
