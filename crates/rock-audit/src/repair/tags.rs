//! The platform tags of a repaired wheel.

use std::collections::BTreeSet;

use super::RepairOptions;
use crate::codes::{rocm, wheel as codes};
use crate::compliance::{Compliance, PolicyIndex, PolicyViolations, lower_policy};
use crate::findings::{also_in, notes_on_other_offenders, offenders, other_system};
use crate::inspect::InspectedFile;
use crate::locations::in_wheel;
use crate::resolve::ResolvedLibrary;
use crate::symbol_version::version_numbers;
use rock_compat::policy::{PlatformPolicies, PlatformPolicy, is_loader};
use rock_diagnostic::{Code, Diagnostic, Severity};
use rock_names::{PlatformSystem, PlatformTags, WheelName};

/// The platform of a repaired wheel.
#[derive(Debug, Clone)]
pub struct PlatformChoice {
    /// The policy whose libraries are not grafted; `None` if no policy applies to the wheel.
    pub policy: Option<PolicyIndex>,
    /// The platform tags of the new name.
    pub tags: PlatformTags,
}

/// The wheel and the options that a platform is chosen by.
#[derive(Clone, Copy)]
pub(super) struct PlatformRequest<'a> {
    /// The file name of the wheel, for the locations of findings.
    pub(super) file_name: &'a str,
    pub(super) name: &'a WheelName,
    pub(super) files: &'a [InspectedFile],
    pub(super) compliance: &'a Compliance,
    /// The requested platform tag; `None` for the most compatible one.
    pub(super) platform: Option<&'a str>,
    pub(super) options: &'a RepairOptions,
}

/// The policies of a repaired wheel.
#[derive(Debug)]
pub(super) struct PolicyChoice<'c> {
    /// The requested policy, or the best one.
    target: PlatformPolicy<'c>,
    /// A policy of higher priority than the requested one with which the wheel also complies.
    better: Option<PlatformPolicy<'c>>,
    /// Every reason why the wheel cannot comply with the target.
    pub(super) violations: Vec<Diagnostic>,
}

impl<'c> PolicyChoice<'c> {
    /// Returns the policies that the repaired wheel complies with, best first.
    fn policies(&self) -> impl Iterator<Item = PlatformPolicy<'c>> {
        self.better.into_iter().chain([self.target])
    }

    /// Returns the policy whose libraries are not grafted.
    pub(super) fn graft_policy(&self) -> PlatformPolicy<'c> {
        self.better.unwrap_or(self.target)
    }
}

impl<'a> PlatformRequest<'a> {
    /// Chooses the policies that the repaired wheel complies with.
    ///
    /// # Errors
    /// Returns an error if no policy has the requested tag.
    pub(super) fn choose_policies(self) -> Result<PolicyChoice<'a>, Diagnostic> {
        let compliance = self.compliance;
        let policies = compliance.policies();
        let requested = match self.platform {
            None => None,
            Some(tag) => Some(
                policies
                    .get(tag)
                    .ok_or_else(|| unknown_platform(self.file_name, tag, policies))?,
            ),
        };
        let limit = compliance.best_repairable_policy();
        let best = lower_policy(limit, graft_policy(compliance, requested));
        let target = requested.unwrap_or(if best.is_linux() {
            policies.lowest()
        } else {
            best
        });
        let violations = TargetViolations {
            file_name: self.file_name,
            files: self.files,
            compliance,
            target,
            is_requested: requested.is_some(),
        };
        Ok(PolicyChoice {
            target,
            better: Some(best)
                .filter(|best| best.priority() > target.priority() && !self.options.only_platform),
            violations: if target.priority() > limit.priority() {
                violations.errors()
            } else {
                Vec::new()
            },
        })
    }

    /// Chooses the platform tags of a wheel that complies with these policies. Also returns
    /// findings about tags of the name that the wheel does not comply with.
    ///
    /// # Errors
    /// Returns an error if the tags are invalid.
    pub(super) fn choose_tags(
        self,
        choice: &PolicyChoice<'_>,
    ) -> Result<(PlatformChoice, Vec<Diagnostic>), Diagnostic> {
        let claims = ClaimedTags {
            file_name: self.file_name,
            name: self.name,
            files: self.files,
            compliance: self.compliance,
        };
        let (tags, findings) =
            if self.options.update_tags && !self.compliance.calls_unidentified_libc {
                claims.updated(choice, self.platform, self.options)?
            } else {
                (self.name.platform_tags().clone(), claims.contradicted())
            };
        let policy = Some(self.compliance.policy_index(choice.graft_policy()));
        Ok((PlatformChoice { policy, tags }, findings))
    }
}

