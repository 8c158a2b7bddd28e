//! The platform tags of a repaired wheel.

use super::PlanOptions;
use crate::codes::{rocm, wheel as codes};
use crate::compliance::Compliance;
use crate::findings::{offenders, other_system, version_numbers};
use crate::inspect::InspectedFile;
use crate::resolve::ResolvedLibrary;
use rock_compat::policy::{PlatformPolicies, PlatformPolicy, is_loader};
use rock_diagnostic::{Code, Diagnostic, Location, Severity};
use rock_names::{PlatformSystem, TagSet, WheelName};

/// The requested platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PlatformTarget {
    /// The best platform that the wheel can comply with.
    Best,
    /// The platform with this tag.
    Tag(String),
}

/// The platform of a repaired wheel.
#[derive(Debug, Clone)]
pub struct PlatformChoice {
    /// The name of the policy whose libraries are not grafted.
    pub policy: String,
    /// The platform tags of the new name.
    pub tags: TagSet,
    /// Findings about tags that were removed from the name.
    pub findings: Vec<Diagnostic>,
}

/// Returns the highest policy that needs no more grafts than the requested one, or than any other:
/// an older platform does not justify another graft.
fn graft_policy<'p>(
    compliance: &'p Compliance,
    wanted: Option<PlatformPolicy<'p>>,
) -> PlatformPolicy<'p> {
    let real = || {
        compliance
            .gaps
            .iter()
            .filter(|gap| !compliance.policy(gap.policy).is_linux())
    };
    let count = real()
        .filter(|gap| wanted.is_none_or(|wanted| compliance.policy(gap.policy) == wanted))
        .map(|one| one.libraries.len())
        .min();
    let fits = |one: &&crate::PolicyGap| count.is_some_and(|count| one.libraries.len() <= count);
    real()
        .find(fits)
        .map_or(compliance.policies().linux(), |gap| {
            compliance.policy(gap.policy)
        })
}

