//! Product names of GPUs.

use std::fmt;

/// A product name reduced to its letters and digits: `RX 7900 XTX`, `rx-7900-xtx` and `rx7900xtx`
/// are one product.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProductName(String);

impl ProductName {
    /// Creates a product name from any spelling.
    pub fn new(text: &str) -> Self {
        Self(
            text.chars()
                .filter(char::is_ascii_alphanumeric)
                .map(|c| c.to_ascii_lowercase())
                .collect(),
        )
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
        for text in ["RX 7900 XTX", "rx-7900-xtx", "Rx_7900xtx"] {
            assert_eq!(ProductName::new(text).to_string(), "rx7900xtx");
        }
        assert_ne!(ProductName::new("rx7900xt"), ProductName::new("rx7900xtx"));
    }
}
