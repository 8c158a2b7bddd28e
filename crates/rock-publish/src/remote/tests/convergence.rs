//! Random states and interrupted runs.

use super::*;

/// A replacement with other content than the desired one, from an earlier run.
const LEFTOVER: &str = "b.whl.tmp-020202020202";
/// Assets of others. The timestamp of the second looks like the start of a digest.
const FOREIGN: [&str; 2] = ["foreign", "a.whl.tmp-202401011230"];

fn is_foreign(asset: &ListedAsset) -> bool {
    FOREIGN.contains(&asset.name.as_str())
}

#[test]
fn from_any_state_and_after_any_kill_the_goal_is_reached() {
    // A small generator, so that a failing state is reproducible.
    let mut seed = 7_u64;
    let mut draw = |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let policy = PublishPolicy {
        replace: true,
        published: true,
        clean_duplicates: true,
        fetch_to_verify: true,
    };
    let desired = desired(&["a.whl", "b.whl", "c.whl", "SHA256SUMS"]);
    for round in 0..5000 {
        let mut assets = BTreeMap::new();
        for name in [
            "a.whl",
            "b.whl",
            "c.whl",
            "a.whl.tmp-010101010101",
            LEFTOVER,
            FOREIGN[0],
            FOREIGN[1],
        ] {
            if draw(2) == 0 {
                let id = 10 + assets.len() as u64;
                // The name of a leftover has the start of its digest.
                let byte = if name == LEFTOVER { 2 } else { 1 + draw(2) };
                let mut present = asset(id, name, u8::try_from(byte).unwrap());
                present.state = if draw(3) == 0 && name != FOREIGN[1] {
                    AssetState::Starter
                } else {
                    AssetState::Uploaded
                };
                present.digest = present.digest.filter(|_| draw(4) > 0 || name == LEFTOVER);
                assets.insert(name, present);
            }
        }
        let foreign = FOREIGN.map(|name| assets.contains_key(name));
        let begun = release(1, draw(2) == 0, assets.into_values().collect());
        let mut releases = Releases::of(if draw(5) == 0 {
            Vec::new()
        } else {
            vec![begun]
        });
        if draw(4) == 0 {
            releases.releases.push(release(2, true, vec![]));
        }
        // Apply a few steps, as a run that is killed.
        for _ in 0..draw(4) {
            let Reconciliation::Steps(steps) = reconcile(&desired, policy, &releases.releases)
            else {
                break;
            };
            let until = usize::try_from(draw(steps.len() as u64 + 1)).unwrap();
            steps[..until]
                .iter()
                .for_each(|step| releases.apply(step, &desired));
        }
        let had_release = !releases.releases.is_empty();
        releases
            .reach(&desired, policy)
            .unwrap_or_else(|refused| panic!("round {round}: {refused:?}"));
        let [only] = &releases.releases[..] else {
            panic!("round {round}: several releases")
        };
        let mut names: Vec<&str> = only
            .assets
            .iter()
            .map(|asset| asset.name.as_str())
            .collect();
        names.sort_unstable();
        names.retain(|name| !FOREIGN.contains(name));
        assert_eq!(
            names,
            ["SHA256SUMS", "a.whl", "b.whl", "c.whl"],
            "round {round}"
        );
        assert!(
            !only.draft
                && only
                    .assets
                    .iter()
                    .all(|a| is_foreign(a) || a.digest == Some(Digest::new([1; 32])))
        );
        for (name, was_there) in FOREIGN.into_iter().zip(foreign) {
            assert!(
                !was_there
                    || !had_release
                    || only.id != 1
                    || only.assets.iter().any(|a| a.name == name),
                "round {round}: {name}"
            );
        }
    }
}
