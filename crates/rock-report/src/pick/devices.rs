//! Device wheels, which contain the GPU code of a host wheel.

use std::collections::{BTreeMap, BTreeSet};

use super::WheelOffer;
use rock_compat::{Compat, DevicePackage};
use rock_diagnostic::shell_quoted;
use rock_names::{DistributionName, WheelName};

/// A published device wheel.
#[derive(Debug, Clone)]
pub struct DeviceOffer {
    /// The wheel and its URL.
    pub offer: WheelOffer,
    /// The device package, with the gfx targets that it is for.
    pub package: DevicePackage,
}

impl DeviceOffer {
    /// Whether a machine with these GPUs needs the wheel. A machine with unknown GPUs needs all
    /// device wheels.
    pub fn is_needed(&self, gfx: &BTreeSet<String>) -> bool {
        gfx.is_empty()
            || self
                .package
                .targets
                .iter()
                .any(|target| gfx.contains(target))
    }
}

/// Device wheels, by the distribution, version, build tag, wheel tag and release of their host
/// wheel.
pub(super) type ByHost = BTreeMap<[String; 5], Vec<DeviceOffer>>;

fn key(distribution: &str, name: &WheelName, release: &str) -> [String; 5] {
    let normal = distribution
        .parse::<DistributionName>()
        .map(|name| name.normalized());
    [
        normal.unwrap_or_else(|_| distribution.to_owned()),
        name.version().to_string(),
        name.build_tag()
            .map_or_else(String::new, ToString::to_string),
        name.compressed_tag(),
        release.to_owned(),
    ]
}

/// Separates the device wheels whose host wheel is published in the same release from all other
/// wheels.
pub(super) fn apart(offers: Vec<WheelOffer>, compat: &Compat) -> (Vec<WheelOffer>, ByHost) {
    let host_key = |offer: &WheelOffer| {
        key(
            offer.name.distribution().as_str(),
            &offer.name,
            &offer.release,
        )
    };
    let known: BTreeSet<[String; 5]> = offers.iter().map(host_key).collect();
    let (mut others, mut devices) = (Vec::new(), ByHost::new());
    for offer in offers {
        let package = compat.device_package(offer.name.distribution().as_str());
        let host = package
            .as_ref()
            .and_then(|package| compat.host_of_device(&package.device));
        let key = host
            .map(|host| key(host, &offer.name, &offer.release))
            .filter(|key| known.contains(key));
        match (package, key) {
            (Some(package), Some(key)) => devices
                .entry(key)
                .or_default()
                .push(DeviceOffer { offer, package }),
            _ => others.push(offer),
        }
    }
    (others, devices)
}

/// Removes and returns the device wheels of a host wheel.
pub(super) fn take(devices: &mut ByHost, host: &WheelOffer) -> Vec<DeviceOffer> {
    devices
        .remove(&key(
            host.name.distribution().as_str(),
            &host.name,
            &host.release,
        ))
        .unwrap_or_default()
}

/// Returns the targets that have their own device wheel, or the targets of the bundles if there are
/// no such wheels, sorted; `None` if there are no device wheels.
pub(super) fn targets(devices: &[DeviceOffer]) -> Option<Vec<String>> {
    let of_one = devices
        .iter()
        .filter(|device| device.package.is_of_one_target());
    let mut targets: Vec<String> = of_one.map(|device| device.package.bundle.clone()).collect();
    if targets.is_empty() {
        targets = devices
            .iter()
            .flat_map(|device| device.package.targets.iter().cloned())
            .collect();
        targets.dedup();
    }
    targets.sort_by_key(|target| (target.len(), target.clone()));
    (!targets.is_empty()).then_some(targets)
}

/// Returns the URLs of a host wheel and of the device wheels that these GPUs need, quoted for a
/// shell.
pub(super) fn words(host: &str, devices: &[DeviceOffer], gfx: &BTreeSet<String>) -> String {
    let needed = devices
        .iter()
        .filter(|device| device.is_needed(gfx) && !device.offer.url.is_empty());
    let urls = needed.map(|device| device.offer.url.as_str());
    [host]
        .into_iter()
        .chain(urls)
        .map(shell_quoted)
        .collect::<Vec<_>>()
        .join(" ")
}
