//! Reads the fields of the file into a [`MatrixConfig`].

use super::axes::AxisNames;
use super::cells::KnownValues;
use super::{ConfigReader, entries, explicit_locations, items, text, texts};
use crate::codes::matrix as codes;
use crate::codes::{plan, release};
use crate::config::fields::DEFAULT_GFX;
use crate::config::limits::{MOST_ENTRIES, MOST_GROUPS, MOST_LIBRARIES, MOST_PARALLEL};
use crate::config::{
    Attest, DigestRule, DockerConfig, GfxSelection, GpuPolicy, GroupIds, HostValue, ImageConfig,
    KeyLocations, LabelChoice, MakeLatest, MatrixConfig, MissingImage, Platform, PrRunMode,
    Prerelease, PythonFrom, Queue, ReleaseConfig, RepairConfig, RepairPlatform, RocmPolicy,
    RocmPrecision, RunnerSelector, Strictness, Switch, TestConfig, TestFamilies, ToolFrom,
    TorchFrom, WorkflowConfig, syntax,
};
use rock_compat::rows::ReleaseTypeRow;
use rock_diagnostic::{
    Diagnostic,
    nearest::{nearest, with_nearest},
};
use rock_names::{Age, DistributionName, YankSelection};
use rock_yaml::{Node, NodeValue};

/// The format version that this program reads.
const FORMAT: &str = "1";

/// Whether GitHub accepts a filter pattern: brackets contain single characters and ascending
/// ranges, and a repetition follows a character (docs.github.com, "Workflow syntax", filter pattern
/// cheat sheet).
fn is_filter(pattern: &str) -> bool {
    let mut rest = pattern.strip_prefix('!').unwrap_or(pattern).chars();
    let mut may_repeat = false;
    if rest.as_str().is_empty() {
        return false;
    }
    while let Some(sign) = rest.next() {
        may_repeat = match sign {
            '[' => {
                let Some((inside, after)) = rest.as_str().split_once(']') else {
                    return false;
                };
                let signs: Vec<char> = inside.chars().collect();
                let is_range = |three: &[char]| three[1] == '-' && three[0] > three[2];
                if signs.is_empty() || signs.contains(&'[') || signs.windows(3).any(is_range) {
                    return false;
                }
                rest = after.chars();
                true
            }
            ']' | '!' => return false,
            '?' | '+' if !may_repeat => return false,
            '?' | '+' | '*' => false,
            _ => true,
        };
    }
    true
}

/// Returns families and targets as written.
pub(super) fn words(nodes: &[Node]) -> Vec<String> {
    nodes
        .iter()
        .filter_map(Node::text)
        .map(str::to_owned)
        .collect()
}