pub(super) fn choose_platform(
    name: &WheelName,
    files: &[InspectedFile],
    compliance: &Compliance,
    options: &PlanOptions,
) -> Result<PlatformChoice, Vec<Diagnostic>> {
    let on_wheel = |code, message: String| {
        Diagnostic::new(code, message).at(Location::File(name.to_string().into()), "")
    };
    let (policies, most) = (compliance.policies(), compliance.reach());
    let wanted = match &options.target {
        PlatformTarget::Best => None,
        PlatformTarget::Tag(tag) => Some(
            policies
                .get(tag)
                .ok_or_else(|| vec![unknown_platform(name, tag, policies)])?,
        ),
    };
    let graft = graft_policy(compliance, wanted);
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
        return Err(vec![out_of_reach_error(
            name,
            files,
            compliance,
            chosen,
            wanted.is_some(),
        )]);
    }
    let reached: Vec<PlatformPolicy<'_>> =
        if best.priority() > chosen.priority() && !options.only_target {
            vec![best, chosen]
        } else {
            vec![chosen]
        };
    let first = reached.first().copied().unwrap_or(chosen);
    let mut findings = Vec::new();
    let contradicted = |tag: &str| contradiction(files, compliance, tag);
    let told = |tag: &str, (code, why): (&'static Code, String), what: &str| {
        on_wheel(code, format!("the name claims `{tag}`, and {why}; {what}"))
            .severity(Severity::Warning)
    };
    let stays = |tag: &str, why| told(tag, why, "it stays, as was asked for");
    if options.keeps_tags {
        let judged = name.platform_tags().iter().filter(|tag| !is_foreign(tag));
        findings.extend(judged.filter_map(|tag| Some(stays(tag, contradicted(tag)?))));
        return Ok(PlatformChoice {
            policy: first.name().to_owned(),
            tags: name.platform_tags().clone(),
            findings,
        });
    }
    let mut tags: Vec<String> = reached.iter().flat_map(PlatformPolicy::tags).collect();
    for tag in name
        .platform_tags()
        .iter()
        .filter(|tag| !tags.contains(tag))
        .cloned()
        .collect::<Vec<_>>()
    {
        if tag == policies.linux().tag() || tag == "any" {
            continue;
        }
        if is_foreign(&tag) {
            match &options.target {
                PlatformTarget::Tag(wanted) if !options.keeps_claims => {
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
            Some(why) if !options.keeps_claims => {
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
    Ok(PlatformChoice {
        policy: first.name().to_owned(),
        tags,
        findings,
    })
}

/// Returns whether a tag is for a system that is not audited; it stays unless another platform is
/// requested.
fn is_foreign(tag: &str) -> bool {
    matches!(PlatformSystem::of_tag(tag), PlatformSystem::Foreign(_))
}

/// Returns the error that no policy has this tag.
pub(super) fn unknown_platform(
    name: &WheelName,
    tag: &str,
    policies: &PlatformPolicies,
) -> Diagnostic {
    let known: Vec<String> = policies.iter().map(|policy| policy.tag()).collect();
    let message = format!("there is no platform `{tag}` for this wheel");
    let fault = Diagnostic::new(&codes::UNKNOWN_PLATFORM, message)
        .at(Location::File(name.to_string().into()), "");
    fault.help(format!("known are {}", known.join(", ")))
}

/// Returns the reason why a tag of the name is false: the wheel's own files contradict it, or
/// grafted libraries do. `None` for a true tag, and for an unknown one.
fn contradiction(
    files: &[InspectedFile],
    compliance: &Compliance,
    tag: &str,
) -> Option<(&'static Code, String)> {
    let claimed = compliance
        .policies()
        .for_tag(tag)
        .filter(|claimed| claimed.priority() > compliance.reach().priority());
    let own = || {
        other_system(files, compliance, tag).or_else(|| by_own_files(files, compliance, claimed?))
    };
    let own = own().map(|why| (&rocm::FALSE_PLATFORM_TAG, why));
    own.or_else(|| Some((&codes::CLAIM_OVERTAKEN, by_libraries(compliance, claimed?))))
}

/// Returns a violation of a policy by files of the wheel, in words.
fn by_own_files(
    files: &[InspectedFile],
    compliance: &Compliance,
    claimed: PlatformPolicy<'_>,
) -> Option<String> {
    if let Some((path, version)) = offenders(files, claimed).first() {
        return Some(format!("`{path}` needs {version}, which it does not have"));
    }
    let mut forbidden = compliance
        .gaps
        .iter()
        .filter(|one| compliance.policy(one.policy) == claimed)
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
    if let Some(number) = compliance.above_baseline.first() {
        return Some(format!(
            "`{}` needs a level of x86-64 above the first",
            files[*number].path
        ));
    }
    compliance
        .python_need()
        .map(|need| format!("it needs {need}, which not every system has"))
}

/// Returns a violation of a policy by grafted libraries, in words.
fn by_libraries(compliance: &Compliance, claimed: PlatformPolicy<'_>) -> String {
    let along = compliance
        .gaps
        .iter()
        .filter(|one| compliance.policy(one.policy) == claimed)
        .flat_map(|one| &one.libraries);
    let why = along.filter_map(|(needed, found)| {
        let ResolvedLibrary::System(machine) = found else {
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
            .max_by_key(|version| version_numbers(version))
            .map(String::as_str);
        let what = newest.or(is_above.then_some("a level of x86-64 above the first"))?;
        Some(format!(
            "`{needed}`, which comes along, needs {what}, which it does not have"
        ))
    });
    let why = why.into_iter().next();
    why.unwrap_or_else(|| "a library that comes along needs what it does not have".to_owned())
}

/// Returns the error that the wheel cannot comply with a platform; the lowest one if none was
/// requested.
fn out_of_reach_error(
    name: &WheelName,
    files: &[InspectedFile],
    compliance: &Compliance,
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
    let of_symbols = compliance.symbols().priority() < chosen.priority();
    if let Some((path, version)) = offenders(files, chosen).first().filter(|_| of_symbols) {
        let lacks = if is_wanted {
            "it does not have"
        } else {
            "none of them has"
        };
        let fault = on_wheel(format!(
            "{out_of_reach}: `{path}` needs {version}, which {lacks}"
        ));
        return match compliance.symbols() {
            none if none.is_linux() => fault.help("build in an older image"),
            lower => fault.help(format!(
                "build in an older image, or repair for `{}`",
                lower.tag()
            )),
        };
    }
    let gap = compliance.gap(chosen);
    if of_symbols {
        let libraries: Vec<&str> = gap
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
    if let Some((library, symbols)) = gap.and_then(|one| one.forbidden.iter().next()) {
        let symbols: Vec<&str> = symbols.iter().map(String::as_str).collect();
        return on_wheel(format!(
            "{out_of_reach}: {offers} {} of {library}",
            symbols.join(", ")
        ));
    }
    if compliance.isa().priority() < chosen.priority() {
        let own = compliance
            .above_baseline
            .iter()
            .map(|number| files[*number].path.as_str())
            .next();
        let machine = compliance
            .trees
            .values()
            .flat_map(|tree| tree.nodes.values())
            .find_map(|node| match &node.found {
                ResolvedLibrary::System(machine)
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
    let limits = compliance.limits();
    let reason = limits
        .iter()
        .find(|(policy, _)| policy.priority() < chosen.priority())
        .map_or("symbols", |(_, why)| why);
    on_wheel(format!("{out_of_reach}: the wheel needs {reason}"))
}
