//! Changes the wheel tag and build tag of a wheel.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::str::FromStr;

use super::{LabelCheck, RenamePlan, Wheel, WheelEdits, WheelError, check_identity};
use rock_names::{
    AbiKind, BuildTag, BuildTagError, PlatformKind, PythonKind, TagSet, TagSetError, WheelName,
};

/// New tags of a wheel; `None` keeps the present ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetagOptions {
    /// The Python tags.
    pub python: Option<TagChange<PythonKind>>,
    /// The ABI tags.
    pub abi: Option<TagChange<AbiKind>>,
    /// The platform tags.
    pub platform: Option<TagChange<PlatformKind>>,
    /// The build tag.
    pub build: Option<BuildTagChange>,
}

/// A change of the Python, ABI or platform tags. Parsed from `cp312` to replace, or `+cp312` to
/// add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TagChange<K> {
    /// Replaces all tags.
    Replace(TagSet<K>),
    /// Adds tags.
    Add(TagSet<K>),
}

impl<K: Clone> TagChange<K> {
    /// Applies a change to tags. The result is sorted if the set changed, because tag sets in
    /// filenames are sorted (binary distribution format, "Compressed tag sets").
    fn applied(change: Option<&Self>, tags: &TagSet<K>) -> TagSet<K> {
        let new = match change {
            None => return tags.clone(),
            Some(Self::Replace(new)) => new.sorted(),
            Some(Self::Add(more)) => tags.union(more).sorted(),
        };
        if new == tags.sorted() {
            tags.clone()
        } else {
            new
        }
    }
}

impl<K> FromStr for TagChange<K> {
    type Err = TagSetError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix('+') {
            Some(more) => more.parse().map(Self::Add),
            None => text.parse().map(Self::Replace),
        }
    }
}

/// A change of the build tag. Parsed from a tag such as `1`, or from an empty string to remove it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildTagChange {
    /// Sets this build tag.
    Set(BuildTag),
    /// Removes the build tag.
    Remove,
}

impl FromStr for BuildTagChange {
    type Err = BuildTagError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            Ok(Self::Remove)
        } else {
            text.parse().map(Self::Set)
        }
    }
}

/// Plans new tags: in the filename, and in the headers `Tag`, `Build` and `Root-Is-Purelib` of
/// WHEEL.
///
/// Changed tags are sorted; equal tags in another order are kept. New platform tags set
/// `Root-Is-Purelib: false`, except for `any`.
///
/// # Errors
/// Fails if METADATA has another name or version than the filename.
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
    let new = name
        .clone()
        .with_python_tags(TagChange::applied(
            retag.python.as_ref(),
            name.python_tags(),
        ))
        .with_abi_tags(TagChange::applied(retag.abi.as_ref(), name.abi_tags()))
        .with_platform_tags(TagChange::applied(
            retag.platform.as_ref(),
            name.platform_tags(),
        ));
    let new = match &retag.build {
        None => new,
        Some(BuildTagChange::Remove) => new.without_build_tag(),
        Some(BuildTagChange::Set(build_tag)) => new.with_build_tag(build_tag.clone()),
    };
    let mut headers = wheel.wheel_file().clone();
    let tags = new.expanded_tags();
    let written: BTreeSet<String> = headers.get_all("Tag").map(Cow::into_owned).collect();
    if written != tags.iter().cloned().collect() {
        headers.set("Tag", &tags);
    }
    let build_tag: Vec<String> = new
        .build_tag()
        .map(BuildTag::to_string)
        .into_iter()
        .collect();
    headers.set("Build", &build_tag);
    if retag.platform.is_some() && !new.is_platform_independent() {
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