/// Returns the highest policy that needs no more grafts than the requested one, or than any other:
/// an older platform does not justify another graft.
fn graft_policy<'c>(
    compliance: &'c Compliance,
    requested: Option<PlatformPolicy<'c>>,
) -> PlatformPolicy<'c> {
    let violations: Vec<(PlatformPolicy<'c>, &PolicyViolations)> = compliance
        .violations
        .iter()
        .map(|violations| (compliance.policy(violations.policy), violations))
        .filter(|(policy, _)| !policy.is_linux())
        .collect();
    let fewest_grafts = violations
        .iter()
        .filter(|(policy, _)| requested.is_none_or(|requested| *policy == requested))
        .map(|(_, violations)| violations.libraries.len())
        .min();
    violations
        .iter()
        .find(|(_, found)| fewest_grafts.is_some_and(|count| found.libraries.len() <= count))
        .map_or(compliance.policies().linux(), |(policy, _)| *policy)
}

/// A reason why the wheel does not comply with a tag of its name, with the code of the finding.
type Contradiction = (&'static Code, String);

/// The platform tags of the name of a wheel.
#[derive(Clone, Copy)]
struct ClaimedTags<'a> {
    file_name: &'a str,
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
        choice: &PolicyChoice<'_>,
        requested: Option<&str>,
        options: &RepairOptions,
    ) -> Result<(PlatformTags, Vec<Diagnostic>), Diagnostic> {
        let mut tags: Vec<String> = choice.policies().flat_map(|policy| policy.tags()).collect();
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
            .map_err(|error| on_wheel(self.file_name, &codes::BAD_WHEEL_NAME, error.to_string()))?;
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
        on_wheel(self.file_name, code, message).severity(Severity::Warning)
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

fn on_wheel(file_name: &str, code: &'static Code, message: String) -> Diagnostic {
    Diagnostic::new(code, message).at(in_wheel(file_name), "")
}

/// Returns the error that no policy has this tag.
pub(super) fn unknown_platform(
    file_name: &str,
    tag: &str,
    policies: &PlatformPolicies,
) -> Diagnostic {
    let known: Vec<String> = policies.iter().map(|policy| policy.tag()).collect();
    let message = format!("there is no platform `{tag}` for this wheel");
    on_wheel(file_name, &codes::UNKNOWN_PLATFORM, message)
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
    let violations = compliance.violations(claimed);
    if let Some((library, symbols)) = violations.and_then(|found| found.blacklisted.iter().next()) {
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
        .violations(claimed)
        .into_iter()
        .flat_map(|violations| &violations.libraries)
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
    newest_graft_version(library, claimed)
        .or_else(|| is_above_isa_baseline(library).then_some("an x86-64 level above the baseline"))
}

/// Returns the newest symbol version of a grafted library that a policy does not permit.
fn newest_graft_version<'l>(
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
}

/// Returns whether a library of the system needs x86-64-v2 or later.
fn is_above_isa_baseline(library: &ResolvedLibrary) -> bool {
    matches!(library, ResolvedLibrary::System(system) if system.elf.is_above_isa_baseline())
}

/// The reasons why a wheel cannot comply with a platform.
struct TargetViolations<'a> {
    file_name: &'a str,
    files: &'a [InspectedFile],
    compliance: &'a Compliance,
    /// The platform; the lowest one if none was requested.
    target: PlatformPolicy<'a>,
    is_requested: bool,
}

