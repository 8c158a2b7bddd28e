//! The platform tags of a repaired wheel.

use super::RepairOptions;
use crate::audited::AuditedWheel;
use crate::codes::{rocm, wheel as codes};
use crate::compliance::{Compliance, PolicyGap, PolicyIndex, lower_policy};
use crate::findings::{offenders, other_system};
use crate::inspect::InspectedFile;
use crate::resolve::ResolvedLibrary;
use crate::symbol_version::version_numbers;
use rock_compat::policy::{PlatformPolicies, PlatformPolicy, is_loader};
use rock_diagnostic::{Code, Diagnostic, Location, Severity};
use rock_names::{PlatformSystem, PlatformTags, WheelName};

/// The platform of a repaired wheel.
#[derive(Debug, Clone)]
pub struct PlatformChoice {
    /// The policy whose libraries are not grafted; `None` if no policy applies to the wheel.
    pub policy: Option<PolicyIndex>,
    /// The platform tags of the new name.
    pub tags: PlatformTags,
}

/// Chooses the policy and the platform tags of a repaired wheel. Also returns findings about tags
/// of the name that the wheel does not comply with.
///
/// # Errors
/// Returns an error if there is no such platform, or if the wheel cannot comply with it.
pub(super) fn choose_platform(
    audited: &AuditedWheel<'_>,
    compliance: &Compliance,
    options: &RepairOptions,
) -> Result<(PlatformChoice, Vec<Diagnostic>), Diagnostic> {
    let policies = choose_policies(audited, compliance, options)?;
    let claims = ClaimedTags {
        name: &audited.name,
        files: &audited.files,
        compliance,
    };
    let (tags, findings) = if options.update_tags && !compliance.calls_unidentified_libc {
        let requested = audited.auditor.options().requested_platform.as_deref();
        claims.updated(&policies, requested, options)?
    } else {
        (audited.name.platform_tags().clone(), claims.contradicted())
    };
    let policy = policies
        .first()
        .map(|policy| compliance.policy_index(*policy));
    Ok((PlatformChoice { policy, tags }, findings))
}

/// Returns the policies that the repaired wheel complies with, best first: the requested one, and a
/// better one with which the wheel also complies.
fn choose_policies<'c>(
    audited: &AuditedWheel<'_>,
    compliance: &'c Compliance,
    options: &RepairOptions,
) -> Result<Vec<PlatformPolicy<'c>>, Diagnostic> {
    let policies = compliance.policies();
    let requested = match &audited.auditor.options().requested_platform {
        None => None,
        Some(tag) => Some(
            policies
                .get(tag)
                .ok_or_else(|| unknown_platform(&audited.name, tag, policies))?,
        ),
    };
    let limit = compliance.best_repairable_policy();
    let best = lower_policy(limit, graft_policy(compliance, requested));
    let target = requested.unwrap_or(if best.is_linux() {
        policies.lowest()
    } else {
        best
    });
    if target.priority() > limit.priority() {
        let violations = TargetViolations {
            name: &audited.name,
            files: &audited.files,
            compliance,
            target,
            is_requested: requested.is_some(),
        };
        return Err(violations.error());
    }
    if best.priority() > target.priority() && !options.only_platform {
        Ok(vec![best, target])
    } else {
        Ok(vec![target])
    }
}

/// Returns the highest policy that needs no more grafts than the requested one, or than any other:
/// an older platform does not justify another graft.
fn graft_policy<'c>(
    compliance: &'c Compliance,
    requested: Option<PlatformPolicy<'c>>,
) -> PlatformPolicy<'c> {
    let gaps: Vec<(PlatformPolicy<'c>, &PolicyGap)> = compliance
        .gaps
        .iter()
        .map(|gap| (compliance.policy(gap.policy), gap))
        .filter(|(policy, _)| !policy.is_linux())
        .collect();
    let fewest_grafts = gaps
        .iter()
        .filter(|(policy, _)| requested.is_none_or(|requested| *policy == requested))
        .map(|(_, gap)| gap.libraries.len())
        .min();
    gaps.iter()
        .find(|(_, gap)| fewest_grafts.is_some_and(|count| gap.libraries.len() <= count))
        .map_or(compliance.policies().linux(), |(policy, _)| *policy)
}

