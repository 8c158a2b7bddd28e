//! Subcommands and options that people know from similar programs, with what does the same here.

/// Options that delete or overwrite something, so that no error suggests them.
pub(super) const DELETING: [&str; 10] = [
    "--apply",
    "--replace",
    "--discard-changes",
    "--discard-commits",
    "--delete-after-extract",
    "--whole",
    "--delete-tags",
    "--clean-duplicates",
    "--force",
    "--overwrite",
];

/// Options of so many programs that the one command that has such an option is no hint.
pub(super) const COMMON_OPTIONS: [&str; 13] = [
    "--all",
    "--check",
    "--file",
    "--format",
    "--list",
    "--name",
    "--output",
    "--release",
    "--show",
    "--strict",
    "--tag",
    "--test",
    "--wheel",
];

/// Options that became commands: command, option, and the new form.
pub(super) const REPLACED_OPTIONS: [(&str, &str, &str); 8] = [
    ("publish", "--prune", "rock-matrix release prune"),
    (
        "publish",
        "--subjects",
        "rock-matrix release subjects FILES --out FILE",
    ),
    ("build", "--test", "rock-matrix test JOB --dist DIR"),
    ("index", "--yank", "rock-matrix index yank DIR FILES"),
    (
        "index",
        "--yank-older-than",
        "rock-matrix index yank DIR --older-than AGE",
    ),
    ("index", "--unyank", "rock-matrix index unyank DIR FILES"),
    ("doctor", "--script", "rock-matrix attention script"),
    ("doctor", "--log", "rock-matrix attention judge FILE"),
];

/// Options of other programs: command, options, and the tip.
pub(super) const FOREIGN_OPTIONS: &[(&str, &[&str], &str)] = &[
    (
        "plan",
        &["--list", "--all"],
        "`rock-matrix plan` lists all jobs without an option",
    ),
    (
        "plan",
        &["--jobs", "--ids"],
        "`--format ids` prints the IDs of the jobs",
    ),
    (
        "plan",
        &["--torch", "--rocm", "--python", "--backend"],
        "`--only AXIS=VALUE` keeps the jobs with a value, and `--axis AXIS=VALUES` plans other values",
    ),
    (
        "plan",
        &["--filter", "--select", "--job"],
        "`--only AXIS=VALUE` selects jobs",
    ),
    (
        "plan",
        &["--dry-run", "-n"],
        "`rock-matrix plan` builds and publishes nothing",
    ),
    (
        "render",
        &["--dry-run", "-n"],
        "`rock-matrix render` runs nothing",
    ),
    ("render", &["--list"], "`rock-matrix plan` lists the jobs"),
    ("build", &["--list"], "`rock-matrix plan` lists the jobs"),
    ("test", &["--list"], "`rock-matrix plan` lists the jobs"),
    (
        "build",
        &["--jobs", "--parallel", "-j"],
        "`vars: {max-jobs: N}` in the matrix file limits the parallel compilers",
    ),
    (
        "build",
        &["--only", "--filter", "--select"],
        "`rock-matrix plan --only AXIS=VALUE --format ids` prints the IDs of such jobs",
    ),
    (
        "env",
        &["--list", "--all"],
        "`rock-matrix compat list profiles` lists the profiles",
    ),
    (
        "explain",
        &["--list", "--all"],
        "`rock-matrix explain` lists all codes without an option",
    ),
    (
        "init",
        &["--list"],
        "`rock-matrix recipe list` lists the recipes",
    ),
    (
        "init",
        &["--template"],
        "`--recipe NAME` selects what to start with",
    ),
    (
        "init",
        &["--name"],
        "`--distribution NAME` sets the project to build",
    ),
    (
        "pick",
        &["--list", "--all"],
        "`rock-matrix report packages` lists all published wheels",
    ),
    (
        "publish",
        &["--upload", "--push"],
        "`rock-matrix publish` uploads without such an option",
    ),
    (
        "publish",
        &["--yes", "-y"],
        "`rock-matrix publish` asks no questions",
    ),
    (
        "doctor",
        &["--fix"],
        "`rock-matrix doctor` changes nothing; it prints how to fix what it finds",
    ),
    (
        "check",
        &["--fix"],
        "`rock-matrix check` changes nothing; it prints how to fix each error",
    ),
    (
        "report",
        &["--html"],
        "`rock-matrix report page` writes a web page",
    ),
];

