//! Schedules of faults: by request number, by operation, or random from a seed.

use std::fmt;
use std::str::FromStr;

use super::fault::InjectedFault;
use super::rng::SplitMixRng;
use super::route::ApiOperation;

/// The faults of upcoming requests.
#[derive(Debug, Clone, Default)]
pub struct FaultSchedule {
    rules: Vec<(FaultRule, u64)>,
    drawn: Option<RandomFaults>,
}

/// A fault, and the requests that it applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultRule {
    /// The operation; none applies to all.
    pub operation: Option<ApiOperation>,
    /// The number of the request among those of the operation, from 1; none applies to all.
    pub nth: Option<u64>,
    /// The fault.
    pub fault: InjectedFault,
}

#[derive(Debug, Clone)]
struct RandomFaults {
    rng: SplitMixRng,
    per_mille: u64,
    left: u64,
    is_lasting: bool,
}

impl FaultSchedule {
    /// Returns a schedule without faults.
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns a schedule of rules; the first that matches a request applies.
    pub fn by_rule(rules: impl IntoIterator<Item = FaultRule>) -> Self {
        Self {
            rules: rules.into_iter().map(|rule| (rule, 0)).collect(),
            drawn: None,
        }
    }

    /// Returns a schedule of faults by request number, from 1.
    pub fn script(faults: impl IntoIterator<Item = (u64, InjectedFault)>) -> Self {
        Self::by_rule(faults.into_iter().map(|(nth, fault)| FaultRule {
            operation: None,
            nth: Some(nth),
            fault,
        }))
    }

    /// Returns a schedule of random faults, except those that wait, for this many of a thousand
    /// requests; one in eight is permanent.
    pub fn random(seed: u64, per_mille: u64) -> Self {
        let drawn = RandomFaults {
            rng: SplitMixRng::new(seed),
            per_mille,
            left: u64::MAX,
            is_lasting: true,
        };
        Self {
            rules: Vec::new(),
            drawn: Some(drawn),
        }
    }

    /// Like [`FaultSchedule::random`], but with transient faults only.
    pub fn passing(seed: u64, per_mille: u64) -> Self {
        let mut faults = Self::random(seed, per_mille);
        if let Some(drawn) = &mut faults.drawn {
            drawn.is_lasting = false;
        }
        faults
    }

    /// Limits the number of random faults.
    #[must_use]
    pub fn at_most(mut self, count: u64) -> Self {
        if let Some(drawn) = &mut self.drawn {
            drawn.left = count;
        }
        self
    }

    /// Adds a rule.
    pub fn add(&mut self, rule: FaultRule) {
        self.rules.push((rule, 0));
    }

