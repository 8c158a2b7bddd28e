//! Recipes that use others, merged into one document.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::{RecipeDocument, RecipeSet, StepDocument};
use crate::codes::build as codes;
use rock_diagnostic::Diagnostic;
use rock_diagnostic::nearest::{nearest, with_nearest};

/// Merges a recipe with all recipes that it uses. Its own variables, facts, environment and sources
/// replace those of the same name in used recipes. A recipe that is used twice has its first
/// position.
///
/// # Errors
/// If a used recipe does not exist, a recipe uses itself, two recipes have the same stage, or a
/// fact names an unknown stage.
pub(super) fn resolve(
    document: &RecipeDocument,
    all: &RecipeSet,
) -> Result<RecipeDocument, Diagnostic> {
    let mut whole = RecipeDocument {
        steps: Vec::new(),
        ..document.clone()
    };
    let mut merge = UseChain {
        all,
        root: document,
        open: vec![document.name.as_str()],
        used: BTreeSet::new(),
    };
    for step in &document.steps {
        merge.step(step, None, &mut whole)?;
    }
    let mut stages = BTreeSet::new();
    if let Some(step) = whole
        .steps
        .iter()
        .find(|step| !stages.insert(step.stage.as_str()))
    {
        return Err(merge
            .fault(
                &step.stage,
                format!("two recipes have a stage `{}`", step.stage),
            )
            .help("rename one"));
    }
    for (name, fact) in &whole.facts {
        if let Some(stage) = fact.stage().filter(|stage| !stages.contains(stage)) {
            let near = nearest(stage, stages.iter().copied());
            let message = with_nearest(
                format!("fact `{name}` refers to `{stage}`, which is not a stage"),
                near,
            );
            return Err(merge
                .fault(&format!("{name}:"), message)
                .help("use a stage of this recipe, or of a recipe it uses"));
        }
    }
    Ok(whole)
}

/// The chain of uses from a recipe to the one that is being merged.
struct UseChain<'a> {
    all: &'a RecipeSet,
    root: &'a RecipeDocument,
    /// The recipes that are being merged, outermost first.
    open: Vec<&'a str>,
    used: BTreeSet<&'a str>,
}