/// Subcommands of other programs: the command that they are typed after, which is empty for the
/// program itself, the words, and the commands to suggest.
pub(super) const FOREIGN_SUBCOMMANDS: &[(&str, &[&str], &[&str])] = &[
    (
        "",
        &["inspect", "info"],
        &["rock-matrix wheel show", "rock-matrix doctor"],
    ),
    (
        "",
        &["audit", "auditwheel", "delocate"],
        &["rock-matrix wheel check", "rock-matrix wheel repair"],
    ),
    ("", &["upload", "push", "deploy"], &["rock-matrix publish"]),
    ("", &["install", "search", "find"], &["rock-matrix pick"]),
    ("", &["version"], &["rock-matrix --version"]),
    ("", &["new", "create"], &["rock-matrix init"]),
    ("", &["run", "compile"], &["rock-matrix build"]),
    (
        "",
        &["list", "ls"],
        &["rock-matrix plan", "rock-matrix help --all"],
    ),
    ("", &["jobs", "matrix", "diff"], &["rock-matrix plan"]),
    ("", &["lint", "validate"], &["rock-matrix check"]),
    (
        "",
        &["apply"],
        &["rock-matrix build", "rock-matrix publish"],
    ),
    ("", &["generate", "export"], &["rock-matrix render"]),
    (
        "",
        &["ci", "github", "actions"],
        &["rock-matrix render workflow"],
    ),
    ("", &["dockerfile"], &["rock-matrix render docker"]),
    ("", &["config", "settings"], &["rock-matrix help config"]),
    ("", &["docs", "examples"], &["rock-matrix help"]),
    ("", &["profiles"], &["rock-matrix compat list profiles"]),
    (
        "wheel",
        &[
            "info", "inspect", "list", "ls", "view", "contents", "metadata",
        ],
        &["rock-matrix wheel show"],
    ),
    (
        "wheel",
        &["lint", "audit", "validate", "test"],
        &["rock-matrix wheel check"],
    ),
    (
        "wheel",
        &["fix", "graft", "bundle", "delocate", "auditwheel", "addtag"],
        &["rock-matrix wheel repair"],
    ),
    ("wheel", &["strip"], &["rock-matrix wheel repair --strip"]),
    ("wheel", &["tags", "tag"], &["rock-matrix wheel retag"]),
    (
        "wheel",
        &["rename"],
        &["rock-matrix wheel retag", "rock-matrix wheel label"],
    ),
    (
        "wheel",
        &["gpus", "targets", "arch"],
        &["rock-matrix wheel gfx"],
    ),
    ("wheel", &["upload", "publish"], &["rock-matrix publish"]),
    ("wheel", &["build"], &["rock-matrix build"]),
    (
        "index",
        &["create", "new", "init", "make", "update", "generate", "add"],
        &["rock-matrix index build"],
    ),
    (
        "index",
        &["delete", "remove", "rm", "prune"],
        &["rock-matrix index yank"],
    ),
    (
        "index",
        &["list", "ls", "show"],
        &["rock-matrix report packages"],
    ),
    (
        "release",
        &["upload", "create", "new", "add", "edit", "push"],
        &["rock-matrix publish"],
    ),
    (
        "release",
        &["list", "ls", "show", "view"],
        &["rock-matrix report packages", "rock-matrix report listing"],
    ),
    (
        "release",
        &["check", "verify", "test"],
        &["rock-matrix release preflight"],
    ),
    (
        "sdk",
        &["create", "make", "new", "package", "pack"],
        &["rock-matrix sdk build"],
    ),
    (
        "sdk",
        &["download", "get", "pull", "install"],
        &["rock-matrix sdk fetch"],
    ),
    (
        "sdk",
        &["list", "ls", "show", "info"],
        &["rock-matrix sdk plan", "rock-matrix sdk targets"],
    ),
    (
        "sdk",
        &["check", "test", "lint"],
        &["rock-matrix sdk verify"],
    ),
    (
        "attention",
        &["show", "explain", "predict", "info", "list"],
        &["rock-matrix attention report"],
    ),
    (
        "attention",
        &["check", "verify", "test", "run"],
        &[
            "rock-matrix attention script",
            "rock-matrix attention judge",
        ],
    ),
    (
        "compat",
        &["show", "view", "get", "info", "ls", "tables"],
        &["rock-matrix compat list"],
    ),
    (
        "compat",
        &["check", "test", "query", "verify"],
        &["rock-matrix compat explain"],
    ),
    (
        "compat",
        &["update", "upgrade", "sync", "fetch", "pull"],
        &["rock-matrix compat refresh"],
    ),
    (
        "compat",
        &["families", "targets"],
        &["rock-matrix compat expand"],
    ),
    (
        "recipe",
        &["info", "view", "get", "inspect", "describe", "explain"],
        &["rock-matrix recipe show"],
    ),
    ("recipe", &["ls"], &["rock-matrix recipe list"]),
    ("recipe", &["check", "lint"], &["rock-matrix check"]),
    (
        "recipe",
        &["create", "init", "add", "make"],
        &["rock-matrix recipe new"],
    ),
    (
        "source",
        &[
            "clone", "fetch", "sync", "update", "pull", "get", "download",
        ],
        &["rock-matrix source checkout"],
    ),
    ("source", &["diff", "show"], &["rock-matrix source status"]),
    (
        "source",
        &["patch", "apply"],
        &[
            "rock-matrix source checkout",
            "rock-matrix source save-patches",
        ],
    ),
    ("source", &["freeze"], &["rock-matrix source lock"]),
    ("source", &["build"], &["rock-matrix build"]),
    (
        "report",
        &["html", "site", "web", "finder"],
        &["rock-matrix report page"],
    ),
    (
        "report",
        &["list", "ls", "show", "wheels", "table"],
        &["rock-matrix report packages"],
    ),
    (
        "render",
        &["github", "ci", "actions", "yaml"],
        &["rock-matrix render workflow"],
    ),
    (
        "render",
        &["dockerfile", "container", "podman"],
        &["rock-matrix render docker"],
    ),
];

