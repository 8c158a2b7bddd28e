//! The `set` commands of a CMake file, and the blocks around them.

use std::ops::Range;

use super::lex::{self, CmakeArgument};

/// A parsed CMake file.
#[derive(Debug, Clone, Default)]
pub struct CmakeScript {
    /// All `set` commands, in the order of the file.
    pub sets: Vec<SetCommand>,
    /// Errors that prevent reading the rest.
    pub faults: Vec<CmakeError>,
    /// The branches of all blocks, outer ones first.
    branches: Vec<IfBranch>,
}

/// A `set(NAME VALUES…)` command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetCommand {
    /// The variable; `ENV{NAME}` for an environment variable.
    pub name: String,
    /// The values; empty if the command unsets the variable.
    pub values: Vec<CmakeArgument>,
    /// The line number, from 1.
    pub line: usize,
    /// The byte range of the command.
    pub span: Range<usize>,
    /// The innermost branch around the command.
    within: Option<BranchIndex>,
}

/// The index of a branch in its script.
type BranchIndex = usize;

/// A branch of an `if` block.
#[derive(Debug, Clone)]
struct IfBranch {
    /// The condition as written, with single spaces between its words.
    condition: String,
    /// Whether the condition holds in the branch; otherwise it is an `else` or `elseif` after it.
    holds: bool,
    /// The branch around this one, or the one that this is the `else` of. Its index is lower.
    parent: Option<BranchIndex>,
}

/// A block without its `endif` so far.
#[derive(Debug)]
struct OpenBlock {
    /// The byte range of its first command.
    span: Range<usize>,
    /// The branch around the block.
    around: Option<BranchIndex>,
    /// The innermost of its branches whose condition does not hold here.
    failed: Option<BranchIndex>,
    /// The branch whose condition holds here; `None` in an `else`.
    holds: Option<BranchIndex>,
}

impl OpenBlock {
    fn innermost(&self) -> Option<BranchIndex> {
        self.holds.or(self.failed).or(self.around)
    }
}

/// The reason why a file cannot be read as intended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CmakeError {
    /// A conflict marker of an unfinished merge.
    ConflictMarker {
        /// The byte range of the line.
        span: Range<usize>,
    },
    /// An unterminated quote, bracket or parenthesis; the rest of the file is not read.
    Unclosed {
        /// The element, such as `a quote`.
        what: &'static str,
        /// The start of the element.
        span: Range<usize>,
    },
    /// An `if` without `endif`, or an `else`, `elseif` or `endif` without `if`.
    Unbalanced {
        /// The byte range of the command.
        span: Range<usize>,
    },
}

impl SetCommand {
    /// Returns the value as CMake stores it: one text with `;` between the values.
    pub fn value(&self) -> String {
        self.values
            .iter()
            .map(|one| one.text.as_str())
            .collect::<Vec<_>>()
            .join(";")
    }

    /// Returns the individual values; a value that is itself a list is split.
    pub fn list(&self) -> Vec<String> {
        let whole = self.value();
        if whole.is_empty() {
            Vec::new()
        } else {
            whole.split(';').map(str::to_owned).collect()
        }
    }
}

impl CmakeScript {
    /// Parses a file, in time linear in its length however deep its blocks are nested.
    pub fn parse(text: &str) -> Self {
        let mut script = Self {
            faults: conflict_markers(text),
            ..Self::default()
        };
        let (commands, unclosed) = lex::commands(text);
        let lines = LineIndex::of(text);
        let mut open: Vec<OpenBlock> = Vec::new();
        for command in commands {
            match command.name.as_str() {
                "if" => {
                    let around = open.last().and_then(OpenBlock::innermost);
                    let holds =
                        Some(script.add_branch(condition(&command.arguments), true, around));
                    open.push(OpenBlock {
                        span: command.span,
                        around,
                        failed: None,
                        holds,
                    });
                }
                "elseif" | "else" => match open.last_mut() {
                    Some(block) => {
                        if let Some(held) = block.holds.take() {
                            let condition = script.branches[held].condition.clone();
                            block.failed = Some(script.add_branch(
                                condition,
                                false,
                                block.failed.or(block.around),
                            ));
                        }
                        if command.name == "elseif" {
                            let parent = block.innermost();
                            block.holds = Some(script.add_branch(
                                condition(&command.arguments),
                                true,
                                parent,
                            ));
                        }
                    }
                    None => script
                        .faults
                        .push(CmakeError::Unbalanced { span: command.span }),
                },
                "endif" if open.pop().is_none() => {
                    script
                        .faults
                        .push(CmakeError::Unbalanced { span: command.span });
                }
                "set" => {
                    let mut values = command.arguments.into_iter();
                    let Some(name) = values.next() else { continue };
                    script.sets.push(SetCommand {
                        name: name.text,
                        values: plain_values(values.collect()),
                        line: lines.of_offset(command.span.start),
                        span: command.span,
                        within: open.last().and_then(OpenBlock::innermost),
                    });
                }
                _ => {}
            }
        }
        script.faults.extend(
            open.into_iter()
                .map(|block| CmakeError::Unbalanced { span: block.span }),
        );
        script
            .faults
            .extend(unclosed.map(|found| CmakeError::Unclosed {
                what: found.what,
                span: found.at..found.at + 1,
            }));
        script
    }

