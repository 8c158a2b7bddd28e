//! Queries as `AXIS=VALUE` pairs.

use std::fmt::Display;
use std::str::FromStr;

use super::{Compat, CompatQuery};
use crate::codes::facts as codes;
use rock_diagnostic::nearest::nearest;
use rock_diagnostic::{Diagnostic, Diagnostics, Location, Sink, shell_line, shell_quoted};
use rock_names::{DistributionName, GfxTarget, TorchBuild};

/// The axes of a query, in addition to packages.
const AXES: [&str; 5] = ["torch", "rocm", "python", "backend", "gfx"];

impl Compat {
    /// Parses a query from pairs such as `torch=2.6.0`, `flash-attn==2.8.3` or
    /// `gfx=gfx942;mi300x`. `gpu` is another name of the axis `gfx`, which targets, families and
    /// products do not need. Those without an axis are collected. A torch with the local version
    /// label `+rocm7.0` is read as its public version and `rocm=7.0`.
    ///
    /// # Errors
    /// When a pair has no known axis or an invalid value, an axis is given twice, or torch is built
    /// for another ROCm version than the given one.
    pub fn parse_query(&self, pairs: &[String]) -> Result<CompatQuery, Diagnostics> {
        if let Some(corrected) = self.pairs_of_words(pairs) {
            let words = shell_line(pairs);
            let message = format!("`{words}` is not of the form AXIS=VALUE");
            let help = format!("use `{}`", shell_line(corrected));
            return Err(bad_question(&words, message).help(help).into());
        }
        let mut sink = Sink::new();
        let mut query = CompatQuery::default();
        let mut given: Vec<String> = Vec::new();
        let mut has_bare_gpus = false;
        for pair in pairs {
            let split = pair
                .split_once('=')
                .or_else(|| self.has_gpu(pair).then_some(("gfx", pair.as_str())));
            let Some((axis, value)) = split else {
                let message = format!("`{pair}` is not of the form AXIS=VALUE");
                let meant: Vec<String> = self
                    .pairs_of_value(pair)
                    .into_iter()
                    .map(|pair| format!("`{}`", shell_quoted(pair)))
                    .collect();
                let help = if meant.is_empty() {
                    "for example `torch=2.6.0 rocm=6.2`".to_owned()
                } else {
                    format!("use {}", meant.join(" or "))
                };
                sink.push(bad_question(pair, message).help(help));
                continue;
            };
            // `==` is that of requirements (PEP 440).
            let value = value.strip_prefix('=').unwrap_or(value);
            let name = axis_name(axis);
            if !self.has_axis(&name) {
                sink.push(self.unknown_axis(pair, axis));
                continue;
            }
            let slot = if self.has_package(&name) {
                "a package"
            } else {
                name.as_str()
            };
            let is_bare = !pair.contains('=');
            if given.iter().any(|before| before == slot) && !(is_bare && has_bare_gpus) {
                let help = "give each axis once; separate gfx targets with commas";
                sink.push(bad_question(pair, format!("{slot} is given twice")).help(help));
                continue;
            }
            given.push(slot.to_owned());
            has_bare_gpus |= is_bare;
            match name.as_str() {
                "torch" => query.torch = parse_value(value, pair, "torch", &mut sink),
                "rocm" => query.rocm = parse_value(value, pair, "rocm", &mut sink),
                "python" => query.python = parse_value(value, pair, "torch", &mut sink),
                "backend" => query.backend = Some(value.to_owned()),
                "gfx" => {
                    let words = value.split([';', ',']);
                    query.gfx.extend(
                        words.flat_map(|word| self.parse_gfx(word.trim(), pair, &mut sink)),
                    );
                }
                _ => {
                    query.package = parse_value(value, pair, "packages", &mut sink)
                        .map(|version| (name, version));
                }
            }
        }
        split_torch_build(&mut query, &mut sink);
        Diagnostics::check(sink.finish())?;
        Ok(query)
    }

