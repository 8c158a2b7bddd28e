//! Families of GPU targets on the command line.

use rock_compat::rows::FamilyRow;

/// Splits a list at commas and semicolons, and skips empty items.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';'])
        .map(str::trim)
        .filter(|word| !word.is_empty())
}

/// Returns the gfx target of a target ID, without its features. Artifacts for `gfx942` and for
/// `gfx942:xnack+` are used together: asking for one includes the other (ROCm/TheRock,
/// `build_tools/fetch_artifacts.py`).
pub fn base_target(word: &str) -> &str {
    word.split(':').next().unwrap_or_default()
}

/// Expands a list of families, separated by commas or semicolons, to gfx targets in list order
/// without duplicates. A gfx target is accepted as a family of one.
///
/// # Errors
/// Returns the unknown items, in list order.
pub fn expand(text: &str, rows: &[FamilyRow]) -> Result<Vec<String>, Vec<String>> {
    let (mut targets, mut unknown): (Vec<String>, Vec<String>) = Default::default();
    for word in words(text).map(base_target) {
        let own = [word.to_owned()];
        let members: &[String] = match rows.iter().find(|row| row.family == word) {
            Some(row) => &row.members,
            None if rows
                .iter()
                .any(|row| row.members.iter().any(|member| member == word)) =>
            {
                &own
            }
            None => {
                unknown.push(word.to_owned());
                continue;
            }
        };
        for member in members {
            if !targets.contains(member) {
                targets.push(member.clone());
            }
        }
    }
    if unknown.is_empty() {
        Ok(targets)
    } else {
        Err(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::expand;
    use rock_compat::Compat;

    #[test]
    fn families_become_their_targets_in_order_and_each_once() {
        let compat = Compat::embedded();
        let of = |words| expand(words, &compat.tables().families);
        assert_eq!(
            of("gfx110X-dgpu; gfx942,gfx94X-dcgpu,"),
            Ok(["gfx1100", "gfx1101", "gfx1102", "gfx942"]
                .map(str::to_owned)
                .to_vec())
        );
        assert_eq!(
            of("gfx120X-dgpu,gfx942,x"),
            Err(vec!["gfx120X-dgpu".to_owned(), "x".to_owned()])
        );
        assert_eq!(
            of("gfx942:xnack+,gfx942,gfx90a:sramecc-:xnack+"),
            Ok(["gfx942", "gfx90a"].map(str::to_owned).to_vec())
        );
        assert_eq!(of(""), Ok(Vec::new()));
    }
}
