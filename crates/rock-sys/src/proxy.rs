//! Variables that name a proxy.

/// The address of a proxy, and the variable that holds it.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyVariable {
    variable: &'static str,
    text: String,
}

impl ProxyVariable {
    /// Returns the proxy of the first of these variables that is set.
    pub fn from_variables<'a>(
        variables: [&'static str; 2],
        get: impl Fn(&str) -> Option<&'a str> + Copy,
    ) -> Option<Self> {
        variables.into_iter().find_map(|variable| {
            Some(Self {
                variable,
                text: variable_text(variable, get)?,
            })
        })
    }

    /// Returns the address, which may hold a password.
    pub fn address(&self) -> &str {
        &self.text
    }

    /// Returns the scheme, if the address has one.
    pub fn scheme(&self) -> Option<&str> {
        self.text.split_once("://").map(|(scheme, _)| scheme)
    }

    /// Returns the error for a scheme that is not supported.
    pub fn unsupported(&self, scheme: &str) -> String {
        format!(
            "`{}` is a `{scheme}:` proxy, but only `http:` proxies are supported",
            self.variable
        )
    }

    /// Returns the error for an address that cannot be parsed, without the address.
    pub fn malformed(&self) -> String {
        format!(
            "the value of `{}` is not the address of a proxy",
            self.variable
        )
    }
}

impl std::fmt::Debug for ProxyVariable {
    /// Omits the address, which may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.variable)
    }
}

/// Returns the text of a variable in lower case or, if that is not set, in upper case. An empty
/// variable counts as not set (curl's manual, "Environment").
pub fn variable_text<'a>(name: &str, get: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    let set = |name: &str| get(name).filter(|text| !text.trim().is_empty());
    set(name)
        .or_else(|| set(&name.to_uppercase()))
        .map(str::to_owned)
}