    /// Returns the pairs that a value without an axis may stand for, such as `gfx=gfx942` for
    /// `mi300x`, `rocm=6.4` for `6.4` and `torch=2.9` for `torch2.9`: GPU targets, or a version with
    /// data.
    pub fn pairs_of_value(&self, value: &str) -> Vec<String> {
        match self.resolve_gfx(value).as_deref() {
            Ok([target]) => return vec![format!("gfx={target}")],
            Ok(_) => return vec![format!("gfx={value}")],
            Err(_) => {}
        }
        if let Some(pair) = self.pair_of_word(value) {
            return vec![pair];
        }
        let has_data = |pair: &String| {
            self.parse_query(std::slice::from_ref(pair))
                .is_ok_and(|query| !self.overviews(&query).is_empty())
        };
        ["rocm", "torch", "python"]
            .into_iter()
            .map(|axis| format!("{axis}={value}"))
            .filter(has_data)
            .collect()
    }

    /// Returns the pair of an axis and a version in one word, such as `rocm7.1`, `rocm:7.1` or
    /// `rocm 7.1`.
    fn pair_of_word(&self, word: &str) -> Option<String> {
        let start = word.find(|c: char| c.is_ascii_digit())?;
        let (axis, value) = word.split_at(start);
        let axis = axis.trim_end_matches([' ', ':', '-', '_', '@']);
        let pair = format!("{axis}={value}");
        let is_query = self.has_axis(&axis_name(axis))
            && !value.contains('=')
            && self.parse_query(std::slice::from_ref(&pair)).is_ok();
        is_query.then_some(pair)
    }

    /// Returns the pairs of words such as `torch 2.8 rocm 6.4` or `torch2.8 rocm6.4`; `None` if no
    /// word is an axis or begins with one, or if the pairs are not a query.
    fn pairs_of_words(&self, words: &[String]) -> Option<Vec<String>> {
        let (mut pairs, mut is_joined) = (Vec::new(), false);
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            if self.has_axis(&axis_name(word)) {
                let value = words.next_if(|next| !next.contains('='))?;
                pairs.push(format!("{word}={value}"));
                is_joined = true;
            } else if word.contains('=') || self.resolve_gfx(word).is_ok() {
                pairs.push(word.clone());
            } else if let Some(pair) = self.pair_of_word(word) {
                pairs.push(pair);
                is_joined = true;
            } else {
                let mut known = self.pairs_of_value(word);
                pairs.push(known.pop().filter(|_| known.is_empty())?);
            }
        }
        (is_joined && self.parse_query(&pairs).is_ok()).then_some(pairs)
    }

    /// Whether queries have an axis of this normalized name.
    fn has_axis(&self, name: &str) -> bool {
        AXES.contains(&name) || self.has_package(name)
    }

    /// Whether one of the words in a list is a target, a family or a product.
    fn has_gpu(&self, list: &str) -> bool {
        list.split([';', ','])
            .any(|word| self.resolve_gfx(word.trim()).is_ok())
    }

    /// Returns the targets of a word, which may be a target, a family or a product.
    fn parse_gfx(&self, word: &str, pair: &str, sink: &mut Sink) -> Vec<GfxTarget> {
        self.resolve_gfx(word).unwrap_or_else(|error| {
            sink.push(bad_question(pair, error.to_string()).help(
                "`rock-matrix compat list products` and `compat list families` show the names",
            ));
            Vec::new()
        })
    }

    fn unknown_axis(&self, pair: &str, axis: &str) -> Diagnostic {
        let packages = self.tables().packages.iter();
        let mut packages: Vec<&str> = packages.map(|row| row.package.as_str()).collect();
        packages.dedup();
        let known: Vec<&str> = AXES.into_iter().chain(packages).collect();
        let message = format!("the compatibility data has no axis `{axis}`");
        bad_question(pair, message).help(match nearest(axis, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the axes are {}", known.join(", ")),
        })
    }
}

/// Returns the normalized name of an axis; `gpu` is another name of `gfx`.
fn axis_name(axis: &str) -> String {
    let name = axis
        .parse::<DistributionName>()
        .map_or_else(|_| axis.to_owned(), |name| name.normalized());
    if name == "gpu" {
        "gfx".to_owned()
    } else {
        name
    }
}