    /// Returns the fault of the next request; `size` is the length of its body in bytes.
    pub fn next(&mut self, operation: ApiOperation, size: u64) -> Option<InjectedFault> {
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

impl RandomFaults {
    fn next(&mut self, operation: ApiOperation, size: u64) -> Option<InjectedFault> {
        if self.left == 0 || !self.rng.happens(self.per_mille) {
            return None;
        }
        self.left -= 1;
        let rng = &mut self.rng;
        if self.is_lasting && rng.happens(125) {
            return Some(lasting(rng, operation));
        }
        let server = rng.choose(&[500, 502, 503, 504, 408]);
        let limited = rng.choose(&[403, 429]);
        Some(
            match rng.below(if operation == ApiOperation::Upload {
                13
            } else {
                9
            }) {
                0 | 1 => InjectedFault::Status(server),
                2 => InjectedFault::Done(server),
                3 => InjectedFault::Cut(0),
                4 => InjectedFault::Mute(rng.choose(&[0, 0, 1, 60])),
                5 => InjectedFault::RetryAfter(limited, 1 + rng.below(120)),
                6 => InjectedFault::Limit(limited, 1 + rng.below(600)),
                7 => InjectedFault::Secondary(limited),
                8 => InjectedFault::Slow(1 + rng.below(100_000)),
                9 => InjectedFault::Cut(rng.below(size.max(1))),
                10 => InjectedFault::Cut(size),
                11 => InjectedFault::Lost(rng.below(size.max(1))),
                _ => InjectedFault::NoDigest,
            },
        )
    }
}

fn lasting(rng: &mut SplitMixRng, operation: ApiOperation) -> InjectedFault {
    let anywhere = [
        InjectedFault::BadCredentials,
        InjectedFault::NoRight,
        InjectedFault::Hidden,
        InjectedFault::Garbled,
        InjectedFault::EchoToken(rng.choose(&[403, 422, 503])),
        InjectedFault::Elsewhere(301),
        InjectedFault::Elsewhere(302),
        InjectedFault::Elsewhere(307),
    ];
    match operation {
        ApiOperation::Upload if rng.happens(600) => {
            let stored = [
                InjectedFault::WrongDigest,
                InjectedFault::WrongName,
                InjectedFault::Short,
            ];
            let listed = [
                InjectedFault::LaterDigest,
                InjectedFault::LaterSize,
                InjectedFault::LaterStarter,
                InjectedFault::LaterName,
            ];
            if rng.happens(500) {
                rng.choose(&stored)
            } else {
                rng.choose(&listed)
            }
        }
        ApiOperation::CreateRelease | ApiOperation::EditRelease if rng.happens(400) => {
            InjectedFault::TagRuleset(rng.choose(&[403, 422]))
        }
        ApiOperation::ListReleases | ApiOperation::ListAssets if rng.happens(400) => {
            InjectedFault::NextElsewhere
        }
        _ => rng.choose(&anywhere),
    }
}

impl fmt::Display for FaultRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = self.operation {
            f.write_str(operation.name())?;
        }
        if let Some(nth) = self.nth {
            write!(f, "#{nth}")?;
        }
        write!(f, "={}", self.fault)
    }
}

impl FromStr for FaultRule {
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
            word => Some(
                ApiOperation::from_name(word).ok_or_else(|| format!("`{word}` is no operation"))?,
            ),
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
    use super::{ApiOperation, FaultRule, FaultSchedule, InjectedFault};

    #[test]
    fn a_rule_is_written_as_it_is_read() {
        for text in [
            "upload#2=cut:1000",
            "=502",
            "#7=mute:0",
            "edit-release=no-right",
        ] {
            assert_eq!(text.parse::<FaultRule>().unwrap().to_string(), text);
        }
        for text in ["upload", "nothing=502", "#x=502", "upload=nothing"] {
            assert!(text.parse::<FaultRule>().is_err(), "{text}");
        }
        for (operation, word) in OPERATIONS {
            assert_eq!(
                format!("{word}=502")
                    .parse::<FaultRule>()
                    .unwrap()
                    .operation,
                Some(*operation)
            );
        }
    }

    #[test]
    fn a_rule_counts_only_the_requests_of_its_operation() {
        let mut faults =
            FaultSchedule::by_rule(["upload#2=502".parse().unwrap(), "#3=503".parse().unwrap()]);
        let mut next = |operation| faults.next(operation, 9);
        assert_eq!(next(ApiOperation::Upload), None);
        assert_eq!(next(ApiOperation::Upload), Some(InjectedFault::Status(502)));
        assert_eq!(
            next(ApiOperation::ListAssets),
            Some(InjectedFault::Status(503))
        );
        assert_eq!(next(ApiOperation::Upload), None);
    }

    #[test]
    fn the_same_seed_draws_the_same_faults() {
        let draw = |seed| {
            let mut faults = FaultSchedule::random(seed, 500);
            (0..200)
                .map(|_| faults.next(ApiOperation::Upload, 100))
                .collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn drawn_faults_end_where_they_are_bounded_and_pass_on_request() {
        let mut faults = FaultSchedule::passing(3, 1000).at_most(50);
        let drawn: Vec<InjectedFault> = (0..200)
            .filter_map(|_| faults.next(ApiOperation::Upload, 100))
            .collect();
        assert_eq!(drawn.len(), 50);
        assert!(
            drawn
                .iter()
                .all(|fault| fault.is_transient() && !fault.holds())
        );
        let mut faults = FaultSchedule::random(3, 1000);
        let lasting = (0..800)
            .filter_map(|_| faults.next(ApiOperation::EditRelease, 0))
            .filter(|fault| !fault.is_transient());
        assert!((50..200).contains(&lasting.count()));
    }
}
