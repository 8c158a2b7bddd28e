//! Environment variables that name an HTTP proxy.

/// The address of a proxy and the variable that contains it.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyVariable {
    variable: &'static str,
    address: String,
}

/// The error for a proxy that cannot be used.
///
/// It does not contain the address, which may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    /// The proxy does not use plain HTTP.
    #[error("`{variable}` is a `{scheme}:` proxy, but only `http:` proxies are supported")]
    UnsupportedScheme {
        /// The environment variable.
        variable: &'static str,
        /// The scheme of the address.
        scheme: String,
    },
    /// The value is not an address.
    #[error("the value of `{variable}` is not the address of a proxy")]
    MalformedAddress {
        /// The environment variable.
        variable: &'static str,
    },
}

impl ProxyVariable {
    /// Returns the proxy of the first variable that is set. `get` returns the value of a variable.
    pub fn from_variables<'a>(
        variables: [&'static str; 2],
        get: impl Fn(&str) -> Option<&'a str> + Copy,
    ) -> Option<Self> {
        variables.into_iter().find_map(|variable| {
            Some(Self {
                variable,
                address: variable_value(variable, get)?,
            })
        })
    }

    /// Returns the address, which may contain a password.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the scheme of the address, if it has one.
    pub fn scheme(&self) -> Option<&str> {
        self.address.split_once("://").map(|(scheme, _)| scheme)
    }

    /// Returns the error for an unsupported scheme.
    pub fn unsupported(&self, scheme: &str) -> ProxyError {
        ProxyError::UnsupportedScheme {
            variable: self.variable,
            scheme: scheme.to_owned(),
        }
    }

    /// Returns the error for an address that cannot be parsed.
    pub fn malformed(&self) -> ProxyError {
        ProxyError::MalformedAddress {
            variable: self.variable,
        }
    }
}

impl std::fmt::Debug for ProxyVariable {
    /// Omits the address, which may contain a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.variable)
    }
}

/// Returns the value of a variable named in lower case or, if that is unset, in upper case. An
/// empty variable counts as unset (curl(1), "ENVIRONMENT").
pub fn variable_value<'a>(name: &str, get: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    let set = |name: &str| get(name).filter(|text| !text.trim().is_empty());
    set(name)
        .or_else(|| set(&name.to_uppercase()))
        .map(str::to_owned)
}
