//! When faults happen: by number of a request, by operation, or drawn from a seed.

use std::fmt;
use std::str::FromStr;

use super::chance::Chance;
use super::fault::Fault;
use super::route::Operation;

/// The faults that are to come.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    rules: Vec<(Rule, u64)>,
    drawn: Option<Drawn>,
}

/// A fault, and which request it happens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Only this operation, or any.
    pub operation: Option<Operation>,
    /// Only the request of this number among those of the operation, from 1; or each.
    pub nth: Option<u64>,
    /// What happens.
    pub fault: Fault,
}

#[derive(Debug, Clone)]
struct Drawn {
    chance: Chance,
    per_mille: u64,
    left: u64,
    is_lasting: bool,
}

impl Faults {
    /// No faults.
    pub fn none() -> Self {
        Self::default()
    }

    /// Faults by rule; the first that fits a request happens.
    pub fn by_rule(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self {
            rules: rules.into_iter().map(|rule| (rule, 0)).collect(),
            drawn: None,
        }
    }

    /// A fault at the request of each number, from 1.
    pub fn script(faults: impl IntoIterator<Item = (u64, Fault)>) -> Self {
        Self::by_rule(faults.into_iter().map(|(nth, fault)| Rule {
            operation: None,
            nth: Some(nth),
            fault,
        }))
    }

    /// Any fault but those that hold, so many times out of a thousand requests; one in eight does
    /// not pass by itself.
    pub fn random(seed: u64, per_mille: u64) -> Self {
        let drawn = Drawn {
            chance: Chance::of(seed),
            per_mille,
            left: u64::MAX,
            is_lasting: true,
        };
        Self {
            rules: Vec::new(),
            drawn: Some(drawn),
        }
    }

    /// As `random`, and only faults that pass by themselves.
    pub fn passing(seed: u64, per_mille: u64) -> Self {
        let mut faults = Self::random(seed, per_mille);
        if let Some(drawn) = &mut faults.drawn {
            drawn.is_lasting = false;
        }
        faults
    }

    /// No more than so many drawn faults.
    #[must_use]
    pub fn at_most(mut self, count: u64) -> Self {
        if let Some(drawn) = &mut self.drawn {
            drawn.left = count;
        }
        self
    }

    /// Adds a rule.
    pub fn add(&mut self, rule: Rule) {
        self.rules.push((rule, 0));
    }

    /// What happens to the next request; `size` is the length of its body.
    pub fn next(&mut self, operation: Operation, size: u64) -> Option<Fault> {
        let mut found = None;
        for (rule, seen) in &mut self.rules {
            if rule.operation.is_none_or(|only| only == operation) {
                *seen += 1;
                if found.is_none() && rule.nth.is_none_or(|nth| nth == *seen) {
                    found = Some(rule.fault);
                }
            }
        }
        found.or_else(|| self.drawn.as_mut()?.next(operation, size))
    }
}

impl Drawn {
    fn next(&mut self, operation: Operation, size: u64) -> Option<Fault> {
        if self.left == 0 || !self.chance.happens(self.per_mille) {
            return None;
        }
        self.left -= 1;
        let chance = &mut self.chance;
        if self.is_lasting && chance.happens(125) {
            return Some(lasting(chance, operation));
        }
        let server = chance.one(&[500, 502, 503, 504, 408]);
        let limited = chance.one(&[403, 429]);
        Some(
            match chance.below(if operation == Operation::Upload {
                13
            } else {
                9
            }) {
                0 | 1 => Fault::Status(server),
                2 => Fault::Done(server),
                3 => Fault::Cut(0),
                4 => Fault::Mute(chance.one(&[0, 0, 1, 60])),
                5 => Fault::RetryAfter(limited, 1 + chance.below(120)),
                6 => Fault::Limit(limited, 1 + chance.below(600)),
                7 => Fault::Secondary(limited),
                8 => Fault::Slow(1 + chance.below(100_000)),
                9 => Fault::Cut(chance.below(size.max(1))),
                10 => Fault::Cut(size),
                11 => Fault::Lost(chance.below(size.max(1))),
                _ => Fault::NoDigest,
            },
        )
    }
}

