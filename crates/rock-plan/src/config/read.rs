//! Reads a matrix file into a [`MatrixConfig`], and reports all errors of the file.
//!
//! Input: a [`SourceText`], and the names that other files define ([`Lookups`]). Output: a checked
//! value, or diagnostics.
//!
//! **Invariant:** a part that the structural check rejected yields no second error here.

mod axes;
mod cells;
mod completeness;
mod duplicates;
mod explicit_locations;
mod fields;
mod gfx;
mod host;
mod numbers;
mod release_type;
mod texts;

pub(crate) use axes::{package_version, released_version};
pub use texts::docker_argument_fault;

use super::fields::{MATRIX, MATRIX_FILE};
use super::recipe_checks::check_complete_parts;
use super::{KeyLocations, Lookups, MatrixConfig, ParsedFile};
use crate::codes::matrix as codes;
use rock_diagnostic::nearest::nearest;
use rock_diagnostic::{Code, Diagnostic, Location, Sink, SourceText};
use rock_yaml::{self as yaml, MapKey, Node, NodeValue};

/// Reads a matrix file. Adds every diagnostic to the sink, and returns `None` if any is an error.
pub fn read(source: &SourceText, lookups: &Lookups<'_>, sink: &mut Sink) -> Option<MatrixConfig> {
    let file = ParsedFile::parse(source.clone(), sink);
    read_parsed(file, lookups, sink)
}

/// Reads a matrix file whose syntax errors are in the sink, like [`read`].
pub fn read_parsed(
    file: ParsedFile,
    lookups: &Lookups<'_>,
    sink: &mut Sink,
) -> Option<MatrixConfig> {
    let errors = sink.error_count();
    let source = &file.source.with_arguments(lookups.overrides.arguments());
    let tree = file.tree?;
    if is_saved_plan(&source.text) {
        let message = "this is a saved plan, not a matrix file";
        let help = "show it with `rock-matrix plan FILE`, pass it to `rock-matrix build`, `render` \
            or `publish --plan`, compare it with another one with `rock-matrix plan NEW.json \
            --diff OLD.json`, or name the matrix files from which it was made";
        sink.push(
            Diagnostic::new(&codes::SAVED_PLAN, message)
                .at(Location::File(source.path.clone()), "")
                .help(help),
        );
        return None;
    }
    if let Some(key) = workflow_key(&tree) {
        let message = "this is a GitHub workflow, not a matrix file";
        let help = "name the matrix files; `rock-matrix render workflow --check` compares a \
            rendered workflow with them";
        sink.push(
            Diagnostic::new(&codes::UNKNOWN_KEY, message)
                .at(source.location(key.span.clone()), "")
                .help(help),
        );
        return None;
    }
    yaml::shape::check(&tree, &MATRIX_FILE, source, sink);
    texts::check_texts(&tree, source, sink);
    if !matches!(tree.value, NodeValue::Map(_)) {
        return None;
    }
    numbers::note_unquoted(&tree, source, sink);
    let is_known = |name: &str| MATRIX.fields.iter().any(|field| field.name == name);
    let unknown_keys: Vec<&str> = match &tree.value {
        NodeValue::Map(entries) => entries.iter().map(|(key, _)| key.text.as_str()).collect(),
        _ => Vec::new(),
    };
    let mut unknown_keys = unknown_keys
        .into_iter()
        .filter(|name| !is_known(name))
        .peekable();
    let has_unknown_keys = unknown_keys.peek().is_some();
    let is_recipe_misspelled = unknown_keys.any(|name| nearest(name, ["recipe"]).is_some());
    let mut whole = completeness::complete(&tree, &MATRIX_FILE);
    let mut locations = KeyLocations::new(source.clone(), tree);
    release_type::apply_overrides(&mut whole, &lookups.overrides, &mut locations);
    let platform = whole.get("platform").cloned();
    let mut reader = ConfigReader {
        source,
        lookups,
        platform: platform.as_ref(),
        has_unknown_keys,
        complete: CompleteParts::default(),
        sink,
    };
    let host_values = reader.resolve_host(&mut whole);
    let recipe = reader.recipe(&whole);
    let release = reader.release_type(&mut whole, &recipe, &mut locations);
    let config = reader.config(&whole, (recipe, release), host_values, locations);
    let complete = reader.complete;
    let config = config.filter(|_| !file.has_errors)?;
    if sink.error_count() == errors {
        return Some(config);
    }
    // Without errors, this is checked with the plan. The recipe of a misspelled key is unknown.
    if let Some(recipe) = lookups.recipes.known(&config.recipe)
        && !is_recipe_misspelled
    {
        let profile = recipe.profile(&config.distribution.normalized());
        check_complete_parts(&config, complete, &profile, sink);
    }
    None
}

