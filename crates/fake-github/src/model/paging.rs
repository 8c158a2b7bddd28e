//! Lists in pages, with the `Link` header.

use super::address::Address;
use super::request::Reply;

/// Page and length, as the query asks: 30 a page unless told, 100 at most
/// (REST API, "Using pagination in the REST API").
fn asked(address: &Address) -> (usize, usize) {
    let number = |key: &str| {
        address
            .asked(key)
            .and_then(|text| text.parse::<usize>().ok())
    };
    (
        number("page").unwrap_or(1).max(1),
        number("per_page").unwrap_or(30).clamp(1, 100),
    )
}

/// The part of a list that the query asks for, and the `Link` header, whose addresses begin with
/// `url`.
///
/// GitHub's links name a repository by its number, whatever the request said.
pub fn page<T>(items: Vec<T>, address: &Address, url: &str) -> (Vec<T>, Option<String>) {
    let (page, per_page) = asked(address);
    let last = items.len().div_ceil(per_page).max(1);
    let link =
        |to: usize, rel: &str| format!("<{url}?per_page={per_page}&page={to}>; rel=\"{rel}\"");
    let mut links = Vec::new();
    if page > 1 {
        links.push(link((page - 1).min(last), "prev"));
    }
    if page < last {
        links.push(link(page + 1, "next"));
        links.push(link(last, "last"));
    }
    if page > 1 {
        links.push(link(1, "first"));
    }
    let part = items
        .into_iter()
        .skip((page - 1).saturating_mul(per_page))
        .take(per_page)
        .collect();
    (part, (!links.is_empty()).then(|| links.join(", ")))
}

/// Makes the next page one of another host.
pub fn next_elsewhere(reply: &mut Reply, from: &str, to: &str) {
    if let Some(link) = reply.get("link").map(|link| link.replace(from, to)) {
        reply.set("link", &link);
    }
}

#[cfg(test)]
mod tests {
    use super::super::address::Address;
    use super::page;

    fn check(query: &str, expect: &[usize], links: Option<&str>) {
        let address = Address::of(&format!("http://a/x?{query}"));
        let (items, link) = page((0..5).collect(), &address, "http://a/x");
        assert_eq!(
            (items.as_slice(), link.as_deref()),
            (expect, links),
            "{query}"
        );
    }

    #[test]
    fn pages_link_to_their_neighbours_and_to_the_ends() {
        let both = "<http://a/x?per_page=2&page=1>; rel=\"prev\", <http://a/x?per_page=2&page=3>; rel=\"next\", \
                    <http://a/x?per_page=2&page=3>; rel=\"last\", <http://a/x?per_page=2&page=1>; rel=\"first\"";
        check("per_page=2&page=2", &[2, 3], Some(both));
        check("per_page=500", &[0, 1, 2, 3, 4], None);
        check("", &[0, 1, 2, 3, 4], None);
        check(
            "page=0&per_page=0",
            &[0],
            Some(
                "<http://a/x?per_page=1&page=2>; rel=\"next\", <http://a/x?per_page=1&page=5>; rel=\"last\"",
            ),
        );
    }

    #[test]
    fn a_page_past_the_end_is_empty() {
        check(
            "page=9",
            &[],
            Some(
                "<http://a/x?per_page=30&page=1>; rel=\"prev\", <http://a/x?per_page=30&page=1>; rel=\"first\"",
            ),
        );
    }
}
