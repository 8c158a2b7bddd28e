//! Checks of console scripts and the programs that they run.

use super::packages::OpenedWheel;
use super::texts::{ConsoleScript, scripts};
use crate::codes::sdk as codes;
use rock_diagnostic::{Diagnostic, Severity};

pub(super) fn findings(wheel: &OpenedWheel) -> Vec<Diagnostic> {
    let member = format!("{}/entry_points.txt", wheel.dist_info());
    let assigned = wheel.assigned();
    let (mut found, mut lacking) = (Vec::new(), Vec::new());
    for script in scripts(wheel.texts.get(&member).map_or("", String::as_str)) {
        let program = assigned.entry("SCRIPTS", script.function);
        if !has_function(wheel, &script, program.is_some()) {
            let message = format!(
                "`{}` runs `{}:{}`, which does not exist",
                script.name, script.module, script.function
            );
            found.push(wheel.fault_at(&codes::SCRIPT_WITHOUT_PROGRAM, &member, message));
        } else if let Some(program) = program.filter(|program| !has_program(wheel, program)) {
            lacking.push((script.name, program));
        }
    }
    if let Some((script, program)) = lacking.first() {
        let message = match lacking.len() {
            1 => format!("`{script}` runs `{program}`, which is not in the package"),
            more => format!(
                "{more} scripts run programs that are not in the package, such as `{script}`"
            ),
        };
        let names: Vec<&str> = lacking.iter().map(|(_, program)| *program).collect();
        found.push(
            wheel
                .fault_at(&codes::SCRIPT_WITHOUT_PROGRAM, &member, message)
                .severity(Severity::Warning)
                .note(format!("missing are {}", names.join(", "))),
        );
    }
    found
}

/// Whether a module has a function: defined in it, or provided by its table of programs.
fn has_function(wheel: &OpenedWheel, script: &ConsoleScript<'_>, is_in_table: bool) -> bool {
    let path = format!("{}.py", script.module.replace('.', "/"));
    let Some(source) = wheel.texts.get(&path) else {
        return false;
    };
    let defines = |name: &str| {
        source.lines().any(|line| {
            line.strip_prefix("def ")
                .is_some_and(|rest| rest.starts_with(name))
        })
    };
    defines(&format!("{}(", script.function)) || (is_in_table && defines("__getattr__("))
}

fn has_program(wheel: &OpenedWheel, program: &str) -> bool {
    let is_there = |path: &str| {
        wheel
            .files
            .keys()
            .any(|file| file.split_once('/').is_some_and(|(_, rest)| rest == path))
    };
    is_there(program) || is_there(&format!("{program}.exe"))
}
