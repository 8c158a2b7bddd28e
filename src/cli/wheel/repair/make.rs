//! The repaired wheel: what changes in its members, what comes along, and the writing of it.

use std::collections::BTreeSet;

use super::edited::{Edited, Strip, changes};
use super::planning::sha256;
use super::{Done, Faults, Job, save};
use crate::audit::{self, Graft, Made, Owners, Part, Plan, Report};
use crate::bytes::{ScratchFactory, Target, is_same};
use crate::cli::wheel::bar::{Bar, Watchers};
use crate::codes::elf as elf_codes;
use crate::diagnostic::{Diagnostic, Location};
use crate::names::WheelName;
use crate::sys::{FileError, PositionalFile};
use crate::template;
use crate::wheel::{
    self, AddedMember, CopiedMembers, DosTime, MemberContent, MemberView, RecordCheck,
    RewriteOptions, UnchangedMembers, Wheel, WheelEdits, WheelError, WheelRewriter,
};

/// What a wheel is made with.
pub(super) struct Making<'m> {
    pub(super) job: &'m Job<'m>,
    pub(super) wheel: &'m Wheel<'m>,
    pub(super) report: &'m Report<'m>,
    /// Whether the result would have the name of the wheel it is made of, in the same folder.
    pub(super) is_in_place: bool,
    /// Where members go that must be read out of order.
    pub(super) make_scratch: &'m ScratchFactory<'m>,
    /// The time of all members.
    pub(super) time: Option<DosTime>,
}

/// Files with their changes, by their paths.
type Files<'f> = Vec<(String, Edited<'f>)>;

