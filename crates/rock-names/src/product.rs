//! Product names of GPUs.

use std::fmt;

/// A product name reduced to its letters and digits, without the vendor: `RX 7900 XTX`,
/// `rx-7900-xtx`, `rx7900xtx` and `AMD RX 7900 XTX` are one product.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProductName(String);

impl ProductName {
    /// Creates a product name from any spelling.
    pub fn new(text: &str) -> Self {
        let name: String = text
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        match name.strip_prefix("amd") {
            Some(product) if !product.is_empty() => Self(product.to_owned()),
            _ => Self(name),
        }
    }

    /// Returns the reduced name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProductName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::ProductName;

    #[test]
    fn spellings_of_one_product_are_equal() {
        for text in [
            "RX 7900 XTX",
            "rx-7900-xtx",
            "Rx_7900xtx",
            "AMD RX 7900 XTX",
        ] {
            assert_eq!(ProductName::new(text).to_string(), "rx7900xtx");
        }
        assert_ne!(ProductName::new("rx7900xt"), ProductName::new("rx7900xtx"));
    }
}