impl ConfigReader<'_> {
    /// Reads the whole file; `node` has its defaults.
    pub(super) fn config(
        &mut self,
        node: &Node,
        (recipe, release_type): (String, Option<ReleaseTypeRow>),
        mut host_values: Vec<HostValue>,
        mut locations: KeyLocations,
    ) -> Option<MatrixConfig> {
        self.format(node);
        let distribution = self.distribution(node);
        let naming = AxisNames {
            distribution: text(node, "distribution"),
            recipe: &recipe,
        };
        let axes = self.axes(entries(node, "axes"), &naming);
        let rows = self.explicit_cells(node, "rows");
        let (rows, row_nodes): (Vec<_>, Vec<_>) =
            self.rows(rows, &axes, &naming).into_iter().unzip();
        // An unknown key may be a misspelled `axes` or `rows`.
        if entries(node, "axes").is_empty()
            && items(node, "rows").is_empty()
            && !self.has_unknown_keys
        {
            self.push(
                Diagnostic::new(
                    &codes::NO_CELLS,
                    "there is nothing to build: the file has neither `axes` nor `rows`",
                )
                .at(locations.of("distribution"), "no versions of it are listed")
                .help("list versions under `axes`, such as `python: [\"3.12\"]`"),
            );
        }
        let known = KnownValues::new(&axes, &rows);
        let exclude = self.bounded(items(node, "exclude"), "exclude", MOST_ENTRIES);
        let exclude = self.excludes(exclude, &known);
        let include = self.explicit_cells(node, "include");
        let include = self.includes(include, &known, &exclude, &recipe);
        let (include, include_nodes): (Vec<_>, Vec<_>) = include.into_iter().unzip();
        self.twins((&rows, &row_nodes), (&include, &include_nodes));
        let of_include = include_nodes
            .iter()
            .map(|node| node.get("axes").unwrap_or(node));
        let explicit = rows
            .iter()
            .zip(row_nodes.iter().copied())
            .chain(include.iter().zip(of_include));
        explicit_locations::insert(&axes, explicit, &mut locations);
        if items(node, "gfx").is_empty()
            && node
                .get("gfx")
                .is_some_and(|gfx| matches!(gfx.value, NodeValue::List(_)))
        {
            let gfx = node.get("gfx")?;
            self.fault(
                &codes::BAD_GFX,
                gfx,
                "`gfx` lists no targets",
                format!(
                    "list the targets to build for, or remove the line to build for {DEFAULT_GFX}"
                ),
            );
        }
        let gfx = self.gfx(items(node, "gfx"));
        let gfx_fallback = self.gfx_fallback(items(node, "gfx-fallback"), &gfx);
        if gfx == GfxSelection::Host && gfx_fallback.is_empty() {
            host_values.push(HostValue::Gfx);
        }
        let families = words(items(node, "gfx"));
        let image = self.image(node.get("image")?);
        let docker = self.docker(node.get("docker")?);
        let runner = self.runner(node.get("runner")?);
        let vars = self.file_vars(node, &recipe);
        let secrets = self.secrets(items(node, "secrets"));
        let (indexes, device_extras) =
            self.indexes(entries(node, "indexes"), release_type.as_ref());
        let repair = self.repair(node.get("repair")?);
        let test = self.test(node.get("test")?);
        let workflow = self.workflow(node.get("workflow")?);
        let release = self.release(node.get("release")?);
        Some(MatrixConfig {
            enabled: node.get("enabled")?.boolean()?,
            distribution: distribution?,
            platform: Platform::from_word(text(node, "platform"))?,
            rocm_policy: RocmPolicy::from_word(text(node, "rocm-policy"))?,
            rocm_precision: RocmPrecision::from_word(text(node, "rocm-precision"))?,
            label_style: LabelChoice::from_word(text(node, "label-style"))?,
            unknown: Strictness::from_word(text(node, "unknown"))?,
            free_threaded: node.get("free-threaded")?.boolean()?,
            torch_from: TorchFrom::from_word(text(node, "torch-from"))?,
            python_from: PythonFrom::from_word(text(node, "python-from"))?,
            gpu: GpuPolicy::from_word(text(node, "gpu"))?,
            image: image?,
            docker: docker?,
            runner: runner?,
            collapse: words(items(node, "collapse")),
            repair: repair?,
            test: test?,
            workflow: workflow?,
            release: release?,
            locations,
            recipe,
            axes,
            rows,
            gfx,
            families,
            gfx_fallback,
            host_values,
            device_extras,
            release_type,
            exclude,
            include,
            vars,
            secrets,
            indexes,
        })
    }

    fn format(&mut self, node: &Node) {
        let Some(version) = node.get("version") else {
            return;
        };
        let Some(text) = version.text().filter(|text| text.parse::<u64>().is_ok()) else {
            return;
        };
        if text != FORMAT {
            let message =
                format!("this program reads matrix files of version {FORMAT}, not {text}");
            self.fault(
                &codes::OTHER_FORMAT,
                version,
                message,
                format!("write `version: {FORMAT}`, or use a later release of rock-matrix"),
            );
        }
    }

    fn distribution(&mut self, node: &Node) -> Option<DistributionName> {
        let name = node.get("distribution")?;
        match name.text()?.parse::<DistributionName>() {
            Ok(name) => Some(name),
            Err(error) => {
                self.fault(
                    &codes::BAD_NAME,
                    name,
                    error.to_string(),
                    "write the project's name as on the package index",
                );
                None
            }
        }
    }

    /// Returns the recipe's name, which defaults to the distribution's. An unknown recipe is an
    /// error.
    pub(super) fn recipe(&mut self, node: &Node) -> String {
        let given = node.get("recipe");
        let Some(place) = given.or_else(|| node.get("distribution")) else {
            return String::new();
        };
        let Some(name) = place.text() else {
            return String::new();
        };
        let normalized = || {
            name.parse()
                .map_or(String::new(), |name: DistributionName| name.normalized())
        };
        let recipe = if given.is_some() {
            name.to_owned()
        } else {
            normalized()
        };
        if given.is_some() && !texts::is_name(&recipe) {
            let message = format!("`{recipe}` is not a valid recipe name");
            let help =
                "write its name, such as `flash-attn`; `--recipes DIR` adds your own recipes";
            self.fault(&codes::BAD_NAME, place, message, help);
            return recipe;
        }
        let names = self.lookups.recipes.names();
        if self.lookups.recipes.is_broken(&recipe) && !names.contains(&recipe.as_str()) {
            return recipe;
        }
        if !names.is_empty() && !recipe.is_empty() && !names.contains(&recipe.as_str()) {
            let near = nearest(&recipe, names.iter().copied()).filter(|_| given.is_some());
            let help = match (near, given) {
                (Some(near), Some(_)) => format!("write `{near}`"),
                _ => format!(
                    "add `recipe:` with one of {}; `rock-matrix recipe new NAME` creates your own",
                    names.join(", ")
                ),
            };
            let message = with_nearest(format!("there is no recipe `{recipe}`"), near);
            self.fault(&plan::UNKNOWN_RECIPE, place, message, help);
        }
        recipe
    }

    fn image(&mut self, node: &Node) -> Option<ImageConfig> {
        if node.text().is_some() {
            let (repository, tag) = self.image_reference(node)?;
            let defaults = super::completeness::complete(
                &Node {
                    span: 0..0,
                    value: NodeValue::Map(Vec::new()),
                },
                &rock_yaml::shape::Shape::Record(&crate::config::fields::IMAGE),
            );
            return Some(ImageConfig {
                repository,
                tag,
                ..self.image(&defaults)?
            });
        }
        let repository = node.get("repository")?;
        let repository_fits = self.repository(repository.text()?, repository);
        let tag = node
            .get("tag")
            .filter(|tag| !tag.text().is_none_or(str::is_empty));
        let tag_fits = tag.is_none_or(|tag| self.tag(tag.text().unwrap_or_default(), tag));
        (repository_fits && tag_fits).then_some(())?;
        Some(ImageConfig {
            repository: text(node, "repository").to_owned(),
            tag: text(node, "tag").to_owned(),
            missing: MissingImage::from_word(text(node, "missing"))?,
            digest: DigestRule::from_word(text(node, "digest"))?,
        })
    }

    fn docker(&mut self, node: &Node) -> Option<DockerConfig> {
        let size = node.get("shm-size")?;
        let shm_size = size.text()?;
        if !syntax::is_size(shm_size) {
            let message = format!("`{shm_size}` is not a valid size for shared memory");
            self.fault(
                &codes::BAD_DOCKER_ARGUMENT,
                size,
                message,
                "write a number with `b`, `k`, `m` or `g`, such as `8G`",
            );
        }
        let mut groups = Vec::new();
        for node in self.bounded(items(node, "groups"), "groups", MOST_GROUPS) {
            let Some(name) = node.text() else { continue };
            if syntax::is_group(name) {
                groups.push(name.to_owned());
            } else {
                let message = format!("`{name}` is not a valid group name or number");
                self.fault(
                    &codes::BAD_NAME,
                    node,
                    message,
                    "write a group such as `video`, or its number",
                );
            }
        }
        Some(DockerConfig {
            shm_size: shm_size.to_owned(),
            groups,
            gid: GroupIds::from_word(text(node, "gid"))?,
            args: self.docker_args(items(node, "args")),
        })
    }

    fn repair(&mut self, node: &Node) -> Option<RepairConfig> {
        if node.text().is_some() {
            let platform = self.repair_platform(node)?;
            let defaults = super::completeness::complete(
                &Node {
                    span: 0..0,
                    value: NodeValue::Map(Vec::new()),
                },
                &rock_yaml::shape::Shape::Record(&crate::config::fields::REPAIR),
            );
            return Some(RepairConfig {
                platform,
                ..self.repair(&defaults)?
            });
        }
        let platform = self.repair_platform(node.get("platform")?);
        let presets = items(node, "presets")
            .iter()
            .filter_map(|node| node.text().map(str::to_owned))
            .collect();
        let mut exclude = Vec::new();
        for node in self.bounded(items(node, "exclude"), "repair.exclude", MOST_LIBRARIES) {
            let Some(pattern) = node.text() else { continue };
            match syntax::library_pattern_fault(pattern) {
                None => exclude.push(pattern.to_owned()),
                Some(reason) => {
                    let message =
                        format!("`{pattern}` is not a valid library name or pattern: {reason}");
                    self.fault(
                        &codes::BAD_NAME,
                        node,
                        message,
                        "write a name such as `libnuma.so.1`, or `libnuma.so*`",
                    );
                }
            }
        }
        Some(RepairConfig {
            platform: platform?,
            presets,
            exclude,
        })
    }

    /// Reads the platform to repair for, which a policy must describe.
    fn repair_platform(&mut self, node: &Node) -> Option<RepairPlatform> {
        let platform = RepairPlatform::from_word(node.text()?);
        if let RepairPlatform::Tag(tag) = &platform
            && !syntax::is_repair_platform(tag)
        {
            let message = format!("`{tag}` is not a supported platform tag for repairing wheels");
            let help = "write `auto`, `off`, or a tag such as `manylinux_2_28_x86_64`";
            self.fault(&codes::BAD_NAME, node, message, help);
            return None;
        }
        Some(platform)
    }

    /// Reads the families that wheels are tested on.
    fn test_families(&mut self, node: &Node) -> Option<TestFamilies> {
        let words: Vec<&str> = match (node.text(), node.items()) {
            (Some(text), _) => text
                .split(';')
                .map(str::trim)
                .filter(|word| !word.is_empty())
                .collect(),
            (None, Some(items)) => items.iter().filter_map(Node::text).collect(),
            (None, None) => return None,
        };
        let is_control = |word: &&str| TestFamilies::control(word).is_some();
        match words.as_slice() {
            [] => Some(TestFamilies::Built),
            [word] if is_control(word) => TestFamilies::control(word),
            several if several.iter().any(is_control) => {
                let word = several
                    .iter()
                    .find(|word| is_control(word))
                    .copied()
                    .unwrap_or_default();
                let message = format!("`{word}` cannot be combined with other families");
                self.fault(
                    &codes::BAD_GFX,
                    node,
                    message,
                    format!("write only `{word}`, or only families"),
                );
                None
            }
            families => {
                let mut sound = true;
                for family in families {
                    sound &= self.gfx_value(family, node).is_some();
                }
                sound.then(|| {
                    TestFamilies::These(
                        families.iter().map(|family| (*family).to_owned()).collect(),
                    )
                })
            }
        }
    }

    fn test(&mut self, node: &Node) -> Option<TestConfig> {
        let runner = match node
            .get("runner")
            .filter(|runner| runner.text() != Some(""))
        {
            Some(runner) => self.runner(runner)?,
            None => RunnerSelector::default(),
        };
        let families = match node.get("families") {
            Some(families) => Some(self.test_families(families)?),
            None => None,
        };
        if let (Some(families), false) = (node.get("families"), runner.is_empty()) {
            let message = "`families` and `runner` both set where wheels are tested";
            self.fault(&codes::BAD_GFX, families, message, "remove one of them");
        }
        Some(TestConfig {
            runner,
            families,
            gpu: GpuPolicy::from_word(text(node, "gpu"))?,
        })
    }

    fn release(&mut self, node: &Node) -> Option<ReleaseConfig> {
        let yank = items(node, "yank")
            .iter()
            .filter_map(|rule| self.yank_selection(rule))
            .collect();
        let age = node.get("yank-older-than")?;
        let yank_older_than = match age.text()? {
            "never" => None,
            text => text
                .parse::<Age>()
                .map_err(|error| {
                    self.fault(
                        &release::BAD_YANK_RULE,
                        age,
                        error.to_string(),
                        "write `30d`, `4w`, or `never`",
                    );
                })
                .ok(),
        };
        let keep = node.get("yank-keep")?;
        Some(ReleaseConfig {
            make_latest: MakeLatest::from_word(text(node, "make-latest"))?,
            attest: Attest::from_word(text(node, "attest"))?,
            prerelease: Prerelease::from_word(text(node, "prerelease"))?,
            pages: node.get("pages")?.boolean()?,
            yank,
            yank_older_than,
            yank_keep: keep.text()?.parse().unwrap_or(usize::MAX),
        })
    }

    fn yank_selection(&mut self, node: &Node) -> Option<YankSelection> {
        let read = node.text()?.parse::<YankSelection>();
        let help = "write a project with a version specifier, or a file, and a reason: `\"flash-attn<2.6: superseded\"`";
        read.map_err(|error| self.fault(&release::BAD_YANK_RULE, node, error.to_string(), help))
            .ok()
    }

    /// Reads tag patterns, which consist of letters, digits and the signs that GitHub's patterns
    /// and tag names allow. A tag with `/` is not a directory name, and the workflow first
    /// publishes into a directory named after the tag; `**` also matches `/` (GitHub's filter
    /// pattern cheat sheet).
    fn tag_patterns(&mut self, node: &Node) -> Vec<String> {
        let patterns = node.items().unwrap_or_default();
        if patterns.is_empty() {
            let message = "`tags` is empty, so nothing would be published".to_owned();
            self.fault(
                &codes::BAD_NAME,
                node,
                message,
                "write a pattern such as `v*`",
            );
        }
        let is_sign = |c: char| c.is_ascii_alphanumeric() || "._-+/*?[]!".contains(c);
        for node in patterns {
            let Some(pattern) = node.text() else { continue };
            if !pattern.chars().all(is_sign) || !is_filter(pattern) {
                let message = format!("`{}` is not a valid tag pattern", pattern.escape_debug());
                self.fault(
                    &codes::BAD_NAME,
                    node,
                    message,
                    "write a pattern such as `v*` or `v[0-9]+.[0-9]+`",
                );
            } else if pattern.contains('/') || pattern.contains("**") {
                let message = format!(
                    "`{pattern}` matches tags with `/`, but the workflow publishes into a \
                     directory named after the tag"
                );
                self.fault(
                    &release::BAD_TAG,
                    node,
                    message,
                    "use `-` instead of `/` in tags: `release-*` for `release/*`",
                );
            }
        }
        let mut texts: Vec<String> = Vec::new();
        let mut known = std::collections::HashSet::new();
        for node in patterns {
            let Some(text) = node.text() else { continue };
            if !known.insert(text) {
                let message = format!("the pattern `{text}` is listed twice");
                self.fault(&codes::DUPLICATE_VALUE, node, message, "remove one");
            }
            texts.push(text.to_owned());
        }
        if !texts.is_empty() && texts.iter().all(|pattern| pattern.starts_with('!')) {
            let message =
                "every pattern of `tags` begins with `!`, so nothing would be published".to_owned();
            self.fault(
                &codes::BAD_NAME,
                node,
                message,
                "start with a pattern of tags to include, such as `v*`",
            );
        }
        texts
    }

    /// Reads a number of jobs, from 1 to GitHub's limit for one matrix.
    fn bound(&mut self, node: &Node, name: &str) -> Option<u32> {
        let bound = node.get(name)?;
        let number = bound
            .text()?
            .parse::<u32>()
            .ok()
            .filter(|n| (1..=MOST_PARALLEL).contains(n));
        // The structural check reports values that are not numbers.
        if number.is_none() && bound.text()?.parse::<u64>().is_ok() {
            let message = format!(
                "`{name}` must be 1 to {MOST_PARALLEL}, not {}",
                bound.text()?
            );
            let help = "write a number from 1 to 256; GitHub runs at most 256 jobs of one matrix";
            self.fault(&codes::BAD_NUMBER, bound, message, help);
        }
        number
    }

    fn workflow(&mut self, node: &Node) -> Option<WorkflowConfig> {
        let tags = self.tag_patterns(node.get("tags")?);
        let (max_parallel, max_jobs) = (
            self.bound(node, "max-parallel"),
            self.bound(node, "max-jobs"),
        );
        Some(WorkflowConfig {
            tags,
            max_parallel: max_parallel?,
            max_jobs: max_jobs?,
            pr_run_mode: PrRunMode::from_word(text(node, "pr-run-mode"))?,
            tool: ToolFrom::from_word(text(node, "tool"))?,
            cache: Switch::from_word(text(node, "cache"))?,
            queue: Queue::from_word(text(node, "queue"))?,
            incremental: node.get("incremental")?.boolean()?,
        })
    }
}