impl Making<'_> {
    /// Writes the wheel of the plan, with these edits of dist-info; a dry run does all but the
    /// writing.
    pub(super) fn write<'e>(
        &'e self,
        plan: &'e Plan,
        edits: WheelEdits<'e>,
        done: &mut Done,
    ) -> Result<(), Vec<Diagnostic>> {
        let Job {
            file, args, shell, ..
        } = *self.job;
        let (members, mut faults) = self.members(plan);
        let (mut grafts, more) = self.grafts(plan);
        faults.extend(more);
        if !faults.is_empty() {
            return Err(faults);
        }
        done.stripped = members
            .iter()
            .chain(&grafts)
            .filter(|(_, file)| file.is_stripped())
            .map(named)
            .collect();
        let parts = self.parts(plan, &grafts)?;
        grafts.retain(|(path, _)| !plan.present.contains(path));
        let edits = self.edits(plan, edits, &members, &grafts, &parts, done);
        let options = RewriteOptions {
            level: args.zip_compression_level,
            time: self.time,
            unchanged: if args.recompress {
                UnchangedMembers::Recompress
            } else {
                UnchangedMembers::Copy
            },
            record_check: if args.trust_record {
                RecordCheck::AllowWeakHashes
            } else {
                RecordCheck::AllMembers
            },
        };
        let bar = Bar::new(Watchers::of(shell), &done.name.to_string());
        let mut mended = Vec::new();
        let write = |target: &mut dyn Target| {
            let rewriter = WheelRewriter {
                wheel: self.wheel,
                edits: &edits,
                options: &options,
            };
            let written = rewriter.write(target, &|progress| bar.tell(progress));
            let fault = |error: WheelError| match error {
                WheelError::Write(error) => FileError::new("write", &done.out, error).into(),
                error => Faults(vec![error.diagnostic(&file.shown)]),
            };
            mended = written.map_err(fault)?.findings(&file.shown);
            Ok(())
        };
        let check = |made: &PositionalFile| match self.faults(plan, made, &done.name, &edits) {
            none if none.is_empty() => Ok(()),
            faults => Err(Faults(faults)),
        };
        done.saved = save(args, &done.out, self.is_in_place, write, check)?;
        done.findings.extend(mended);
        Ok(())
    }

    /// What is wrong with a wheel that was written. Only what is not of the old wheel is read.
    fn faults(
        &self,
        plan: &Plan,
        made: &PositionalFile,
        name: &WheelName,
        edits: &WheelEdits<'_>,
    ) -> Vec<Diagnostic> {
        let shown = name.to_string();
        let fault = |error: WheelError| error.diagnostic(&shown);
        let new = match Wheel::open(made) {
            Ok(new) => new,
            Err(error) => return vec![fault(error)],
        };
        let carried = CopiedMembers::new(self.wheel, &new);
        let files = match self.job.judge.facts(&new, &self.job.file.name, &|member| {
            !carried.contains(member)
        }) {
            Ok(files) => files,
            Err(errors) => return errors.into_iter().map(fault).collect(),
        };
        let vouched: BTreeSet<String> = files
            .iter()
            .filter(|file| file.is_vouched)
            .map(|file| file.path.clone())
            .collect();
        let mut faults = wheel::verify_except(&new, name, &|member| {
            carried.contains(member) || vouched.contains(member.name())
        });
        // What was wrong with the old wheel was told.
        let is_told = |fault: &Diagnostic| {
            self.report
                .findings
                .iter()
                .any(|finding| finding.code == fault.code)
        };
        faults.retain(|fault| fault.is_error() && !is_told(fault));
        let new_path = |path: &str| edits.new_name(path);
        let made = Made {
            name,
            archive: new.archive(),
            files,
            removed: &edits.removed,
            new_path: &new_path,
        };
        faults.extend(audit::shortfalls(self.report, plan, made));
        faults
    }

    /// Files of the wheel in which something changes, and those that cannot be changed.
    fn members(&self, plan: &Plan) -> (Files<'_>, Vec<Diagnostic>) {
        let archive = self.wheel.archive();
        let along = plan.graft_paths();
        let is_stripped = |path: &&str| {
            self.job.args.strip && !plan.dropped.contains_key(*path) && !along.contains(*path)
        };
        let stripped = self
            .report
            .libraries()
            .map(|(path, _)| path)
            .filter(is_stripped);
        let paths: BTreeSet<&str> = plan
            .edits
            .keys()
            .map(String::as_str)
            .chain(stripped)
            .collect();
        let (mut files, mut faults) = (Vec::new(), Vec::new());
        for path in paths {
            let Some(member) = archive.member(path) else {
                continue;
            };
            let edits = plan.edits.get(path).cloned().unwrap_or_default();
            let view = MemberView::new(archive, member, self.make_scratch, None);
            match changes(&view, &edits, self.strip()) {
                Ok(changes) if changes.is_empty() => {}
                Ok(changes) => {
                    let base = MemberView::forward(archive, member, self.make_scratch);
                    files.push((path.to_owned(), Edited::new(Box::new(base), changes)));
                }
                Err(error) => faults.push(self.uneditable(path, &error)),
            }
        }
        (files, faults)
    }

    /// Libraries that come along, with what changes in them, and those that cannot be changed.
    fn grafts(&self, plan: &Plan) -> (Files<'_>, Vec<Diagnostic>) {
        let (mut files, mut faults) = (Vec::new(), Vec::new());
        for graft in &plan.grafts {
            let path = &graft.library.real_path;
            let made = self
                .job
                .judge
                .open(path)
                .map_err(|error| error.to_string())
                .and_then(|source| {
                    let changes = changes(source.as_ref(), &graft.edits, self.strip())
                        .map_err(|error| error.to_string())?;
                    Ok(Edited::new(source, changes))
                });
            match made {
                Ok(edited) => files.push((plan.path_of(graft), edited)),
                Err(error) => faults.push(self.uneditable(path, &error)),
            }
        }
        (files, faults)
    }

    /// What the list of parts says of the libraries that come along, in the order of the plan.
    fn parts(&self, plan: &Plan, grafts: &Files<'_>) -> Result<Vec<Part>, Vec<Diagnostic>> {
        let mut owners = Owners::new(&self.job.judge.root);
        let part = |(graft, (path, edited)): (&Graft, &(String, Edited<'_>))| {
            let digest = sha256(edited).map_err(|error| {
                vec![Diagnostic::from(FileError::new(
                    "read",
                    path.as_ref(),
                    error,
                ))]
            })?;
            Ok(Part {
                digest,
                owner: owners.package_url(&graft.library.real_path),
            })
        };
        plan.grafts.iter().zip(grafts).map(part).collect()
    }

    /// Looks which libraries that come along the wheel holds: the same to the byte where an earlier
    /// repair has left them, or another file of the name.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(super) fn settle(&self, plan: &mut Plan) -> Result<(), Vec<Diagnostic>> {
        let archive = self.wheel.archive();
        if !plan
            .graft_paths()
            .iter()
            .any(|path| archive.member(path).is_some())
        {
            return Ok(());
        }
        let (grafts, _) = self.grafts(plan);
        let (mut same, mut others) = (BTreeSet::new(), BTreeSet::new());
        for (path, edited) in &grafts {
            let Some(member) = archive.member(path) else {
                continue;
            };
            let there = MemberView::forward(archive, member, self.make_scratch);
            let is_same = is_same(&there, edited).map_err(|error| {
                vec![Diagnostic::from(FileError::new(
                    "read",
                    path.as_ref(),
                    error,
                ))]
            })?;
            if is_same { &mut same } else { &mut others }.insert(path.clone());
        }
        plan.settle(&self.job.file.name, same, others);
        Ok(())
    }

    fn strip(&self) -> Strip {
        if self.job.args.strip {
            Strip::Debug
        } else {
            Strip::Nothing
        }
    }

    fn uneditable(&self, path: &str, error: &dyn std::fmt::Display) -> Diagnostic {
        let place = Location::Member {
            wheel: self.job.file.shown.clone(),
            member: path.to_owned(),
        };
        Diagnostic::new(
            &elf_codes::UNEDITABLE_ELF,
            format!("it cannot be changed safely: {error}"),
        )
        .at(place, "")
    }

    /// Everything that changes in the wheel, its bill of what came along among it.
    fn edits<'e>(
        &'e self,
        plan: &Plan,
        mut edits: WheelEdits<'e>,
        members: &'e Files<'_>,
        grafts: &'e Files<'_>,
        parts: &[Part],
        done: &Done,
    ) -> WheelEdits<'e> {
        let archive = self.wheel.archive();
        edits.replaced.extend(members.iter().map(|(path, edited)| {
            let member = archive.member(path).filter(|_| !self.job.args.recompress);
            let content = member.map_or(MemberContent::Source(edited), |member| {
                edited.content(archive, member)
            });
            (path.clone(), content)
        }));
        for (path, edited) in grafts {
            let content = MemberContent::Source(edited);
            if plan.replaced.contains(path) {
                edits.replaced.insert(path.clone(), content);
            } else {
                edits
                    .added
                    .insert(path.clone(), AddedMember::executable(content));
            }
        }
        for (old, new) in &plan.moved {
            edits.renamed.insert(old.clone(), new.clone());
            edits
                .added
                .insert(old.clone(), AddedMember::executable(starter(new)));
        }
        edits.removed.extend(plan.dropped.keys().cloned());
        if !plan.grafts.is_empty() {
            let bill = audit::sbom(
                &done.name,
                plan,
                parts,
                done.excluded.iter().map(String::as_str),
            );
            // An earlier repair has left its own.
            let paths = (1..).map(|repair| self.wheel.dist_info_path(&audit::sbom_path(repair)));
            let free = paths
                .into_iter()
                .find(|path| self.wheel.archive().member(path).is_none());
            edits.added.insert(
                free.expect("archives have an end"),
                AddedMember::plain(bill),
            );
        }
        let vouched = self.report.files.iter().filter(|file| file.is_vouched);
        edits.verified = vouched.map(|file| file.path.clone()).collect();
        edits
    }
}

fn named((path, _): &(String, Edited<'_>)) -> String {
    path.clone()
}

/// The script that starts a program which moved into the wheel.
fn starter(path: &str) -> Vec<u8> {
    #[derive(serde::Serialize)]
    struct View {
        folder: String,
        name: String,
    }
    let (folder, name) = path.split_once('/').unwrap_or(("", path));
    let quoted = |text: &str| serde_json::to_string(text).expect("a text serialises");
    let view = View {
        folder: quoted(folder),
        name: quoted(name),
    };
    let text = include_str!("../../../../templates/wheel/program.py");
    template::render("program.py", text, &view)
        .expect("the template is sound")
        .into_bytes()
}