/// Replaces a torch version that is built for ROCm by its public version and its ROCm version. A
/// given patch version of the latter remains, because the wheels of a minor version are used for it.
fn split_torch_build(query: &mut CompatQuery, sink: &mut Sink) {
    let Some(torch) = &query.torch else { return };
    let Some(TorchBuild::Rocm(built)) = TorchBuild::of(torch) else {
        return;
    };
    let public = torch.public();
    match &query.rocm {
        Some(given) if *given == built || given.minor() == built => {}
        Some(given) if *given != built.minor() => {
            let pair = format!("torch={torch}");
            let message = format!("torch {torch} is built for ROCm {built}, not for {given}");
            let help =
                format!("use `torch={public} rocm={given}` or `torch={public} rocm={built}`");
            sink.push(bad_question(&pair, message).help(help));
        }
        _ => query.rocm = Some(built),
    }
    query.torch = Some(public);
}

fn bad_question(pair: &str, message: String) -> Diagnostic {
    Diagnostic::new(&codes::BAD_QUESTION, message).at(Location::Argument(pair.to_owned()), "")
}

/// Parses a value; the help of the error names the table with the known values.
fn parse_value<T: FromStr<Err: Display>>(
    text: &str,
    pair: &str,
    table: &str,
    sink: &mut Sink,
) -> Option<T> {
    text.parse()
        .map_err(|error: T::Err| {
            let help = format!("`rock-matrix compat list {table}` shows the known versions");
            sink.push(bad_question(pair, error.to_string()).help(help));
        })
        .ok()
}

#[cfg(test)]
mod tests {
    use crate::Compat;

    #[test]
    fn pairs_become_a_query_and_every_error_is_reported() {
        let compat = Compat::embedded();
        let parse = |text: &str| {
            let pairs: Vec<String> = text.split(' ').map(str::to_owned).collect();
            compat.parse_query(&pairs)
        };
        let query = parse("torch=2.6.0 Flash_Attn=2.8.3 gfx=gfx942;gfx1100").unwrap();
        assert_eq!(query.torch, Some("2.6.0".parse().unwrap()));
        assert_eq!(query.package.unwrap().0, "flash-attn");
        assert_eq!(query.gfx.len(), 2);
        let errors = parse("torch torhc=2 rocm=6.2 rocm=6.3 python=x").unwrap_err();
        let messages: Vec<&str> = errors
            .as_slice()
            .iter()
            .map(|error| error.message.as_str())
            .collect();
        assert_eq!(messages.len(), 4);
        assert!(messages.contains(&"rocm is given twice"));
        assert!(messages.contains(&"the compatibility data has no axis `torhc`"));
    }

    #[test]
    fn torch_that_is_built_for_a_rocm_version_names_it() {
        let compat = Compat::embedded();
        let parse = |text: &str| {
            let pairs: Vec<String> = text.split(' ').map(str::to_owned).collect();
            compat.parse_query(&pairs)
        };
        for (text, rocm) in [
            ("torch=2.9.0+rocm6.4", "6.4"),
            ("torch=2.9.0+rocm6.4 rocm=6.4", "6.4"),
            ("torch=2.9.0+rocm6.4 rocm=6.4.1", "6.4.1"),
            ("torch=2.9.0+rocm7.0.2.git1234567 rocm=7.0", "7.0.2"),
        ] {
            let query = parse(text).unwrap();
            assert_eq!(query.torch, Some("2.9.0".parse().unwrap()), "{text}");
            assert_eq!(query.rocm, Some(rocm.parse().unwrap()), "{text}");
        }
        let errors = parse("torch=2.9.0+rocm7.0 rocm=6.4").unwrap_err();
        let error = &errors.as_slice()[0];
        assert_eq!(
            error.message,
            "torch 2.9.0+rocm7.0 is built for ROCm 7.0, not for 6.4"
        );
        assert_eq!(
            error.help.as_deref(),
            Some("use `torch=2.9.0 rocm=6.4` or `torch=2.9.0 rocm=7.0`")
        );
        let cuda = parse("torch=2.9.0+cu128 rocm=6.4").unwrap();
        assert_eq!(cuda.torch, Some("2.9.0+cu128".parse().unwrap()));
    }