impl TargetViolations<'_> {
    /// Returns an error for each kind of violation, and for each library with symbols on the
    /// blacklist; never none.
    fn errors(&self) -> Vec<Diagnostic> {
        let mut errors: Vec<Diagnostic> = self.own_symbols_error().into_iter().collect();
        errors.extend(self.graft_symbols_error(errors.is_empty()));
        errors.extend(self.blacklist_errors());
        errors.extend(self.isa_errors());
        errors.extend(self.python_error());
        if errors.is_empty() {
            let limits = self.compliance.limits();
            let reason = limits
                .iter()
                .find(|(policy, _)| self.is_below_target(*policy))
                .map_or("symbols", |(_, reason)| reason);
            errors.push(self.out_of_reach(&format!("the wheel needs {reason}")));
        }
        errors
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
        on_wheel(self.file_name, &codes::PLATFORM_OUT_OF_REACH, message)
    }

    /// Reports symbol versions that files of the wheel need.
    fn own_symbols_error(&self) -> Option<Diagnostic> {
        let symbol_policy = self.compliance.symbol_policy();
        if !self.is_below_target(symbol_policy) {
            return None;
        }
        let offenders = offenders(self.files, self.target);
        let (path, version) = offenders.first()?;
        let lacks = if self.is_requested {
            "it does not provide"
        } else {
            "none of them provides"
        };
        let error = notes_on_other_offenders(&offenders).into_iter().fold(
            self.out_of_reach(&format!("`{path}` needs {version}, which {lacks}")),
            Diagnostic::note,
        );
        Some(if symbol_policy.is_linux() {
            error.help("build in an older image")
        } else {
            error.help(format!(
                "build in an older image, or repair for `{}`",
                symbol_policy.tag()
            ))
        })
    }

    /// Reports libraries to graft that need newer symbols. If none is known to, all are reported if
    /// `is_only_cause`: the files of the wheel do not.
    fn graft_symbols_error(&self, is_only_cause: bool) -> Option<Diagnostic> {
        if !self.is_below_target(self.compliance.symbol_policy()) {
            return None;
        }
        let violations = self.compliance.violations(self.target)?;
        let mut names: Vec<&str> = violations
            .libraries
            .iter()
            .filter(|(_, library)| newest_graft_version(library, self.target).is_some())
            .map(|(name, _)| name.as_str())
            .collect();
        if names.is_empty() && is_only_cause {
            names = violations.libraries.keys().map(String::as_str).collect();
        }
        if names.is_empty() {
            return None;
        }
        let reason = format!(
            "a library that would be grafted needs newer symbols: {}",
            names.join(", ")
        );
        Some(self.out_of_reach(&reason).help(
            "exclude it with `--exclude`, or repair with older libraries, for example with \
             `--sysroot`",
        ))
    }

    /// Reports symbols on the blacklist of the platform, by library.
    fn blacklist_errors(&self) -> Vec<Diagnostic> {
        if !self.is_below_target(self.compliance.blacklist_policy()) {
            return Vec::new();
        }
        let lacks = if self.is_requested {
            "it does not provide"
        } else {
            "none of them provides"
        };
        self.compliance
            .violations(self.target)
            .into_iter()
            .flat_map(|violations| &violations.blacklisted)
            .map(|(library, symbols)| {
                let symbols: Vec<&str> = symbols.iter().map(String::as_str).collect();
                self.out_of_reach(&format!("{lacks} {} of {library}", symbols.join(", ")))
            })
            .collect()
    }

    /// Reports code for x86-64-v2 or later: in files of the wheel, and in libraries to graft.
    fn isa_errors(&self) -> Vec<Diagnostic> {
        let compliance = self.compliance;
        if !self.is_below_target(compliance.isa_policy()) {
            return Vec::new();
        }
        let error = |file: &str| {
            self.out_of_reach(&format!(
                "`{file}` needs an x86-64 level above the baseline"
            ))
            .help("compile it for baseline x86-64, or accept it with `--disable-isa-ext-check`")
        };
        let own_files = &compliance.above_baseline;
        let paths: Vec<&str> = own_files
            .iter()
            .map(|index| self.files[*index].path.as_str())
            .collect();
        let mut errors: Vec<Diagnostic> = paths
            .first()
            .map(|path| also_in(error(path), self.file_name, paths.iter().copied()))
            .into_iter()
            .collect();
        let grafts = compliance
            .violations(self.target)
            .into_iter()
            .flat_map(|violations| violations.libraries.values());
        errors.extend(system_files_above_baseline(grafts).into_iter().map(error));
        if errors.is_empty() {
            let libraries = compliance
                .trees
                .values()
                .flat_map(|tree| tree.nodes.values())
                .map(|node| &node.library);
            let path = system_files_above_baseline(libraries).into_iter().next();
            errors.push(error(path.unwrap_or("the wheel")));
        }
        errors
    }

    /// Reports a build of Python that not every system has.
    fn python_error(&self) -> Option<Diagnostic> {
        let need = self.compliance.python_need()?;
        Some(self.out_of_reach(&format!("the wheel needs {need}")))
    }
}

/// Returns the paths of libraries of the system that need x86-64-v2 or later.
fn system_files_above_baseline<'l>(
    libraries: impl Iterator<Item = &'l ResolvedLibrary>,
) -> BTreeSet<&'l str> {
    libraries
        .filter_map(|library| match library {
            ResolvedLibrary::System(system) if system.elf.is_above_isa_baseline() => {
                Some(system.real_path.as_str())
            }
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests;
