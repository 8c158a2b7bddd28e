//! Which platforms a repaired wheel is for.

use super::Repair;
use crate::codes::{rocm, wheel as codes};
use crate::findings::{numbers, offenders, other_system};
use crate::inspect::FileFacts;
use crate::tree::Found;
use crate::verdict::Verdict;
use rock_compat::policy::{PlatformPolicies, PlatformPolicy, is_loader};
use rock_diagnostic::{Code, Diagnostic, Location, Severity};
use rock_names::{PlatformSystem, TagSet, WheelName};

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

/// The highest policy that needs no more libraries from elsewhere than the wanted one, or than any:
/// an older platform is not worth a library more.
fn graft_policy<'p>(
    verdict: &Verdict<'p>,
    wanted: Option<PlatformPolicy<'p>>,
) -> PlatformPolicy<'p> {
    let real = || {
        verdict
            .references
            .iter()
            .filter(|one| !one.policy.is_linux())
    };
    let count = real()
        .filter(|one| wanted.is_none_or(|wanted| one.policy == wanted))
        .map(|one| one.libraries.len())
        .min();
    let fits =
        |one: &&crate::Reference<'p>| count.is_some_and(|count| one.libraries.len() <= count);
    real()
        .find(fits)
        .map_or(verdict.judging.policies.linux(), |one| one.policy)
}

pub(super) fn choose(
    name: &WheelName,
    files: &[FileFacts],
    verdict: &Verdict<'_>,
    repair: &Repair,
) -> Result<Platform, Vec<Diagnostic>> {
    let on_wheel = |code, message: String| {
        Diagnostic::new(code, message).at(Location::File(name.to_string().into()), "")
    };
    let (policies, most) = (verdict.judging.policies, verdict.reach());
    let wanted = match &repair.wanted {
        Wanted::Best => None,
        Wanted::Tag(tag) => Some(
            policies
                .get(tag)
                .ok_or_else(|| vec![unknown_platform(name, tag, policies)])?,
        ),
    };
    let graft = graft_policy(verdict, wanted);
    let best = if graft.priority() < most.priority() {
        graft
    } else {
        most
    };
    let chosen = wanted.unwrap_or(if best.is_linux() {
        policies.lowest()
    } else {
        best
    });
    if chosen.priority() > most.priority() {
        return Err(vec![refusal(
            name,
            files,
            verdict,
            chosen,
            wanted.is_some(),
        )]);
    }
    let reached: Vec<PlatformPolicy<'_>> =
        if best.priority() > chosen.priority() && !repair.only_wanted {
            vec![best, chosen]
        } else {
            vec![chosen]
        };
    let first = reached.first().copied().unwrap_or(chosen);
    let mut findings = Vec::new();
    let contradicted = |tag: &str| contradiction(files, verdict, tag);
    let told = |tag: &str, (code, why): (&'static Code, String), what: &str| {
        on_wheel(code, format!("the name claims `{tag}`, and {why}; {what}"))
            .severity(Severity::Warning)
    };
    let stays = |tag: &str, why| told(tag, why, "it stays, as was asked for");
    if repair.keeps_tags {
        let judged = name.platform.tags().iter().filter(|tag| !is_foreign(tag));
        findings.extend(judged.filter_map(|tag| Some(stays(tag, contradicted(tag)?))));
        return Ok(Platform {
            policy: first.name().to_owned(),
            tags: name.platform.clone(),
            findings,
        });
    }
    let mut tags: Vec<String> = reached.iter().flat_map(PlatformPolicy::tags).collect();
    for tag in name
        .platform
        .tags()
        .iter()
        .filter(|tag| !tags.contains(tag))
        .cloned()
        .collect::<Vec<_>>()
    {
        if tag == policies.linux().tag() || tag == "any" {
            continue;
        }
        if is_foreign(&tag) {
            match &repair.wanted {
                Wanted::Tag(wanted) if !repair.keeps_claims => {
                    let why = (
                        &rocm::FALSE_PLATFORM_TAG,
                        format!("`{wanted}` is asked for"),
                    );
                    findings.push(told(&tag, why, "it was dropped"));
                }
                _ => tags.push(tag),
            }
            continue;
        }
        match contradicted(&tag) {
            Some(why) if !repair.keeps_claims => {
                findings.push(told(&tag, why, "it was dropped"));
                continue;
            }
            why => findings.extend(why.map(|why| stays(&tag, why))),
        }
        tags.push(tag);
    }
    tags.sort();
    let tags = tags
        .join(".")
        .parse::<TagSet>()
        .map_err(|error| vec![on_wheel(&codes::BAD_WHEEL_NAME, error.to_string())])?;
    Ok(Platform {
        policy: first.name().to_owned(),
        tags,
        findings,
    })
}

/// Returns whether a tag is for a system that is not judged: it stays unless another platform is
/// asked for.
fn is_foreign(tag: &str) -> bool {
    matches!(PlatformSystem::of_tag(tag), PlatformSystem::Foreign(_))
}

/// That no policy has this tag.
pub fn unknown_platform(name: &WheelName, tag: &str, policies: &PlatformPolicies) -> Diagnostic {
    let known: Vec<String> = policies.iter().map(|policy| policy.tag()).collect();
    let message = format!("there is no platform `{tag}` for this wheel");
    let fault = Diagnostic::new(&codes::UNKNOWN_PLATFORM, message)
        .at(Location::File(name.to_string().into()), "");
    fault.help(format!("known are {}", known.join(", ")))
}