/// Verbs that are subcommands of many programs: never an argument of the group that they are typed
/// after, nor a hint at a command of another group.
pub(super) const COMMON_VERBS: [&str; 38] = [
    "add", "apply", "build", "check", "clean", "config", "create", "delete", "diff", "download",
    "edit", "explain", "export", "fetch", "get", "info", "init", "inspect", "install", "list",
    "ls", "make", "new", "pack", "plan", "remove", "rm", "run", "search", "serve", "set", "show",
    "status", "test", "unpack", "update", "upload", "view",
];

/// Options that exclude each other: command, one option, the others, and the tip.
pub(super) const CONFLICTS: &[(&str, &str, &[&str], &str)] = &[
    (
        "pick",
        "--wheels",
        &["--gfx", "--torch", "--rocm", "--backend"],
        "`--wheels` compares only the Python version, the system and `--label` of local builds; \
         leave the option out",
    ),
    (
        "pick",
        "--wheels",
        &["--gfx"],
        "`rock-matrix wheel gfx DIR --require LIST` checks the GPU code of wheels",
    ),
];

/// The subcommand that a group's first argument is most likely an argument of.
pub(super) const DEFAULT_SUBCOMMANDS: [(&str, &str); 7] = [
    ("attention", "report --gfx"),
    ("compat", "list"),
    ("index", "build"),
    ("recipe", "show"),
    ("sdk", "plan"),
    ("source", "plan"),
    ("wheel", "show"),
];

/// Commands with a required argument, and an alternative to it.
pub(super) const ALTERNATIVES: [(&[&str], &str); 4] = [
    (
        &["index", "build"],
        "`--published` indexes releases instead of a directory",
    ),
    (&["pick"], "`--wheels DIR` searches a directory of wheels"),
    (
        &["release", "prune"],
        "either `--keep` or `--older-than` is enough",
    ),
    (
        &["release", "prune"],
        "`--state FILE` reads saved releases, without `--repo`",
    ),
];
