//! Which proxy an address is fetched through.

use crate::{ProxyVariable, variable_text};

/// Proxies as the usual variables name them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxySettings {
    http: Option<ProxyVariable>,
    https: Option<ProxyVariable>,
    /// Hosts that are asked directly: names, domains and `*`.
    direct: Vec<String>,
}

impl ProxySettings {
    /// Reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`. Lower case takes precedence
    /// over upper case.
    pub fn from_variables<'a>(get: impl Fn(&str) -> Option<&'a str> + Copy) -> Self {
        let direct = variable_text("no_proxy", get).unwrap_or_default();
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

    /// Returns the proxy for an address.
    pub(super) fn of(&self, address: &str) -> Result<Option<ureq::Proxy>, String> {
        let named = if address.starts_with("https://") {
            &self.https
        } else {
            &self.http
        };
        let Some(named) = named else { return Ok(None) };
        let fault = |_| named.malformed();
        // ureq is built without SOCKS, and panics where it is asked for it.
        if let Some(scheme) = named.scheme().filter(|scheme| is_socks(scheme)) {
            return Err(named.unsupported(scheme));
        }
        let proxy = ureq::Proxy::new(named.address()).map_err(fault)?;
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
        with_exceptions.build().map(Some).map_err(fault)
    }
}

/// Whether an address is that of a SOCKS proxy, as curl writes it: `socks`, `socks4`, `socks4a`,
/// `socks5`, `socks5h`.
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
        let proxy = ProxySettings::from_variables(get).of(address).unwrap()?;
        Some((proxy.host().to_owned(), proxy.port()))
    }

    #[test]
    fn each_scheme_has_its_variable_and_the_small_spelling_wins() {
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
    fn a_socks_proxy_is_refused_and_not_asked() {
        for scheme in ["socks", "socks4", "SOCKS4A", "socks5", "socks5h"] {
            let text = format!("{scheme}://name:secret@127.0.0.1:1080");
            let proxies = ProxySettings::from_variables(|name| {
                (name == "ALL_PROXY").then_some(text.as_str())
            });
            for address in ["http://x/", "https://x/"] {
                let told = format!(
                    "`all_proxy` is a `{scheme}:` proxy, but only `http:` proxies are supported"
                );
                assert_eq!(proxies.of(address), Err(told));
            }
            assert!(!format!("{proxies:?}").contains("secret"));
        }
    }

    #[test]
    fn a_proxy_that_is_no_address_is_told_without_its_value() {
        let bad = ProxySettings::from_variables(|name| {
            (name == "http_proxy").then_some("ftp://name:secret@h")
        });
        let told = bad.of("http://x/").unwrap_err();
        assert_eq!(
            told,
            "the value of `http_proxy` is not the address of a proxy"
        );
    }
}