/// Whether a text was written by `plan --format json`. A matrix file may be a mapping in braces too,
/// but does not have these keys. The text is not parsed, because it may be large or cut off.
pub fn is_saved_plan(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && ["\"generator\"", "\"matrices\"", "\"jobs\""]
            .iter()
            .all(|key| text.contains(key))
}

/// Returns the key of the jobs if a file is a GitHub workflow.
fn workflow_key(tree: &Node) -> Option<&MapKey> {
    let NodeValue::Map(entries) = &tree.value else {
        return None;
    };
    let find = |name: &str| {
        let mut keys = entries.iter().map(|(key, _)| key);
        keys.find(|key| key.text == name)
    };
    find("on")?;
    find("jobs")
}

/// The parts of a matrix file that were read without leaving out an entry. Errors that another
/// check reports about the others may follow from those of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompleteParts {
    /// The axes, without regard to their values.
    pub(super) axes: bool,
    /// The values of the axis `backend`.
    pub(super) backends: bool,
    /// `rows` and `include`.
    pub(super) explicit_cells: bool,
    /// `vars`, unless an unknown key may be a misspelled `vars`.
    pub(super) vars: bool,
}

impl Default for CompleteParts {
    fn default() -> Self {
        Self {
            axes: true,
            backends: true,
            explicit_cells: true,
            vars: true,
        }
    }
}

/// A reader that turns each part of a file into its checked form.
struct ConfigReader<'a> {
    source: &'a SourceText,
    lookups: &'a Lookups<'a>,
    /// The value of `platform`, which runners must match.
    platform: Option<&'a Node>,
    has_unknown_keys: bool,
    /// The parts of which nothing was left out so far.
    complete: CompleteParts,
    sink: &'a mut Sink,
}

impl ConfigReader<'_> {
    /// Reports an error at a value.
    fn fault(
        &mut self,
        code: &'static Code,
        node: &Node,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.sink.push(
            Diagnostic::new(code, message)
                .at(self.source.location(node.span.clone()), "")
                .help(help),
        );
    }

    /// Reports a diagnostic that needs more than one location and a help.
    fn push(&mut self, diagnostic: Diagnostic) {
        self.sink.push(diagnostic);
    }
}

/// Returns the text under a key; empty if it is absent or of another kind.
fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::text).unwrap_or_default()
}

/// Returns the items under a key; empty if it is absent or of another kind.
fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    node.get(key).and_then(Node::items).unwrap_or_default()
}

