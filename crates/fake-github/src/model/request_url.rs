//! Request URLs: authority, path segments, and query parameters.

/// A URL in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestUrl {
    /// The scheme and authority: `http://127.0.0.1:8080`.
    pub base: String,
    /// The path as sent.
    pub path: String,
    /// The query as sent, without its `?`.
    pub query: String,
}

impl RequestUrl {
    /// Splits a URL; without a scheme the base is empty.
    pub fn parse(url: &str) -> Self {
        let after_scheme = url.find("://").map_or(0, |at| at + 3);
        let base_end = url[after_scheme..]
            .find(['/', '?'])
            .map_or(url.len(), |at| after_scheme + at);
        let base_end = if after_scheme == 0 { 0 } else { base_end };
        let (base, rest) = url.split_at(base_end);
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        Self {
            base: base.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
        }
    }

    /// Returns the decoded segments of the path, in which `+` is a plus.
    pub fn segments(&self) -> Vec<String> {
        self.path
            .split('/')
            .filter(|piece| !piece.is_empty())
            .map(|piece| decode(piece, false))
            .collect()
    }

    /// Returns the decoded value of a query parameter, in which `+` is a space (WHATWG URL
    /// Standard, "application/x-www-form-urlencoded parsing").
    pub fn query_value(&self, key: &str) -> Option<String> {
        let pair = self
            .query
            .split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        pair.filter(|(name, _)| decode(name, true) == key)
            .map(|(_, value)| decode(value, true))
            .next()
    }
}

/// Decodes percent-encoding; bytes that are not UTF-8 become U+FFFD.
pub fn decode(text: &str, plus_is_space: bool) -> String {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while at < bytes.len() {
        let coded = bytes
            .get(at + 1..at + 3)
            .and_then(|two| std::str::from_utf8(two).ok());
        match (
            bytes[at],
            coded.and_then(|two| u8::from_str_radix(two, 16).ok()),
        ) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 2;
            }
            (b'+', _) if plus_is_space => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Percent-encodes everything except the unreserved characters (RFC 3986, section 2.3).
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::{RequestUrl, decode, encode};

    #[test]
    fn an_address_comes_apart() {
        let address = RequestUrl::parse("http://127.0.0.1:80/repos/o/r?name=a%2Bb&x=1");
        assert_eq!(
            (address.base.as_str(), address.path.as_str()),
            ("http://127.0.0.1:80", "/repos/o/r")
        );
        assert_eq!(address.query_value("name").as_deref(), Some("a+b"));
        assert_eq!(address.query_value("absent"), None);
        assert_eq!(RequestUrl::parse("/only/path").segments(), ["only", "path"]);
        assert_eq!(RequestUrl::parse("http://host").base, "http://host");
    }

    #[test]
    fn a_raw_plus_is_a_space_in_a_query_and_a_plus_in_a_path() {
        assert_eq!(
            RequestUrl::parse("/a+b?name=a+b")
                .query_value("name")
                .as_deref(),
            Some("a b")
        );
        assert_eq!(RequestUrl::parse("/a+b%2B").segments(), ["a+b+"]);
        assert_eq!(decode("%2", true), "%2");
        assert_eq!(decode("%zz%41", true), "%zzA");
    }

    #[test]
    fn what_is_encoded_decodes_to_itself() {
        for text in ["a+b c~(1).whl", "żółw", "%", ""] {
            assert_eq!(decode(&encode(text), true), text);
        }
    }
}
