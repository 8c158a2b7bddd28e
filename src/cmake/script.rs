//! What a CMake file sets, and in which blocks.

use std::ops::Range;

use super::lex::{self, Argument};

/// A file as it was read.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// Every `set`, in the order of the file.
    pub sets: Vec<Set>,
    /// What stands in the way of reading the rest.
    pub faults: Vec<Fault>,
}

/// One `set(NAME VALUES…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// The variable; `ENV{NAME}` for one of the environment.
    pub name: String,
    /// What it is set to; without values it is unset.
    pub values: Vec<Argument>,
    /// Its line, from 1.
    pub line: usize,
    /// Where it stands.
    pub span: Range<usize>,
    /// The blocks around it, outermost first.
    pub within: Vec<Branch>,
}

/// A branch of an `if` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// The condition as written, with single blanks between its words.
    pub condition: String,
    /// Whether the branch is that in which the condition holds; else an `else` or `elseif` after it.
    pub holds: bool,
}

/// Why a file cannot be read as what it was meant to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A line that a merge left behind.
    ConflictMarker {
        /// Where it stands.
        span: Range<usize>,
    },
    /// A quote, bracket or parenthesis without its end; nothing after it is read.
    Unclosed {
        /// `a quote`.
        what: &'static str,
        /// Where it begins.
        span: Range<usize>,
    },
    /// An `if` without `endif`, or the other way round.
    Unbalanced {
        /// The command.
        span: Range<usize>,
    },
}

impl Set {
    /// The values as CMake holds them: one text with `;` between them.
    pub fn value(&self) -> String {
        self.values.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(";")
    }

    /// The values one by one; a value that is a list itself counts as its parts.
    pub fn list(&self) -> Vec<String> {
        let whole = self.value();
        if whole.is_empty() { Vec::new() } else { whole.split(';').map(str::to_owned).collect() }
    }

    /// Whether it stands where a condition holds that names this variable as a word of its own.
    pub fn is_within(&self, variable: &str) -> bool {
        self.within.iter().any(|branch| branch.holds && branch.condition == variable)
    }
}

impl Script {
    /// Reads a file.
    pub fn parse(text: &str) -> Self {
        let mut script = Self { sets: Vec::new(), faults: conflict_markers(text) };
        let (commands, unclosed) = lex::commands(text);
        let lines = Lines::of(text);
        // The open blocks: the branches of each that hold or not here, and where it began.
        let mut open: Vec<(Vec<Branch>, Range<usize>)> = Vec::new();
        for command in commands {
            match command.name.as_str() {
                "if" => open.push((vec![branch(&command.arguments)], command.span)),
                "elseif" | "else" => match open.last_mut() {
                    Some((branches, _)) => {
                        for branch in branches.iter_mut() {
                            branch.holds = false;
                        }
                        if command.name == "elseif" {
                            branches.push(branch(&command.arguments));
                        }
                    }
                    None => script.faults.push(Fault::Unbalanced { span: command.span }),
                },
                "endif" if open.pop().is_none() => script.faults.push(Fault::Unbalanced { span: command.span }),
                "set" => {
                    let mut values = command.arguments.into_iter();
                    let Some(name) = values.next() else { continue };
                    script.sets.push(Set {
                        name: name.text,
                        values: plain_values(values.collect()),
                        line: lines.of_offset(command.span.start),
                        span: command.span,
                        within: open.iter().flat_map(|(branches, _)| branches.iter().cloned()).collect(),
                    });
                }
                _ => {}
            }
        }
        script.faults.extend(open.into_iter().map(|(_, span)| Fault::Unbalanced { span }));
        script.faults.extend(unclosed.map(|found| Fault::Unclosed { what: found.what, span: found.at..found.at + 1 }));
        script
    }
}

fn branch(arguments: &[Argument]) -> Branch {
    let words: Vec<&str> = arguments.iter().map(|one| one.text.as_str()).collect();
    Branch { condition: words.join(" "), holds: true }
}

/// Without `CACHE TYPE TEXT [FORCE]` and `PARENT_SCOPE`, which say where the variable lives.
fn plain_values(mut values: Vec<Argument>) -> Vec<Argument> {
    let is = |argument: &Argument, word: &str| !argument.is_quoted && argument.text == word;
    if let Some(at) = values.iter().position(|argument| is(argument, "CACHE")) {
        values.truncate(at);
    } else if values.last().is_some_and(|last| is(last, "PARENT_SCOPE")) {
        values.pop();
    }
    values
}

