//! The actions that a workflow uses, each pinned to a commit in the compatibility data.

use std::collections::BTreeMap;

use crate::codes::plan as codes;
use rock_compat::Compat;
use rock_compat::refresh::actions::OWN_ACTION;
use rock_diagnostic::{Diagnostic, Sink};

/// The reference of our own action while the compatibility data has no commit for it: the version
/// of this program. A release cannot contain its own commit.
const TOOL_BY_VERSION: &str = concat!(
    "org/rock-action@v",
    env!("CARGO_PKG_VERSION"),
    " # zizmor: ignore[unpinned-uses] the compatibility data has no commit of it: add its row to \
     pin it"
);

/// Name in the template, repository, and path inside the repository.
const USED: [(&str, &str, &str); 9] = [
    ("checkout", "actions/checkout", ""),
    ("upload", "actions/upload-artifact", ""),
    ("download", "actions/download-artifact", ""),
    ("attest", "actions/attest", ""),
    ("restore", "actions/cache", "/restore"),
    ("save", "actions/cache", "/save"),
    ("upload_pages", "actions/upload-pages-artifact", ""),
    ("deploy_pages", "actions/deploy-pages", ""),
    ("tool", OWN_ACTION, ""),
];

/// Returns the values of `uses:` by their names in the template; reports an action without a row.
pub(super) fn pins(compat: &Compat, sink: &mut Sink) -> Option<BTreeMap<&'static str, String>> {
    let mut found = BTreeMap::new();
    for (name, repository, path) in USED {
        match compat.action(repository) {
            Some(row) => {
                found.insert(
                    name,
                    format!("{repository}{path}@{} # {}", row.sha, row.version),
                );
            }
            None if repository == OWN_ACTION => {
                found.insert(name, TOOL_BY_VERSION.to_owned());
            }
            None => sink.push(
                Diagnostic::new(
                    &codes::ACTION_WITHOUT_COMMIT,
                    format!("the compatibility data has no commit of `{repository}`"),
                )
                .help("omit `--compat`, or add the action's row to the tables in its folder"),
            ),
        }
    }
    (found.len() == USED.len()).then_some(found)
}