    fn add_branch(
        &mut self,
        condition: String,
        holds: bool,
        parent: Option<BranchIndex>,
    ) -> BranchIndex {
        self.branches.push(IfBranch {
            condition,
            holds,
            parent,
        });
        self.branches.len() - 1
    }

    /// Returns the `set` commands outside of branches where a condition that is exactly one of
    /// these variables holds.
    pub fn sets_outside(&self, variables: &[String]) -> impl Iterator<Item = &SetCommand> {
        let mut is_inside: Vec<bool> = Vec::with_capacity(self.branches.len());
        for branch in &self.branches {
            let is_named = branch.holds && variables.contains(&branch.condition);
            is_inside.push(is_named || branch.parent.is_some_and(|parent| is_inside[parent]));
        }
        self.sets
            .iter()
            .filter(move |set| !set.within.is_some_and(|branch| is_inside[branch]))
    }
}

/// Returns a condition with single spaces between its words.
fn condition(arguments: &[CmakeArgument]) -> String {
    let words: Vec<&str> = arguments.iter().map(|one| one.text.as_str()).collect();
    words.join(" ")
}

/// Removes `CACHE TYPE TEXT [FORCE]` and `PARENT_SCOPE`, which set the scope of the variable.
fn plain_values(mut values: Vec<CmakeArgument>) -> Vec<CmakeArgument> {
    let is = |argument: &CmakeArgument, word: &str| !argument.is_quoted && argument.text == word;
    if let Some(at) = values.iter().position(|argument| is(argument, "CACHE")) {
        values.truncate(at);
    } else if values.last().is_some_and(|last| is(last, "PARENT_SCOPE")) {
        values.pop();
    }
    values
}

/// Returns the lines that start like the conflict markers of git.
fn conflict_markers(text: &str) -> Vec<CmakeError> {
    let mut start = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let is_marker = ["<<<<<<< ", "||||||| ", ">>>>>>> "]
            .iter()
            .any(|marker| line.starts_with(marker))
            || line.trim_end() == "=======";
        if is_marker {
            found.push(CmakeError::ConflictMarker {
                span: start..start + line.trim_end().len(),
            });
        }
        start += line.len();
    }
    found
}

/// The offsets of the starts of lines.
struct LineIndex(Vec<usize>);

impl LineIndex {
    fn of(text: &str) -> Self {
        Self(
            std::iter::once(0)
                .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                .collect(),
        )
    }

    /// Returns the line number of an offset, from 1.
    fn of_offset(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset)
    }
}

#[cfg(test)]
mod tests {
    use super::{CmakeError, CmakeScript};