/// Why a tag of the name is false: the wheel's own files contradict it, or libraries that come
/// along do. `None` for a true one, and for one that nothing is known of.
fn contradiction(
    files: &[FileFacts],
    verdict: &Verdict<'_>,
    tag: &str,
) -> Option<(&'static Code, String)> {
    let claimed = verdict
        .judging
        .policies
        .for_tag(tag)
        .filter(|claimed| claimed.priority() > verdict.reach().priority());
    let own =
        || other_system(files, verdict, tag).or_else(|| by_own_files(files, verdict, claimed?));
    let own = own().map(|why| (&rocm::FALSE_PLATFORM_TAG, why));
    own.or_else(|| Some((&codes::CLAIM_OVERTAKEN, by_libraries(verdict, claimed?))))
}

/// What files of the wheel need that a policy does not have.
fn by_own_files(
    files: &[FileFacts],
    verdict: &Verdict<'_>,
    claimed: PlatformPolicy<'_>,
) -> Option<String> {
    if let Some((path, version)) = offenders(files, claimed).first() {
        return Some(format!("`{path}` needs {version}, which it does not have"));
    }
    let mut forbidden = verdict
        .references
        .iter()
        .filter(|one| one.policy == claimed)
        .flat_map(|one| &one.forbidden);
    if let Some((library, symbols)) = forbidden.next() {
        let symbols = symbols
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("`, `");
        return Some(format!(
            "`{symbols}` of {library}, which is needed, need not be there"
        ));
    }
    if let Some(number) = verdict.above_baseline.first() {
        return Some(format!(
            "`{}` needs a level of x86-64 above the first",
            files[*number].path
        ));
    }
    verdict
        .python_need()
        .map(|need| format!("it needs {need}, which not every system has"))
}

/// What libraries that come along need and a policy does not have.
fn by_libraries(verdict: &Verdict<'_>, claimed: PlatformPolicy<'_>) -> String {
    let along = verdict
        .references
        .iter()
        .filter(|one| one.policy == claimed)
        .flat_map(|one| &one.libraries);
    let why = along.filter_map(|(needed, found)| {
        let Found::Machine(machine) = found else {
            return None;
        };
        let versions = machine
            .library
            .versions
            .iter()
            .filter(|need| !is_loader(&need.library));
        let newer = versions
            .flat_map(|need| &need.versions)
            .filter(|version| !claimed.permits_version(version));
        let is_above = machine.library.isa_level.is_some_and(|level| level > 0);
        let newest = newer
            .max_by_key(|version| numbers(version))
            .map(String::as_str);
        let what = newest.or(is_above.then_some("a level of x86-64 above the first"))?;
        Some(format!(
            "`{needed}`, which comes along, needs {what}, which it does not have"
        ))
    });
    let why = why.into_iter().next();
    why.unwrap_or_else(|| "a library that comes along needs what it does not have".to_owned())
}

/// Why the wheel is not for this platform, the lowest where none `is_wanted`.
fn refusal(
    name: &WheelName,
    files: &[FileFacts],
    verdict: &Verdict<'_>,
    chosen: PlatformPolicy<'_>,
    is_wanted: bool,
) -> Diagnostic {
    let on_wheel = |message: String| {
        Diagnostic::new(&codes::PLATFORM_OUT_OF_REACH, message)
            .at(Location::File(name.to_string().into()), "")
    };
    let (out_of_reach, offers) = if is_wanted {
        (
            format!("`{}` is out of reach", chosen.tag()),
            "it does not offer",
        )
    } else {
        ("no platform is in reach".to_owned(), "none of them offers")
    };
    let of_symbols = verdict.symbols.priority() < chosen.priority();
    if let Some((path, version)) = offenders(files, chosen).first().filter(|_| of_symbols) {
        let lacks = if is_wanted {
            "it does not have"
        } else {
            "none of them has"
        };
        let fault = on_wheel(format!(
            "{out_of_reach}: `{path}` needs {version}, which {lacks}"
        ));
        return match verdict.symbols {
            none if none.is_linux() => fault.help("build in an older image"),
            lower => fault.help(format!(
                "build in an older image, or repair for `{}`",
                lower.tag()
            )),
        };
    }
    let reference = verdict.references.iter().find(|one| one.policy == chosen);
    if of_symbols {
        let libraries: Vec<&str> = reference
            .iter()
            .flat_map(|one| one.libraries.keys())
            .map(String::as_str)
            .collect();
        return on_wheel(format!(
            "{out_of_reach}: a library that would come along needs newer symbols: {}",
            libraries.join(", ")
        ))
        .help("exclude it with `--exclude`, or repair where these libraries are older, or below `--sysroot`");
    }
    if let Some((library, symbols)) = reference.and_then(|one| one.forbidden.iter().next()) {
        let symbols: Vec<&str> = symbols.iter().map(String::as_str).collect();
        return on_wheel(format!(
            "{out_of_reach}: {offers} {} of {library}",
            symbols.join(", ")
        ));
    }
    if verdict.isa.priority() < chosen.priority() {
        let own = verdict
            .above_baseline
            .iter()
            .map(|number| files[*number].path.as_str())
            .next();
        let machine = verdict
            .trees
            .values()
            .flat_map(|tree| tree.nodes.values())
            .find_map(|node| match &node.found {
                Found::Machine(machine)
                    if machine.library.isa_level.is_some_and(|level| level > 0) =>
                {
                    Some(machine.real_path.as_str())
                }
                _ => None,
            });
        let file = own.or(machine).unwrap_or("the wheel");
        return on_wheel(format!(
            "{out_of_reach}: `{file}` needs a level of x86-64 above the first"
        ))
        .help("build it for plain x86-64, or say that it is meant with `--disable-isa-ext-check`");
    }
    let limits = verdict.limits();
    let reason = limits
        .iter()
        .find(|(policy, _)| policy.priority() < chosen.priority())
        .map_or("symbols", |(_, why)| why);
    on_wheel(format!("{out_of_reach}: the wheel needs {reason}"))
}
