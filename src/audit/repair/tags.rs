//! Which platforms a repaired wheel is for.

use super::Repair;
use crate::audit::findings::offenders;
use crate::audit::inspect::FileFacts;
use crate::audit::tree::Found;
use crate::audit::verdict::Verdict;
use crate::compat::policy::Policy;
use crate::diagnostic::registry::{rocm, wheel as codes};
use crate::diagnostic::{Diagnostic, Place};
use crate::names::{TagSet, WheelName};

/// The platform that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// The best that the wheel can be.
    Best,
    /// This one, by its tag.
    Tag(String),
}

/// What was chosen.
#[derive(Debug, Clone)]
pub struct Platform {
    /// The name of the policy whose libraries need not come along.
    pub policy: String,
    /// The platform tags of the new name.
    pub tags: TagSet,
    /// Claims that were dropped, and why.
    pub findings: Vec<Diagnostic>,
}

/// The highest policy that needs no more libraries from elsewhere than the wanted one, or than any: an older platform is
/// not worth a library more.
fn graft_policy<'p>(verdict: &Verdict<'p>, wanted: Option<Policy<'p>>) -> Policy<'p> {
    let real = || verdict.references.iter().filter(|one| !one.policy.is_linux());
    let count =
        real().filter(|one| wanted.is_none_or(|wanted| one.policy == wanted)).map(|one| one.libraries.len()).min();
    let fits = |one: &&crate::audit::Reference<'p>| count.is_some_and(|count| one.libraries.len() <= count);
    real().find(fits).map_or(verdict.judging.policies.linux(), |one| one.policy)
}

pub(super) fn choose(
    name: &WheelName,
    files: &[FileFacts],
    verdict: &Verdict<'_>,
    repair: &Repair,
) -> Result<Platform, Vec<Diagnostic>> {
    let on_wheel = |code, message: String| Diagnostic::new(code, message).at(Place::File(name.to_string().into()), "");
    let (policies, most) = (verdict.judging.policies, verdict.reach());
    let wanted = match &repair.wanted {
        Wanted::Best => None,
        Wanted::Tag(tag) => Some(policies.get(tag).ok_or_else(|| {
            let known: Vec<String> = policies.iter().map(|policy| policy.tag()).collect();
            let message = format!("there is no platform `{tag}` for this wheel");
            vec![on_wheel(&codes::UNKNOWN_PLATFORM, message).help(format!("known are {}", known.join(", ")))]
        })?),
    };
    let graft = graft_policy(verdict, wanted);
    let best = if graft.priority() < most.priority() { graft } else { most };
    let chosen = wanted.unwrap_or(if best.is_linux() { policies.lowest() } else { best });
    if chosen.priority() > most.priority() {
        return Err(vec![refusal(name, files, verdict, chosen, wanted.is_some())]);
    }
    let reached: Vec<Policy<'_>> =
        if best.priority() > chosen.priority() && !repair.only_wanted { vec![best, chosen] } else { vec![chosen] };
    let first = reached.first().copied().unwrap_or(chosen);
    let mut findings = Vec::new();
    let is_false = |tag: &str| {
        let claimed = policies.for_tag(tag);
        claimed.is_some_and(|claimed| claimed.priority() > most.priority())
    };
    let stays = |tag: &str| {
        let message = format!("the name claims `{tag}`, which its symbols do not allow; it stays, as was asked for");
        on_wheel(&rocm::FALSE_PLATFORM_TAG, message).severity(crate::diagnostic::Severity::Warning)
    };
    if repair.keeps_tags {
        findings.extend(name.platform.tags().iter().filter(|tag| is_false(tag)).map(|tag| stays(tag)));
        return Ok(Platform { policy: first.name().to_owned(), tags: name.platform.clone(), findings });
    }
    let mut tags: Vec<String> = reached.iter().flat_map(Policy::tags).collect();
    for tag in name.platform.tags().iter().filter(|tag| !tags.contains(tag)).cloned().collect::<Vec<_>>() {
        if tag == policies.linux().tag() || tag == "any" {
            continue;
        }
        if is_false(&tag) && !repair.keeps_claims {
            let message = format!("the name claims `{tag}`, which its symbols do not allow; it was dropped");
            findings.push(on_wheel(&rocm::FALSE_PLATFORM_TAG, message).severity(crate::diagnostic::Severity::Warning));
        } else {
            findings.extend(is_false(&tag).then(|| stays(&tag)));
            tags.push(tag);
        }
    }
    tags.sort();
    let tags =
        tags.join(".").parse::<TagSet>().map_err(|error| vec![on_wheel(&codes::BAD_WHEEL_NAME, error.to_string())])?;
    Ok(Platform { policy: first.name().to_owned(), tags, findings })
}

/// Why the wheel is not for this platform, the lowest where none `is_wanted`.
fn refusal(
    name: &WheelName,
    files: &[FileFacts],
    verdict: &Verdict<'_>,
    chosen: Policy<'_>,
    is_wanted: bool,
) -> Diagnostic {
    let on_wheel = |message: String| {
        Diagnostic::new(&codes::PLATFORM_OUT_OF_REACH, message).at(Place::File(name.to_string().into()), "")
    };
    let (out_of_reach, offers) = if is_wanted {
        (format!("`{}` is out of reach", chosen.tag()), "it does not offer")
    } else {
        ("no platform is in reach".to_owned(), "none of them offers")
    };
    let of_symbols = verdict.symbols.priority() < chosen.priority();
    if let Some((path, version)) = offenders(files, chosen).first().filter(|_| of_symbols) {
        let lacks = if is_wanted { "it does not have" } else { "none of them has" };
        let fault = on_wheel(format!("{out_of_reach}: `{path}` needs {version}, which {lacks}"));
        return match verdict.symbols {
            none if none.is_linux() => fault.help("build in an older image"),
            lower => fault.help(format!("build in an older image, or repair for `{}`", lower.tag())),
        };
    }
    let reference = verdict.references.iter().find(|one| one.policy == chosen);
    if of_symbols {
        let libraries: Vec<&str> = reference.iter().flat_map(|one| one.libraries.keys()).map(String::as_str).collect();
        return on_wheel(format!(
            "{out_of_reach}: a library that would come along needs newer symbols: {}",
            libraries.join(", ")
        ))
        .help("exclude it with `--exclude`, or repair where these libraries are older, or below `--sysroot`");
    }
    if let Some((library, symbols)) = reference.and_then(|one| one.forbidden.iter().next()) {
        let symbols: Vec<&str> = symbols.iter().map(String::as_str).collect();
        return on_wheel(format!("{out_of_reach}: {offers} {} of {library}", symbols.join(", ")));
    }
    if verdict.isa.priority() < chosen.priority() {
        let own = verdict.above_baseline.iter().map(|number| files[*number].path.as_str()).next();
        let machine = verdict.trees.values().flat_map(|tree| tree.nodes.values()).find_map(|node| match &node.found {
            Found::Machine(machine) if machine.library.isa_level.is_some_and(|level| level > 0) => {
                Some(machine.real_path.as_str())
            }
            _ => None,
        });
        let file = own.or(machine).unwrap_or("the wheel");
        return on_wheel(format!("{out_of_reach}: `{file}` needs a level of x86-64 above the first"))
            .help("build it for plain x86-64, or say that it is meant with `--disable-isa-ext-check`");
    }
    let limits = verdict.limits();
    let reason =
        limits.iter().find(|(policy, _)| policy.priority() < chosen.priority()).map_or("symbols", |(_, why)| why);
    on_wheel(format!("{out_of_reach}: the wheel needs {reason}"))
}
