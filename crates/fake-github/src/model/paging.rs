//! Pagination with the `Link` header.

use super::request::ApiReply;
use super::request_url::RequestUrl;

/// Returns the page and its length in the query: by default 30 items, at most 100 (REST API, "Using
/// pagination in the REST API").
fn requested_page(address: &RequestUrl) -> (usize, usize) {
    let number = |key: &str| {
        address
            .query_value(key)
            .and_then(|text| text.parse::<usize>().ok())
    };
    (
        number("page").unwrap_or(1).max(1),
        number("per_page").unwrap_or(30).clamp(1, 100),
    )
}

/// Returns the requested page of a list, and the `Link` header, whose URLs start with `url`.
///
/// GitHub's links identify a repository by its ID, whatever URL was requested.
pub fn page<T>(items: Vec<T>, address: &RequestUrl, url: &str) -> (Vec<T>, Option<String>) {
    let (page, per_page) = requested_page(address);
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

/// Changes the host of the link to the next page.
pub fn redirect_next_page(reply: &mut ApiReply, from: &str, to: &str) {
    if let Some(link) = reply.get("link").map(|link| link.replace(from, to)) {
        reply.set("link", &link);
    }
}

#[cfg(test)]
mod tests {
    use super::super::request_url::RequestUrl;
    use super::page;

    fn check(query: &str, expect: &[usize], links: Option<&str>) {
        let address = RequestUrl::parse(&format!("http://a/x?{query}"));
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