/// Returns the entries under a key; empty if it is absent or of another kind.
fn entries<'n>(node: &'n Node, key: &str) -> &'n [(yaml::MapKey, Node)] {
    node.get(key).and_then(Node::entries).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{is_saved_plan, read};
    use crate::config::RunnerSelector;
    use crate::config::{
        AxisRole, GfxSelection, GpuPolicy, Lookups, MatrixConfig, ParsedValue, limits, recipe,
    };
    use rock_diagnostic::{Diagnostic, Location, Sink, SourceText};

    const HEAD: &str = "version: 1\ndistribution: flash-attn\n";

    fn lookups() -> Lookups<'static> {
        let text = "recipe: 1\nname: flash-attn\naxes: [flavour]\nvars: {opt-dim: '', max-jobs: ''}\nsteps:\n  - {stage: build, argv: [make]}\ncollect: {wheels: 'dist/*.whl'}\n";
        let document = recipe::from_source(&SourceText::new("recipe.yaml", text), &mut Sink::new());
        let members = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect();
        Lookups {
            recipes: recipe::RecipeSet::with_shipped(document).into(),
            families: [
                ("gfx110X-all".to_owned(), members(&["gfx1100", "gfx1101"])),
                ("gfx94X-all".to_owned(), members(&["gfx942"])),
            ]
            .into(),
            gfx: BTreeSet::from(
                ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1101"].map(str::to_owned),
            )
            .into(),
            runners: [
                ("ubuntu-22.04", "linux"),
                ("mi300x", "linux"),
                ("windows-2022", "windows"),
            ]
            .map(|(word, os)| (word.to_owned(), os.to_owned()))
            .into(),
            ..Lookups::default()
        }
    }

    fn run(text: &str) -> (Option<MatrixConfig>, Vec<Diagnostic>) {
        let mut sink = Sink::new();
        let config = read(&SourceText::new("m.yaml", text), &lookups(), &mut sink);
        (config, sink.finish())
    }

    /// Reads the text after `version` and `distribution`, and asserts that there are no
    /// diagnostics.
    fn config(rest: &str) -> MatrixConfig {
        let (config, found) = run(&format!("{HEAD}{rest}"));
        assert!(found.is_empty(), "{found:?}");
        config.unwrap()
    }

    /// Returns the code, labeled text and message of each diagnostic.
    fn faults(rest: &str) -> Vec<(&'static str, String, String)> {
        let (config, found) = run(&format!("{HEAD}{rest}"));
        assert_eq!(config.is_some(), !found.iter().any(Diagnostic::is_error));
        found
            .iter()
            .map(|d| (d.code.id, slice(&d.labels[0].location), d.message.clone()))
            .collect()
    }

    fn slice(place: &Location) -> String {
        match place {
            Location::Text { source, span } | Location::SecretText { source, span } => {
                source.text[span.clone()].to_owned()
            }
            other => other.to_string(),
        }
    }

    const AXES: &str = "axes:\n  flash-attn: [\"2.8.3\"]\n  torch: [\"2.5.1\", \"2.6.0\"]\n";

    #[test]
    fn a_saved_plan_is_recognized_by_its_keys_even_if_it_is_cut_off() {
        let plan = r#"{"version": 1, "generator": "rock-matrix", "matrices": [], "jobs": [{"#;
        assert!(is_saved_plan(plan) && is_saved_plan(&format!("\n {plan}")));
        assert!(!is_saved_plan("{version: 1, vars: {max-jobs: 2}}"));
        assert!(!is_saved_plan(&format!("version: 1\n# {plan}")));
    }

    #[test]
    fn what_is_not_written_has_its_default() {
        let config = config("axes: {flash-attn: ['2.8.3']}\n");
        assert_eq!(
            (
                config.recipe.as_str(),
                config.runner.to_string().as_str(),
                config.enabled
            ),
            ("flash-attn", "ubuntu-22.04", true)
        );
        assert_eq!(
            (config.image.repository.as_str(), config.image.tag.as_str()),
            ("docker.io/rocm/pytorch", "")
        );
        assert_eq!(
            (
                config.docker.shm_size.as_str(),
                config.workflow.max_parallel
            ),
            ("8G", 20)
        );
        assert!(matches!(&config.gfx, GfxSelection::Targets(targets) if targets.len() == 4));
        assert_eq!(
            (config.gpu, config.test.gpu),
            (GpuPolicy::Auto, GpuPolicy::None)
        );
    }

    #[test]
    fn axes_are_read_by_role_in_the_order_of_the_file() {
        let config = config(
            "axes: {opt-dim: ['64'], python: ['3.13t'], flash_attn: ['fa2:4a948e9'], gfx: ['gfx90a;gfx94X-all'], runner: [mi300x]}\n",
        );
        let roles: Vec<_> = config.axes.iter().map(|axis| axis.role).collect();
        assert_eq!(
            roles,
            [
                AxisRole::Field,
                AxisRole::Python,
                AxisRole::Package,
                AxisRole::Gfx,
                AxisRole::Field
            ]
        );
        assert!(
            matches!(&config.axes[3].values[0].value, ParsedValue::Gfx(targets) if targets.len() == 2)
        );
    }

    #[test]
    fn an_image_may_be_a_text() {
        let image = |text: &str| config(&format!("{AXES}image: {text}\n")).image;
        assert_eq!(
            (
                image("rocm/pytorch:x_1").repository.as_str(),
                image("rocm/pytorch:x_1").tag.as_str()
            ),
            ("rocm/pytorch", "x_1")
        );
        let local = image("localhost:5000/a/b:t");
        assert_eq!(
            (local.repository.as_str(), local.tag.as_str()),
            ("localhost:5000/a/b", "t")
        );
        let digest = format!("r/p:t@sha256:{}", "0".repeat(64));
        assert_eq!(
            format!("{}:{}", image(&digest).repository, image(&digest).tag),
            digest
        );
        assert_eq!(image("{tag: abc}").repository, "docker.io/rocm/pytorch");
    }

    #[test]
    fn families_stand_for_their_members() {
        let config = config(&format!("{AXES}gfx: [gfx1100, gfx110X-all, gfx94X-all]\n"));
        let GfxSelection::Targets(targets) = config.gfx else {
            panic!()
        };
        assert_eq!(
            targets.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["gfx1100", "gfx1101", "gfx942"]
        );
        assert_eq!(
            self::config(&format!("{AXES}gfx: [host]\n")).gfx,
            GfxSelection::Host
        );
    }

    #[test]
    fn an_exclude_takes_the_spelling_of_its_axis_and_rows_and_includes_are_cells() {
        let config = config(&format!(
            "{AXES}exclude: [{{torch: '2.6'}}]\nrows:\n  - {{flash-attn: '2.7.4', torch: '2.7.1', runner: mi300x, gfx: [gfx942], vars: {{opt-dim: '64'}}}}\ninclude:\n  - axes: {{torch: '2.5.1'}}\n    set: {{gpu: required}}\n"
        ));
        assert_eq!(config.exclude[0].axes["torch"], "2.6.0");
        assert_eq!(config.rows[0].axes.len(), 2);
        assert_eq!(
            config.rows[0].set.runner,
            Some(RunnerSelector::label("mi300x"))
        );
        assert_eq!(config.rows[0].set.vars["opt-dim"], "64");
        assert_eq!(config.include[0].set.gpu, Some(GpuPolicy::Required));
        assert_eq!(slice(&config.locations.of("axes.torch[2]")), "'2.7.1'");
        assert_eq!(slice(&config.locations.of("axes.flash-attn[1]")), "'2.7.4'");
    }

    #[test]
    fn an_exclude_key_that_is_no_axis_is_an_error_at_its_place() {
        let found = faults(&format!("{AXES}exclude: [{{torhc: '2.6.0'}}]\n"));
        assert_eq!(
            found,
            [(
                "M033",
                "torhc".to_owned(),
                "`exclude` names `torhc`, which is not an axis of this file; did you mean `torch`?"
                    .to_owned()
            )]
        );
    }

    #[test]
    fn versions_without_quotes_are_kept_and_noted_once_a_file() {
        let (config, found) = run(&format!(
            "{HEAD}axes: {{flash-attn: [2.8.3], python: [3.10, 3.11, 3.20], torch: [2.10]}}\n"
        ));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].code.id, found[0].labels.len(), found[0].is_error()),
            ("M030", 3, false)
        );
        assert_eq!(config.unwrap().axes[1].values[0].text, "3.10");
    }

    #[test]
    fn branches_are_refused_and_commits_taken() {
        let found = |version: &str| faults(&format!("axes: {{flash-attn: ['{version}']}}\n"));
        for branch in ["main", "fa2:main", "release-2.8", "4a948e9f", "fa2:4a948"] {
            assert_eq!(found(branch)[0].0, "M031", "{branch}");
        }
        for version in ["fa2:4a948e9", "2.8.3.post1", "2.9.0rc1"] {
            assert!(found(version).is_empty(), "{version}");
        }
    }

    #[test]
    fn text_beyond_ascii_is_refused_like_any_other() {
        for axis in ["python", "torch", "rocm", "flash-attn", "backend", "gfx"] {
            let found = faults(&format!("axes: {{{axis}: [ä1, '６.２', 'ﬁ']}}\n"));
            assert!(found.len() >= 3, "{axis} {found:?}");
        }
    }

    #[test]
    fn a_runner_has_the_system_that_the_wheels_are_for() {
        let cell = "axes: {flash-attn: ['2.8.3']}\n";
        let faults_of = |rest: &str| faults(&format!("{cell}{rest}"));
        let wrong = |at: &str, runner: &str, os: &str, platform: &str| {
            vec![(
                "M054",
                at.to_owned(),
                format!("`{runner}` runs {os}, but the jobs are for {platform}"),
            )]
        };
        let on_windows = wrong("windows-2022", "windows-2022", "windows", "linux");
        assert_eq!(faults_of("runner: windows-2022\n"), on_windows);
        assert_eq!(faults_of("test: {runner: windows-2022}\n"), on_windows);
        assert_eq!(
            faults_of("include: [{axes: {flash-attn: '2.8.3'}, set: {runner: windows-2022}}]\n"),
            on_windows
        );
        assert_eq!(
            faults("axes: {flash-attn: ['2.8.3'], runner: [ubuntu-22.04, windows-2022]}\n"),
            on_windows
        );
        assert_eq!(faults_of("platform: windows\nrunner: windows-2022\n"), []);
        assert_eq!(
            faults_of("platform: windows\nrunner: mi300x\n"),
            wrong("mi300x", "mi300x", "linux", "windows")
        );
        // Without `runner`, the default runs Linux, and only `platform` can be pointed at.
        assert_eq!(
            faults_of("platform: windows\n"),
            wrong("windows", "ubuntu-22.04", "linux", "windows")
        );
    }

    #[test]
    fn later_checks_can_point_at_every_part() {
        let config = config(&format!(
            "{AXES}exclude:\n  - torch: \"2.6.0\"\ngfx: [gfx90a, gfx942]\n"
        ));
        let at = |path: &str| slice(&config.locations.of(path));
        assert_eq!(at("axes.torch[1]"), "\"2.6.0\"");
        assert_eq!(at("exclude[0].torch"), "\"2.6.0\"");
        assert_eq!(at("gfx[1]"), "gfx942");
        assert_eq!(at("axes"), "axes");
        assert_eq!(at("runner"), "");
    }

    #[test]
    fn texts_have_a_limit() {
        let of = |bytes: usize| {
            let text = "x".repeat(bytes);
            faults(&format!(
                "axes: {{flash-attn: ['2.8.3'], opt-dim: [{text}]}}\nvars: {{max-jobs: {text}}}\n"
            ))
        };
        assert_eq!(of(limits::LONGEST_TEXT_BYTES), []);
        let found = of(limits::LONGEST_TEXT_BYTES + 1);
        assert_eq!(
            found.iter().map(|(code, ..)| *code).collect::<Vec<_>>(),
            ["M072"; 2],
            "{found:?}"
        );
        assert_eq!(
            found[0].2,
            "the text has 4097 bytes, but a matrix file allows at most 4096"
        );
    }

    #[test]
    fn lists_have_a_limit() {
        let list = |count: usize, entry: &dyn Fn(usize) -> String| {
            (0..count).map(entry).collect::<Vec<_>>().join(", ")
        };
        let cell = |number: usize| format!("{{flash-attn: '2.9.{number}'}}");
        let include = |number: usize| {
            format!("{{axes: {{flash-attn: '2.9.{number}'}}, set: {{gpu: required}}}}")
        };
        let axes = "axes: {flash-attn: ['2.8.3']}\n";
        let file = |name: &str, count: usize| match name {
            "rows" => format!("{axes}rows: [{}]\n", list(count, &cell)),
            "exclude" => format!("{axes}exclude: [{}]\n", list(count, &cell)),
            "include" => format!("{axes}include: [{}]\n", list(count, &include)),
            "secrets" => format!(
                "{axes}secrets: [{}]\n",
                list(count, &|number| format!("S{number}"))
            ),
            "repair.exclude" => {
                format!(
                    "{axes}repair: {{exclude: [{}]}}\n",
                    list(count, &|number| format!("lib{number}.so"))
                )
            }
            "groups" => format!(
                "{axes}docker: {{groups: [{}]}}\n",
                list(count, &|number| format!("g{number}"))
            ),
            _ => format!(
                "{axes}gfx: [{}]\n",
                list(count, &|number| format!("gfx9{number:x}"))
            ),
        };
        let errors = |text: &str| {
            let (_, found) = run(&format!("{HEAD}{text}"));
            let errors = found
                .iter()
                .filter(|fault| fault.code == &crate::codes::matrix::TOO_MANY_ENTRIES);
            errors
                .map(|fault| format!("{} {}", fault.code.id, fault.message))
                .collect::<Vec<_>>()
        };
        for (name, most) in [
            ("rows", limits::MOST_ENTRIES),
            ("exclude", limits::MOST_ENTRIES),
            ("include", limits::MOST_ENTRIES),
            ("secrets", limits::MOST_SECRETS),
            ("groups", limits::MOST_GROUPS),
            ("repair.exclude", limits::MOST_LIBRARIES),
            ("gfx", limits::MOST_TARGETS),
        ] {
            assert_eq!(errors(&file(name, most)), [""; 0], "{name}");
            let beyond = errors(&file(name, most + 1));
            let expected = format!(
                "M071 `{name}` has {} entries, but at most {most} are allowed",
                most + 1
            );
            assert_eq!(beyond, [expected], "{name}");
        }
    }

    #[test]
    fn numbers_of_jobs_have_a_limit() {
        let codes = |name: &str, number: u32| {
            let found = faults(&format!(
                "axes: {{flash-attn: ['2.8.3']}}\nworkflow: {{{name}: {number}}}\n"
            ));
            found.into_iter().map(|(code, ..)| code).collect::<Vec<_>>()
        };
        for name in ["max-parallel", "max-jobs"] {
            assert_eq!(codes(name, limits::MOST_PARALLEL), [""; 0], "{name}");
            assert_eq!(codes(name, limits::MOST_PARALLEL + 1), ["M024"], "{name}");
        }
    }

    /// Only the first values of an axis are searched for the nearest one.
    #[test]
    fn a_wrong_value_is_compared_with_as_many_as_the_limit() {
        let help = |others: usize| {
            let values = (0..others)
                .map(|number| format!("a{number:05}, "))
                .collect::<String>();
            let axes =
                format!("axes: {{flash-attn: ['2.8.3'], opt-dim: [{values}zebra-stripes]}}\n");
            let (_, found) = run(&format!(
                "{HEAD}{axes}exclude: [{{opt-dim: zebra-strips}}]\n"
            ));
            found[0].help.clone().unwrap()
        };
        let near = "did you mean `zebra-stripes`? Otherwise remove the entry";
        assert_eq!(help(limits::MOST_COMPARED - 1), near);
        assert_eq!(help(limits::MOST_COMPARED), "remove the entry");
    }

    #[test]
    fn one_run_shows_every_fault() {
        let found = faults(
            "axes: {flash-attn: [], python: ['3.10.1', '3.11', '3.11'], tocrh: ['2.5.1'], rocm: [v6.2]}\nrunner: a b\nsecrets: [abc]\ngfx: [gfx9, gfx942, gfx942]\nvars: {opt_dim: 1, max-jobs: ../x}\nworkflow: {max-parallel: 300}\nindexes: {torch: ftp://x}\nimage: A:b\n",
        );
        let codes: Vec<_> = found.iter().map(|(code, ..)| *code).collect();
        let expected = [
            "M035", "M031", "M036", "M032", "M031", "M044", "M039", "M037", "M036", "B008", "M041",
            "M024", "M040", "M043",
        ];
        assert_eq!(codes, expected, "{found:?}");
    }
}