impl<'a> UseChain<'a> {
    fn step(
        &mut self,
        step: &'a StepDocument,
        when: Option<&str>,
        whole: &mut RecipeDocument,
    ) -> Result<(), Diagnostic> {
        let when = both(when, step.when.as_deref());
        if step.r#use.is_empty() {
            whole.steps.push(StepDocument {
                when,
                ..step.clone()
            });
            return Ok(());
        }
        let Some(used) = self.all.document(&step.r#use) else {
            let near = nearest(&step.r#use, self.all.names());
            let message = with_nearest(format!("there is no recipe `{}` to use", step.r#use), near);
            return Err(self
                .fault(&step.r#use, message)
                .help("use a built-in recipe, or one in the same directory"));
        };
        if self.open.contains(&used.name.as_str()) {
            let way = self.open.join("` uses `");
            let message = format!("a recipe uses itself: `{way}` uses `{}`", used.name);
            return Err(self
                .fault(&step.r#use, message)
                .help("remove one of the two uses"));
        }
        if !self.used.insert(used.name.as_str()) {
            return Ok(());
        }
        self.open.push(used.name.as_str());
        whole.used.push(used.name.clone());
        for name in &used.requires {
            if !whole.requires.contains(name) && when.is_none() {
                whole.requires.push(name.clone());
            }
        }
        for name in &used.required_vars {
            // A default of the using recipe is a value.
            let is_set = whole.vars.get(name).is_some_and(|value| !value.is_empty());
            if !is_set && !whole.required_vars.contains(name) && when.is_none() {
                whole.required_vars.push(name.clone());
            }
        }
        add(&mut whole.vars, &used.vars, Clone::clone);
        add(&mut whole.facts, &used.facts, Clone::clone);
        add(&mut whole.env, &used.env, Clone::clone);
        add(&mut whole.sources, &used.sources, |source| {
            let when = both(when.as_deref(), source.when.as_deref());
            super::SourceDocument {
                when,
                ..source.clone()
            }
        });
        whole.edits.extend(used.edits.iter().map(|edit| {
            let when = both(when.as_deref(), edit.when.as_deref());
            super::EditDocument {
                when,
                ..edit.clone()
            }
        }));
        let of_here = |refusal: &super::RefuseDocument| {
            let when = both(when.as_deref(), Some(&refusal.when)).unwrap_or_default();
            super::RefuseDocument {
                when,
                ..refusal.clone()
            }
        };
        whole.refuse.extend(used.refuse.iter().map(of_here));
        whole.warn.extend(used.warn.iter().map(of_here));
        add(
            &mut whole.collect.record,
            &used.collect.record,
            Clone::clone,
        );
        for step in &used.steps {
            self.step(step, when.as_deref(), whole)?;
        }
        self.open.pop();
        Ok(())
    }

    fn fault(&self, near: &str, message: String) -> Diagnostic {
        let fault = Diagnostic::new(&codes::BAD_RECIPE, message);
        match self.root.place_of(near) {
            Some(place) => fault.at(place, ""),
            None => fault.note(format!("in the recipe `{}`", self.root.name)),
        }
    }
}

/// Adds the entries whose names are not in `to` yet.
fn add<T>(to: &mut IndexMap<String, T>, from: &IndexMap<String, T>, made: impl Fn(&T) -> T) {
    for (name, value) in from {
        if !to.contains_key(name) {
            to.insert(name.clone(), made(value));
        }
    }
}

/// Returns a condition that holds if both do.
fn both(outer: Option<&str>, inner: Option<&str>) -> Option<String> {
    let bare = |text: &str| {
        let inside = text
            .trim()
            .strip_prefix("{{")
            .and_then(|text| text.strip_suffix("}}"));
        inside.map_or_else(
            || format!("'{text}' not in ['', 'false']"),
            |inside| inside.trim().to_owned(),
        )
    };
    match (outer, inner) {
        (None, None) => None,
        (Some(one), None) | (None, Some(one)) => Some(one.to_owned()),
        (Some(outer), Some(inner)) if outer == inner => Some(outer.to_owned()),
        (Some(outer), Some(inner)) => {
            Some(format!("{{{{ ({}) and ({}) }}}}", bare(outer), bare(inner)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::recipe::from_source;
    use rock_diagnostic::{Sink, SourceText};

    fn read(text: &str) -> RecipeDocument {
        let mut sink = Sink::new();
        let name = text.lines().next().unwrap_or_default().to_owned();
        let text = format!("recipe: 1\nname: {text}collect: {{wheels: 'dist/*.whl'}}\n");
        let source = SourceText::new(format!("{name}.yaml"), text);
        let document = from_source(&source, &mut sink);
        document.unwrap_or_else(|| panic!("{:?}", sink.finish()))
    }

    fn check(texts: &[&str]) -> Result<RecipeDocument, String> {
        let all: Vec<RecipeDocument> = texts.iter().map(|text| read(text)).collect();
        resolve(&all[0].clone(), &RecipeSet::with_shipped(all)).map_err(|fault| fault.message)
    }

    const SDK: &str = "sdk\nrequires: [rocm]\nvars: {extras: devel, python: python3}\nenv: {ROCM_HOME: /opt}\nfacts:\n  root: {command: \
        [rocm-sdk, path], after: rocm}\nsteps:\n  - {stage: rocm, argv: [pip, '{{ vars.extras }}']}\n";

    #[test]
    fn steps_stand_where_the_recipe_is_used_and_its_own_words_go_first() {
        let torch = "torch\nvars: {extras: none}\nsteps:\n  - {use: sdk}\n  - {stage: build, argv: [make]}\n  - {use: audio, when: \"{{ \
            vars.audio }}\"}\n";
        let audio = "audio\nvars: {audio: ''}\nsources:\n  audio: {path: audio, when: \"{{ backend }}\"}\nsteps:\n  - {use: sdk}\n  - \
            {stage: audio, argv: [make], when: \"{{ torch or rocm }}\"}\n";
        let whole = check(&[torch, SDK, audio]).unwrap();
        let stages: Vec<&str> = whole.steps.iter().map(|step| step.stage.as_str()).collect();
        assert_eq!(
            stages,
            ["rocm", "build", "audio"],
            "the second use of `sdk` adds nothing"
        );
        assert_eq!(whole.vars["extras"], "none");
        assert_eq!(
            (
                whole.vars["python"].as_str(),
                whole.requires.join(" ").as_str()
            ),
            ("python3", "rocm")
        );
        assert!(whole.env.contains_key("ROCM_HOME") && whole.facts.contains_key("root"));
        assert_eq!(
            whole.steps[2].when.as_deref(),
            Some("{{ (vars.audio) and (torch or rocm) }}")
        );
        assert_eq!(
            whole.sources["audio"].when.as_deref(),
            Some("{{ (vars.audio) and (backend) }}")
        );
    }

    #[test]
    fn recipes_that_cannot_be_used_are_reported() {
        let uses = |name: &str, used: &str| format!("{name}\nsteps:\n  - {{use: {used}}}\n");
        let error_of = |texts: &[&str]| check(texts).unwrap_err();
        assert_eq!(
            error_of(&[&uses("a", "sdc"), SDK]),
            "there is no recipe `sdc` to use; did you mean `sdk`?"
        );
        assert_eq!(
            error_of(&[&uses("a", "b"), &uses("b", "a")]),
            "a recipe uses itself: `a` uses `b` uses `a`"
        );
        let twice = "a\nsteps:\n  - {use: sdk}\n  - {stage: rocm, argv: [x]}\n";
        assert_eq!(error_of(&[twice, SDK]), "two recipes have a stage `rocm`");
        let after = "a\nfacts:\n  x: {command: [y], after: romc}\nsteps:\n  - {use: sdk}\n";
        assert_eq!(
            error_of(&[after, SDK]),
            "fact `x` refers to `romc`, which is not a stage; did you mean `rocm`?"
        );
    }
}