    #[test]
    fn gpus_need_no_axis() {
        let compat = Compat::embedded();
        let targets = |pair: &str| {
            let pairs: Vec<String> = pair.split(" / ").map(str::to_owned).collect();
            let query = compat.parse_query(&pairs).unwrap();
            let targets: Vec<String> = query.gfx.iter().map(ToString::to_string).collect();
            targets.join(" ")
        };
        for (pair, expect) in [
            ("gpu=RX 7900 XTX", "gfx1100"),
            ("gpu=mi300x, gfx1100", "gfx942 gfx1100"),
            ("RX 7900 XTX", "gfx1100"),
            ("mi300x", "gfx942"),
            ("gfx120X-all", "gfx1200 gfx1201"),
            ("mi300x,gfx1100", "gfx942 gfx1100"),
            ("mi300x / rocm=6.4 / RX 7900 XTX", "gfx942 gfx1100"),
        ] {
            assert_eq!(targets(pair), expect, "{pair}");
        }
        assert_eq!(targets("gfx==gfx1100"), "gfx1100");
        let twice = ["mi300x", "gfx=gfx1100"].map(str::to_owned);
        assert!(compat.parse_query(&twice).is_err());
        let message = |pairs: [&str; 2]| {
            let errors = compat.parse_query(&pairs.map(str::to_owned)).unwrap_err();
            errors.as_slice()[0].message.clone()
        };
        assert_eq!(message(["mi300x", "gfx=gfx1100"]), "gfx is given twice");
        assert_eq!(message(["gfx=gfx1100", "mi300x"]), "gfx is given twice");
        assert_eq!(
            message(["torch=2.9.1", "mi300x,zebra"]),
            "`zebra` is not a gfx target, a family or a product"
        );
    }

    #[test]
    fn words_without_equals_signs_are_one_error_with_the_corrected_query() {
        let compat = Compat::embedded();
        let help = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            let errors = compat.parse_query(&words).unwrap_err();
            let help = |error: &rock_diagnostic::Diagnostic| error.help.clone().unwrap();
            errors.as_slice().iter().map(help).collect::<Vec<_>>()
        };
        for (text, corrected) in [
            ("torch 2.8 rocm 6.4", "torch=2.8 rocm=6.4"),
            ("torch 2.8 rocm=6.4 mi300x", "torch=2.8 rocm=6.4 mi300x"),
            ("flash-attn 2.8.3 gpu gfx942", "flash-attn=2.8.3 gpu=gfx942"),
            ("torch 2.8 6.4", "torch=2.8 rocm=6.4"),
            ("torch2.8 rocm6.4 gfx942", "torch=2.8 rocm=6.4 gfx942"),
            ("rocm:7.1", "rocm=7.1"),
            ("python3.12 torch=2.8", "python=3.12 torch=2.8"),
            ("flash_attn-2.8.3 torch 2.8", "flash_attn=2.8.3 torch=2.8"),
        ] {
            assert_eq!(help(text), [format!("use `{corrected}`")], "{text}");
        }
        let words = ["torch 2.9", "rocm 7.1", "gfx1100"].map(str::to_owned);
        let errors = compat.parse_query(&words).unwrap_err();
        assert_eq!(
            errors.as_slice()[0].help.as_deref(),
            Some("use `torch=2.9 rocm=7.1 gfx1100`")
        );
        assert_eq!(help("torch 2.8 rocm").len(), 3);
        assert_eq!(help("torch two rocm=6.4").len(), 2);
    }

    #[test]
    fn values_without_an_axis_stand_for_targets_and_known_versions() {
        let compat = Compat::embedded();
        for (value, pairs) in [
            ("gfx942", &["gfx=gfx942"][..]),
            ("mi300x", &["gfx=gfx942"]),
            ("gfx94X-dcgpu", &["gfx=gfx942"]),
            ("6.4", &["rocm=6.4"]),
            ("2.9.1", &["torch=2.9.1"]),
            ("3.12", &["python=3.12"]),
            ("rocm7.1", &["rocm=7.1"]),
            ("1.0", &[]),
            ("nonsense", &[]),
        ] {
            assert_eq!(compat.pairs_of_value(value), pairs, "{value}");
        }
    }
}