/// A reason why the wheel does not comply with a tag of its name, with the code of the finding.
type Contradiction = (&'static Code, String);

/// The platform tags of the name of a wheel.
#[derive(Clone, Copy)]
struct ClaimedTags<'a> {
    name: &'a WheelName,
    files: &'a [InspectedFile],
    compliance: &'a Compliance,
}

impl ClaimedTags<'_> {
    /// Reports all tags that the wheel does not comply with; they stay.
    fn contradicted(self) -> Vec<Diagnostic> {
        self.name
            .platform_tags()
            .iter()
            .filter(|tag| !is_foreign(tag))
            .filter_map(|tag| Some(self.stays(tag, self.contradiction(tag)?)))
            .collect()
    }

    /// Returns the tags of the policies, and those tags of the name that stay. Also returns findings
    /// about tags of the name. `requested` is the requested platform.
    fn updated(
        self,
        policies: &[PlatformPolicy<'_>],
        requested: Option<&str>,
        options: &RepairOptions,
    ) -> Result<(PlatformTags, Vec<Diagnostic>), Diagnostic> {
        let mut tags: Vec<String> = policies.iter().flat_map(PlatformPolicy::tags).collect();
        let mut findings = Vec::new();
        let mut kept = Vec::new();
        for tag in self
            .name
            .platform_tags()
            .iter()
            .filter(|tag| !tags.contains(tag))
        {
            let (stays, finding) = self.check(tag, requested, options);
            findings.extend(finding);
            kept.extend(stays.then(|| tag.clone()));
        }
        tags.extend(kept);
        tags.sort();
        let tags = tags
            .join(".")
            .parse::<PlatformTags>()
            .map_err(|error| on_wheel(self.name, &codes::BAD_WHEEL_NAME, error.to_string()))?;
        Ok((tags, findings))
    }

    /// Returns whether a tag of the name stays, and a finding if the wheel does not comply with it.
    fn check(
        self,
        tag: &str,
        requested: Option<&str>,
        options: &RepairOptions,
    ) -> (bool, Option<Diagnostic>) {
        if tag == self.compliance.policies().linux().tag() || tag == "any" {
            return (false, None);
        }
        if is_foreign(tag) {
            return match requested {
                Some(requested) if !options.keep_claimed_tags => {
                    let reason = format!("`{requested}` is requested");
                    (
                        false,
                        Some(self.dropped(tag, (&rocm::FALSE_PLATFORM_TAG, reason))),
                    )
                }
                _ => (true, None),
            };
        }
        match self.contradiction(tag) {
            Some(contradiction) if !options.keep_claimed_tags => {
                (false, Some(self.dropped(tag, contradiction)))
            }
            contradiction => (
                true,
                contradiction.map(|contradiction| self.stays(tag, contradiction)),
            ),
        }
    }

    fn stays(self, tag: &str, contradiction: Contradiction) -> Diagnostic {
        self.finding(tag, contradiction, "it is kept, as requested")
    }

    fn dropped(self, tag: &str, contradiction: Contradiction) -> Diagnostic {
        self.finding(tag, contradiction, "it was dropped")
    }

    fn finding(self, tag: &str, (code, reason): Contradiction, result: &str) -> Diagnostic {
        let message = format!("the filename claims `{tag}`, but {reason}; {result}");
        on_wheel(self.name, code, message).severity(Severity::Warning)
    }

    /// Returns the reason why a tag of the name is false: the wheel's own files contradict it, or
    /// grafted libraries do. `None` for a true tag, and for an unknown one.
    fn contradiction(self, tag: &str) -> Option<Contradiction> {
        let Self {
            files, compliance, ..
        } = self;
        let claimed = compliance
            .policies()
            .for_tag(tag)
            .filter(|claimed| claimed.priority() > compliance.best_repairable_policy().priority());
        let by_files = other_system(files, compliance, tag)
            .or_else(|| violation_by_files(files, compliance, claimed?));
        match by_files {
            Some(reason) => Some((&rocm::FALSE_PLATFORM_TAG, reason)),
            None => Some((
                &codes::CLAIM_OVERTAKEN,
                violation_by_grafts(compliance, claimed?),
            )),
        }
    }
}