/// Lines that begin as those that git leaves around what it could not merge.
fn conflict_markers(text: &str) -> Vec<Fault> {
    let mut start = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let is_marker = ["<<<<<<< ", "||||||| ", ">>>>>>> "].iter().any(|marker| line.starts_with(marker))
            || line.trim_end() == "=======";
        if is_marker {
            found.push(Fault::ConflictMarker { span: start..start + line.trim_end().len() });
        }
        start += line.len();
    }
    found
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// The line of an offset, from 1.
    fn of_offset(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset)
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, Script};

    /// `NAME=VALUE` of every set, with its line and its blocks.
    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let script = Script::parse(text);
        assert_eq!(script.faults, [], "{text}");
        let line = |set: &super::Set| {
            let within = set.within.iter().map(|one| format!(" {}{}", if one.holds { "" } else { "!" }, one.condition));
            format!("{} {}={}{}", set.line, set.name, set.value(), within.collect::<String>())
        };
        assert_eq!(script.sets.iter().map(line).collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn values_are_quoted_bare_or_in_brackets_and_joined_as_a_list() {
        check("set(A x)\nSet ( B  \"y z\" )", &["1 A=x", "2 B=y z"]);
        check("set(L a;b \"c\" [[d\ne]] [=[ ]] ]=])", &["1 L=a;b;c;d\ne; ]] "]);
        check("set(E \"a\\\"b\\\\c\\nd\")", &["1 E=a\"b\\c\\nd"]);
        check("set(J \"a\\\nb\")", &["1 J=ab"]);
        check("set(U)\nset(V \"\")", &["1 U=", "2 V="]);
        check("set(ENV{P} $ENV{Q}/x)\nset(R \"${S}\")", &["1 ENV{P}=$ENV{Q}/x", "2 R=${S}"]);
        check("set(C v CACHE STRING \"about\" FORCE)\nset(D v PARENT_SCOPE)", &["1 C=v", "2 D=v"]);
        check("set(P -D\"a b\"=c d)", &["1 P=-D\"a b\"=c;d"]);
        assert_eq!(Script::parse("set(L a;b c)").sets[0].list(), ["a", "b", "c"]);
        assert_eq!(Script::parse("set(L)").sets[0].list(), Vec::<String>::new());
    }

    #[test]
    fn a_comment_begins_at_a_hash_outside_of_quotes() {
        check("# set(A x)\nset(B y) # set(C z)\n", &["2 B=y"]);
        check("set(L \"a#b\" # first)\n  c # second\n)", &["1 L=a#b;c"]);
        check("#[[ set(A x)\n]] set(B y)\n#[=[ ]] set(C z) ]=]set(D w)", &["2 B=y", "3 D=w"]);
        check("message(\"set(A x)\")\nset(B y)", &["2 B=y"]);
    }

    #[test]
    fn blocks_are_told_with_their_conditions() {
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
        let script =
            Script::parse("if(USE_ASAN)\nset(A 1)\nelse()\nset(A 2)\nendif()\nif(NOT USE_ASAN)\nset(A 3)\nendif()");
        assert_eq!(script.sets.iter().map(|set| set.is_within("USE_ASAN")).collect::<Vec<_>>(), [true, false, false]);
    }

    #[test]
    fn what_has_no_end_is_told_and_what_stood_before_is_kept() {
        let check = |text: &str, expect: &[Fault]| {
            let script = Script::parse(text);
            assert_eq!(script.faults, expect, "{text}");
            assert_eq!(script.sets.len(), 1, "{text}");
        };
        check("set(A 1)\nset(B", &[Fault::Unclosed { what: "a parenthesis", span: 9..10 }]);
        check("set(A 1)\nset(B \"x)", &[Fault::Unclosed { what: "a quote", span: 15..16 }]);
        check("set(A 1)\nset(B [=[x]])", &[Fault::Unclosed { what: "a bracket", span: 15..16 }]);
        check("set(A 1)\n#[[ set(B x)", &[Fault::Unclosed { what: "a bracket", span: 10..11 }]);
        check("set(A 1)\nendif()", &[Fault::Unbalanced { span: 9..16 }]);
        check("if(X)\nset(A 1)", &[Fault::Unbalanced { span: 0..5 }]);
    }

    #[test]
    fn marks_of_a_merge_are_told() {
        let text = "set(A 1)\n<<<<<<< HEAD\nset(B 2)\n=======\nset(B 3)\n>>>>>>> theirs\n";
        let script = Script::parse(text);
        let told = |fault: &Fault| match fault {
            Fault::ConflictMarker { span } => text[span.clone()].to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(script.faults.iter().map(told).collect::<Vec<_>>(), ["<<<<<<< HEAD", "=======", ">>>>>>> theirs"]);
        assert_eq!(script.sets.len(), 3);
        assert_eq!(Script::parse("# =======\n#<<<<<<< x\n").faults, []);
    }
}
