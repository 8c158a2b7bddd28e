//! Which proxy an address is fetched through.

/// Proxies as the usual variables name them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    http: Option<String>,
    https: Option<String>,
    /// Hosts that are asked directly: names, domains and `*`.
    direct: Vec<String>,
}

impl Proxies {
    /// Those of `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`; the small spelling wins over the large one.
    pub fn from_variables<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Self {
        let either = |name: &str| get(name).or_else(|| get(&name.to_uppercase())).map(str::to_owned);
        let direct = either("no_proxy").unwrap_or_default();
        Self {
            http: either("http_proxy").or_else(|| either("all_proxy")),
            https: either("https_proxy").or_else(|| either("all_proxy")),
            direct: direct.split(',').map(|host| host.trim().to_owned()).filter(|host| !host.is_empty()).collect(),
        }
    }

    /// The proxy for an address. A value that is no address is told without showing it, for it may hold a password.
    pub(super) fn of(&self, address: &str) -> Result<Option<ureq::Proxy>, String> {
        let (text, variable) =
            if address.starts_with("https://") { (&self.https, "https_proxy") } else { (&self.http, "http_proxy") };
        let Some(text) = text else { return Ok(None) };
        let fault = |_| format!("the value of `{variable}` is not the address of a proxy");
        let proxy = ureq::Proxy::new(text).map_err(fault)?;
        let mut with_exceptions = ureq::Proxy::builder(proxy.protocol()).host(proxy.host()).port(proxy.port());
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

#[cfg(test)]
mod tests {
    use super::Proxies;

    fn of(variables: &[(&str, &str)], address: &str) -> Option<(String, u16)> {
        let get = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let proxy = Proxies::from_variables(get).of(address).unwrap()?;
        Some((proxy.host().to_owned(), proxy.port()))
    }

    #[test]
    fn each_scheme_has_its_variable_and_the_small_spelling_wins() {
        let variables = [("http_proxy", "http://a:1"), ("HTTP_PROXY", "http://b:2"), ("HTTPS_PROXY", "http://c:3")];
        assert_eq!(of(&variables, "http://x/"), Some(("a".into(), 1)));
        assert_eq!(of(&variables, "https://x/"), Some(("c".into(), 3)));
        assert_eq!(of(&[("ALL_PROXY", "http://d:4")], "http://x/"), Some(("d".into(), 4)));
        assert_eq!(of(&[], "http://x/"), None);
    }

    #[test]
    fn a_proxy_that_is_no_address_is_told_without_its_value() {
        let bad = Proxies::from_variables(|name| (name == "http_proxy").then_some("ftp://name:secret@h"));
        let told = bad.of("http://x/").unwrap_err();
        assert_eq!(told, "the value of `http_proxy` is not the address of a proxy");
    }
}