/// Returns whether a tag is for a system that is not audited; it stays unless another platform is
/// requested.
fn is_foreign(tag: &str) -> bool {
    matches!(PlatformSystem::of_tag(tag), PlatformSystem::Foreign(_))
}

fn on_wheel(name: &WheelName, code: &'static Code, message: String) -> Diagnostic {
    Diagnostic::new(code, message).at(Location::File(name.to_string().into()), "")
}

/// Returns the error that no policy has this tag.
pub(super) fn unknown_platform(
    name: &WheelName,
    tag: &str,
    policies: &PlatformPolicies,
) -> Diagnostic {
    let known: Vec<String> = policies.iter().map(|policy| policy.tag()).collect();
    let message = format!("there is no platform `{tag}` for this wheel");
    on_wheel(name, &codes::UNKNOWN_PLATFORM, message)
        .help(format!("known platforms are {}", known.join(", ")))
}

/// Returns a violation of a policy by files of the wheel, in words.
fn violation_by_files(
    files: &[InspectedFile],
    compliance: &Compliance,
    claimed: PlatformPolicy<'_>,
) -> Option<String> {
    if let Some((path, version)) = offenders(files, claimed).first() {
        return Some(format!(
            "`{path}` needs {version}, which it does not provide"
        ));
    }
    let gap = compliance.gap(claimed);
    if let Some((library, symbols)) = gap.and_then(|gap| gap.blacklisted.iter().next()) {
        let symbols: Vec<&str> = symbols.iter().map(String::as_str).collect();
        return Some(format!(
            "`{}` of {library}, which is needed, may be missing there",
            symbols.join("`, `")
        ));
    }
    if let Some(file_index) = compliance.above_baseline.first() {
        return Some(format!(
            "`{}` needs an x86-64 level above the baseline",
            files[*file_index].path
        ));
    }
    compliance
        .python_need()
        .map(|need| format!("it needs {need}, which not every system has"))
}

/// Returns a violation of a policy by grafted libraries, in words.
fn violation_by_grafts(compliance: &Compliance, claimed: PlatformPolicy<'_>) -> String {
    compliance
        .gap(claimed)
        .into_iter()
        .flat_map(|gap| &gap.libraries)
        .find_map(|(needed, library)| {
            let violation = graft_violation(library, claimed)?;
            Some(format!(
                "`{needed}`, which is grafted, needs {violation}, which it does not provide"
            ))
        })
        .unwrap_or_else(|| "a grafted library needs what it does not provide".to_owned())
}

/// Returns the newest symbol version of a grafted library that a policy does not permit, or else
/// its instruction set level.
fn graft_violation<'l>(
    library: &'l ResolvedLibrary,
    claimed: PlatformPolicy<'_>,
) -> Option<&'l str> {
    let ResolvedLibrary::System(system) = library else {
        return None;
    };
    system
        .elf
        .versions
        .iter()
        .filter(|need| !is_loader(&need.library))
        .flat_map(|need| &need.versions)
        .filter(|version| !claimed.permits_version(version))
        .max_by_key(|version| version_numbers(version))
        .map(String::as_str)
        .or_else(|| {
            system
                .elf
                .is_above_isa_baseline()
                .then_some("an x86-64 level above the baseline")
        })
}