fn lasting(chance: &mut Chance, operation: Operation) -> Fault {
    let anywhere = [
        Fault::BadCredentials,
        Fault::NoRight,
        Fault::Hidden,
        Fault::Garbled,
        Fault::EchoToken(chance.one(&[403, 422, 503])),
        Fault::Elsewhere(301),
        Fault::Elsewhere(302),
        Fault::Elsewhere(307),
    ];
    match operation {
        Operation::Upload if chance.happens(600) => {
            let stored = [Fault::WrongDigest, Fault::WrongName, Fault::Short];
            let listed = [
                Fault::LaterDigest,
                Fault::LaterSize,
                Fault::LaterStarter,
                Fault::LaterName,
            ];
            if chance.happens(500) {
                chance.one(&stored)
            } else {
                chance.one(&listed)
            }
        }
        Operation::CreateRelease | Operation::EditRelease if chance.happens(400) => {
            Fault::TagRuleset(chance.one(&[403, 422]))
        }
        Operation::ListReleases | Operation::ListAssets if chance.happens(400) => {
            Fault::NextElsewhere
        }
        _ => chance.one(&anywhere),
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = self.operation {
            f.write_str(operation.word())?;
        }
        if let Some(nth) = self.nth {
            write!(f, "#{nth}")?;
        }
        write!(f, "={}", self.fault)
    }
}

impl FromStr for Rule {
    type Err = String;

    /// Reads `[OPERATION][#N]=FAULT`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (when, fault) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` is no `[OPERATION][#N]=FAULT`"))?;
        let (word, nth) = when
            .split_once('#')
            .map_or((when, None), |(word, nth)| (word, Some(nth)));
        let operation = match word {
            "" | "any" => None,
            word => Some(Operation::of(word).ok_or_else(|| format!("`{word}` is no operation"))?),
        };
        let nth = nth
            .map(|nth| nth.parse().map_err(|_| format!("`#{nth}` is no number")))
            .transpose()?;
        Ok(Self {
            operation,
            nth,
            fault: fault.parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::route::OPERATIONS;
    use super::{Fault, Faults, Operation, Rule};

    #[test]
    fn a_rule_is_written_as_it_is_read() {
        for text in [
            "upload#2=cut:1000",
            "=502",
            "#7=mute:0",
            "edit-release=no-right",
        ] {
            assert_eq!(text.parse::<Rule>().unwrap().to_string(), text);
        }
        for text in ["upload", "nothing=502", "#x=502", "upload=nothing"] {
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
        for (operation, word) in OPERATIONS {
            assert_eq!(
                format!("{word}=502").parse::<Rule>().unwrap().operation,
                Some(*operation)
            );
        }
    }

    #[test]
    fn a_rule_counts_only_the_requests_of_its_operation() {
        let mut faults =
            Faults::by_rule(["upload#2=502".parse().unwrap(), "#3=503".parse().unwrap()]);
        let mut next = |operation| faults.next(operation, 9);
        assert_eq!(next(Operation::Upload), None);
        assert_eq!(next(Operation::Upload), Some(Fault::Status(502)));
        assert_eq!(next(Operation::ListAssets), Some(Fault::Status(503)));
        assert_eq!(next(Operation::Upload), None);
    }

    #[test]
    fn the_same_seed_draws_the_same_faults() {
        let draw = |seed| {
            let mut faults = Faults::random(seed, 500);
            (0..200)
                .map(|_| faults.next(Operation::Upload, 100))
                .collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn drawn_faults_end_where_they_are_bounded_and_pass_where_that_is_asked() {
        let mut faults = Faults::passing(3, 1000).at_most(50);
        let drawn: Vec<Fault> = (0..200)
            .filter_map(|_| faults.next(Operation::Upload, 100))
            .collect();
        assert_eq!(drawn.len(), 50);
        assert!(drawn.iter().all(|fault| fault.passes() && !fault.holds()));
        let mut faults = Faults::random(3, 1000);
        let lasting = (0..800)
            .filter_map(|_| faults.next(Operation::EditRelease, 0))
            .filter(|fault| !fault.passes());
        assert!((50..200).contains(&lasting.count()));
    }
}