    /// Checks `NAME=VALUE` of every `set`, with its line and its blocks.
    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let script = CmakeScript::parse(text);
        assert_eq!(script.faults, [], "{text}");
        let line = |set: &super::SetCommand| {
            let parent = |index: &usize| script.branches[*index].parent;
            let mut within: Vec<usize> = std::iter::successors(set.within, parent).collect();
            within.reverse();
            let branches = within.into_iter().map(|index| &script.branches[index]);
            let texts = branches
                .map(|one| format!(" {}{}", if one.holds { "" } else { "!" }, one.condition));
            format!(
                "{} {}={}{}",
                set.line,
                set.name,
                set.value(),
                texts.collect::<String>()
            )
        };
        assert_eq!(
            script.sets.iter().map(line).collect::<Vec<_>>(),
            expect,
            "{text}"
        );
    }

    #[test]
    fn values_are_quoted_bare_or_in_brackets_and_joined_as_a_list() {
        check("set(A x)\nSet ( B  \"y z\" )", &["1 A=x", "2 B=y z"]);
        check(
            "set(L a;b \"c\" [[d\ne]] [=[ ]] ]=])",
            &["1 L=a;b;c;d\ne; ]] "],
        );
        check("set(E \"a\\\"b\\\\c\\nd\")", &["1 E=a\"b\\c\\nd"]);
        check("set(J \"a\\\nb\")", &["1 J=ab"]);
        check("set(U)\nset(V \"\")", &["1 U=", "2 V="]);
        check(
            "set(ENV{P} $ENV{Q}/x)\nset(R \"${S}\")",
            &["1 ENV{P}=$ENV{Q}/x", "2 R=${S}"],
        );
        check(
            "set(C v CACHE STRING \"about\" FORCE)\nset(D v PARENT_SCOPE)",
            &["1 C=v", "2 D=v"],
        );
        check("set(P -D\"a b\"=c d)", &["1 P=-D\"a b\"=c;d"]);
        assert_eq!(
            CmakeScript::parse("set(L a;b c)").sets[0].list(),
            ["a", "b", "c"]
        );
        assert_eq!(
            CmakeScript::parse("set(L)").sets[0].list(),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_comment_begins_at_a_hash_outside_of_quotes() {
        check("# set(A x)\nset(B y) # set(C z)\n", &["2 B=y"]);
        check("set(L \"a#b\" # first)\n  c # second\n)", &["1 L=a#b;c"]);
        check(
            "#[[ set(A x)\n]] set(B y)\n#[=[ ]] set(C z) ]=]set(D w)",
            &["2 B=y", "3 D=w"],
        );
        check("message(\"set(A x)\")\nset(B y)", &["2 B=y"]);
    }

    #[test]
    fn blocks_are_reported_with_their_conditions() {
        check(
            "if(NOT X)\nset(A 1)\nif(DEFINED ENV{P})\nset(B 2)\nelseif(Q AND (R OR S))\nset(B 3)\nelse()\nset(B 4)\nendif()\nendif()\nset(C 5)",
            &[
                "2 A=1 NOT X",
                "4 B=2 NOT X DEFINED ENV{P}",
                "6 B=3 NOT X !DEFINED ENV{P} Q AND ( R OR S )",
                "8 B=4 NOT X !DEFINED ENV{P} !Q AND ( R OR S )",
                "11 C=5",
            ],
        );
        let script = CmakeScript::parse(
            "if(USE_ASAN)\nset(A 1)\nelse()\nset(A 2)\nendif()\nif(NOT USE_ASAN)\nset(A 3)\nendif()",
        );
        let outside: Vec<String> = script
            .sets_outside(&["USE_ASAN".to_owned()])
            .map(super::SetCommand::value)
            .collect();
        assert_eq!(outside, ["2", "3"]);
    }

    /// When each `set` had a copy of all branches around it, 100,000 of them took a minute and 10
    /// GB.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test bounds a time")]
    fn deep_blocks_and_long_chains_are_read_in_linear_time() {
        let count = 100_000;
        let deep = "if(X)\nset(A 1)\n".repeat(count) + &"endif()\n".repeat(count);
        let chain = "if(X)\n".to_owned() + &"set(A 1)\nelseif(Y)\n".repeat(count) + "endif()";
        for (text, outside) in [(deep, 0), (chain, count - 1)] {
            let began = std::time::Instant::now();
            let script = CmakeScript::parse(&text);
            let found = script.sets_outside(&["X".to_owned()]).count();
            assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
            assert_eq!(
                (script.faults.as_slice(), script.sets.len(), found),
                (&[][..], count, outside)
            );
        }
    }

    #[test]
    fn an_unterminated_command_is_reported_and_earlier_ones_kept() {
        let check = |text: &str, expect: &[CmakeError]| {
            let script = CmakeScript::parse(text);
            assert_eq!(script.faults, expect, "{text}");
            assert_eq!(script.sets.len(), 1, "{text}");
        };
        check(
            "set(A 1)\nset(B",
            &[CmakeError::Unclosed {
                what: "a parenthesis",
                span: 9..10,
            }],
        );
        check(
            "set(A 1)\nset(B \"x)",
            &[CmakeError::Unclosed {
                what: "a quote",
                span: 15..16,
            }],
        );
        check(
            "set(A 1)\nset(B [=[x]])",
            &[CmakeError::Unclosed {
                what: "a bracket",
                span: 15..16,
            }],
        );
        check(
            "set(A 1)\n#[[ set(B x)",
            &[CmakeError::Unclosed {
                what: "a bracket",
                span: 10..11,
            }],
        );
        check(
            "set(A 1)\nendif()",
            &[CmakeError::Unbalanced { span: 9..16 }],
        );
        check("if(X)\nset(A 1)", &[CmakeError::Unbalanced { span: 0..5 }]);
    }

    #[test]
    fn marks_of_a_merge_are_reported() {
        let text = "set(A 1)\n<<<<<<< HEAD\nset(B 2)\n=======\nset(B 3)\n>>>>>>> theirs\n";
        let script = CmakeScript::parse(text);
        let marker_of = |fault: &CmakeError| match fault {
            CmakeError::ConflictMarker { span } => text[span.clone()].to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            script.faults.iter().map(marker_of).collect::<Vec<_>>(),
            ["<<<<<<< HEAD", "=======", ">>>>>>> theirs"]
        );
        assert_eq!(script.sets.len(), 3);
        assert_eq!(CmakeScript::parse("# =======\n#<<<<<<< x\n").faults, []);
    }
}
