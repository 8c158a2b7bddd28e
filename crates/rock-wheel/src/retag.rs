//! Changing the tags and the build number of a wheel.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::str::FromStr;

use super::{LabelCheck, RenamePlan, Wheel, WheelEdits, WheelError, check_identity};
use rock_names::{TagSet, TagSetError, WheelName};

/// New tags of a wheel; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetagOptions {
    /// Python tags.
    pub python: Option<TagChange>,
    /// ABI tags.
    pub abi: Option<TagChange>,
    /// Platform tags.
    pub platform: Option<TagChange>,
    /// The build tag.
    pub build: Option<BuildTagChange>,
}

/// New tags of one kind, written `cp312` or, to add, `+cp312`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TagChange {
    /// These instead.
    Replace(TagSet),
    /// These besides.
    Add(TagSet),
}

impl TagChange {
    /// Returns the tags with the change: sorted where they are others than before, since the set of
    /// tags in a file name is sorted (binary distribution format, "Compressed tag sets").
    fn applied(change: Option<&Self>, tags: &TagSet) -> TagSet {
        let new = match change {
            None => return tags.clone(),
            Some(Self::Replace(new)) => new.sorted(),
            Some(Self::Add(more)) => tags.with(more).sorted(),
        };
        if new == tags.sorted() {
            tags.clone()
        } else {
            new
        }
    }
}

impl FromStr for TagChange {
    type Err = TagSetError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix('+') {
            Some(more) => more.parse().map(Self::Add),
            None => text.parse().map(Self::Replace),
        }
    }
}

/// A new build tag, written `1`; an empty text removes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildTagChange {
    /// This one.
    Set(String),
    /// None.
    Remove,
}

impl FromStr for BuildTagChange {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Ok(Self::Remove);
        }
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.';
        if text.as_bytes()[0].is_ascii_digit() && text.bytes().all(fits) {
            Ok(Self::Set(text.to_owned()))
        } else {
            Err("a build tag begins with a digit and has letters and digits only, such as `1` or `2cmake`".to_owned())
        }
    }
}

/// The wheel of this file name with other tags: file name, and `Tag`, `Build` and `Root-Is-Purelib`
/// in WHEEL.
///
/// Tags are written sorted where they change; the same ones in another order stay as they are. A
/// wheel for one platform is no purelib.
///
/// # Errors
/// When METADATA is about another project or version than the file name.
pub fn retag(
    wheel: &Wheel<'_>,
    name: &WheelName,
    retag: &RetagOptions,
) -> Result<RenamePlan<'static>, WheelError> {
    check_identity(
        wheel.metadata(),
        name,
        &wheel.dist_info_path("METADATA"),
        LabelCheck::MustMatch,
    )?;
    let new = WheelName {
        python: TagChange::applied(retag.python.as_ref(), &name.python),
        abi: TagChange::applied(retag.abi.as_ref(), &name.abi),
        platform: TagChange::applied(retag.platform.as_ref(), &name.platform),
        build: match &retag.build {
            None => name.build.clone(),
            Some(BuildTagChange::Remove) => None,
            Some(BuildTagChange::Set(build)) => Some(build.clone()),
        },
        ..name.clone()
    };
    let mut headers = wheel.wheel_file().clone();
    let tags = new.expanded_tags();
    let written: BTreeSet<String> = headers.get_all("Tag").map(Cow::into_owned).collect();
    if written != tags.iter().cloned().collect() {
        headers.set("Tag", &tags);
    }
    headers.set("Build", &new.build.clone().into_iter().collect::<Vec<_>>());
    if retag.platform.is_some() && !new.is_any_platform() {
        headers.set("Root-Is-Purelib", &["false".to_owned()]);
    }
    let mut edits = WheelEdits::default();
    if headers != *wheel.wheel_file() {
        edits.replaced.insert(
            wheel.dist_info_path("WHEEL"),
            headers.bytes().to_vec().into(),
        );
    }
    Ok(RenamePlan {
        name: new,
        edits,
        findings: Vec::new(),
    })
}