/// The reasons why a wheel cannot comply with a platform.
struct TargetViolations<'a> {
    name: &'a WheelName,
    files: &'a [InspectedFile],
    compliance: &'a Compliance,
    /// The platform; the lowest one if none was requested.
    target: PlatformPolicy<'a>,
    is_requested: bool,
}

impl TargetViolations<'_> {
    /// Returns the error for the first violation.
    fn error(&self) -> Diagnostic {
        self.symbol_error()
            .or_else(|| self.blacklist_error())
            .or_else(|| self.isa_error())
            .unwrap_or_else(|| {
                let limits = self.compliance.limits();
                let reason = limits
                    .iter()
                    .find(|(policy, _)| self.is_below_target(*policy))
                    .map_or("symbols", |(_, reason)| reason);
                self.out_of_reach(&format!("the wheel needs {reason}"))
            })
    }

    fn is_below_target(&self, policy: PlatformPolicy<'_>) -> bool {
        policy.priority() < self.target.priority()
    }

    fn out_of_reach(&self, reason: &str) -> Diagnostic {
        let message = if self.is_requested {
            format!(
                "the wheel cannot comply with `{}`: {reason}",
                self.target.tag()
            )
        } else {
            format!("the wheel cannot comply with any platform: {reason}")
        };
        on_wheel(self.name, &codes::PLATFORM_OUT_OF_REACH, message)
    }

    /// Reports symbol versions that the wheel or a library to graft needs.
    fn symbol_error(&self) -> Option<Diagnostic> {
        let symbol_policy = self.compliance.symbol_policy();
        if !self.is_below_target(symbol_policy) {
            return None;
        }
        if let Some((path, version)) = offenders(self.files, self.target).first() {
            let lacks = if self.is_requested {
                "it does not provide"
            } else {
                "none of them provides"
            };
            let error = self.out_of_reach(&format!("`{path}` needs {version}, which {lacks}"));
            return Some(if symbol_policy.is_linux() {
                error.help("build in an older image")
            } else {
                error.help(format!(
                    "build in an older image, or repair for `{}`",
                    symbol_policy.tag()
                ))
            });
        }
        let gap = self.compliance.gap(self.target);
        let libraries: Vec<&str> = gap
            .iter()
            .flat_map(|gap| gap.libraries.keys())
            .map(String::as_str)
            .collect();
        let reason = format!(
            "a library that would be grafted needs newer symbols: {}",
            libraries.join(", ")
        );
        Some(self.out_of_reach(&reason).help(
            "exclude it with `--exclude`, or repair with older libraries, for example with \
             `--sysroot`",
        ))
    }

    /// Reports symbols on the blacklist of the platform.
    fn blacklist_error(&self) -> Option<Diagnostic> {
        let gap = self.compliance.gap(self.target)?;
        let (library, symbols) = gap.blacklisted.iter().next()?;
        let symbols: Vec<&str> = symbols.iter().map(String::as_str).collect();
        let offers = if self.is_requested {
            "it does not provide"
        } else {
            "none of them provides"
        };
        Some(self.out_of_reach(&format!("{offers} {} of {library}", symbols.join(", "))))
    }

    /// Reports code for x86-64-v2 or later.
    fn isa_error(&self) -> Option<Diagnostic> {
        let compliance = self.compliance;
        if !self.is_below_target(compliance.isa_policy()) {
            return None;
        }
        let own_file = compliance
            .above_baseline
            .first()
            .map(|file_index| self.files[*file_index].path.as_str());
        let system_library = compliance
            .trees
            .values()
            .flat_map(|tree| tree.nodes.values())
            .find_map(|node| match &node.library {
                ResolvedLibrary::System(system) if system.elf.is_above_isa_baseline() => {
                    Some(system.real_path.as_str())
                }
                _ => None,
            });
        let file = own_file.or(system_library).unwrap_or("the wheel");
        Some(
            self.out_of_reach(&format!(
                "`{file}` needs an x86-64 level above the baseline"
            ))
            .help("compile it for baseline x86-64, or accept it with `--disable-isa-ext-check`"),
        )
    }
}
