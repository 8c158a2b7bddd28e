//! Listings, manifests and install commands.

use super::*;

#[test]
fn an_address_has_the_plus_encoded_whichever_way_it_was_published() {
    for url in [
        "https://github.com/o/r/releases/download/v1/a-1+rocm64-py3-none-any.whl",
        "",
    ] {
        let text = format!(
            r#"{{"repository": "o/r", "releases": [{{"tag_name": "v1", "assets": [
               {{"name": "a-1+rocm64-py3-none-any.whl", "browser_download_url": "{url}"}}, {{"name": "notes.txt"}},
               {{"name": "a-1.rocm64-py3-none-any.whl"}}]}}]}}"#
        );
        let mut offers = WheelOffers::default();
        let listing = ReleaseListing::from_json(&text).unwrap();
        offers.add_listing(&listing);
        assert_eq!(
            listing.unreadable().count(),
            1,
            "the name with a replaced plus is reported"
        );
        let wheels = offers.into_wheels();
        assert_eq!(
            wheels[0].url,
            "https://github.com/o/r/releases/download/v1/a-1%2Brocm64-py3-none-any.whl"
        );
    }
}

#[test]
fn a_machine_is_given_the_line_for_its_torch() {
    let compat = Compat::embedded();
    let mut offers = WheelOffers::default();
    offers.add_names(
        ["flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl"],
        "https://x/a b/",
    );
    let wheels = candidates(offers.into_wheels(), &compat, PrereleaseMode::IfNecessary);
    let text = |machine: &TargetMachine| {
        super::super::for_machine(
            wheels[0].install_lines(&machine.gfx).unwrap(),
            &wheels[0],
            machine,
        )
    };
    let url = "'https://x/a b/flash_attn-2.7.4.post1%2Brocm62torch2.5triton-py3-none-any.whl'";
    let installed = TargetMachine {
        torch: wheels[0].torch.clone(),
        ..TargetMachine::default()
    };
    let line = format!("  pip install {url}\n");
    assert!(text(&installed).starts_with(&line) && !text(&installed).contains("torch=="));
    assert_eq!(
        text(&TargetMachine {
            has_no_torch: true,
            ..installed.clone()
        }),
        text(&installed),
        "one is named"
    );
    let bare = TargetMachine {
        has_no_torch: true,
        ..TargetMachine::default()
    };
    let from_nothing = format!(
        "  pip install torch==2.5.1+rocm6.2 {url} --extra-index-url https://download.pytorch.org/whl/rocm6.2\n"
    );
    assert!(text(&bare).starts_with(&from_nothing), "{}", text(&bare));
    let foreign = TargetMachine {
        foreign_torch: Some("2.5.1+cu124".into()),
        ..installed
    };
    assert_eq!(text(&foreign), text(&bare));
    let unknown = text(&TargetMachine::default());
    assert!(
        unknown.starts_with(&line) && unknown.ends_with(&from_nothing),
        "{unknown}"
    );
    let needs = super::super::run_time_text(&wheels[0].run_time);
    assert!(
        needs.ends_with("  export FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE\n\n"),
        "{needs}"
    );
}

#[test]
fn a_manifest_adds_what_a_listing_does_not_know_of_the_same_bytes_only() {
    let listing = |digest: &str| {
        let text = format!(
            r#"[{{"tag_name": "v1", "assets": [{{"name": "{CP312}", "digest": "sha256:{digest}",
               "browser_download_url": "https://github.com/o/r/releases/download/v1/{CP312}"}}]}}]"#
        );
        ReleaseListing::from_json(&text).unwrap()
    };
    let manifest = ReleaseManifest::new(
        None,
        None,
        vec![ManifestFile {
            gfx: vec!["gfx942".into()],
            ..row(CP312)
        }],
    );
    for (digest, known) in [("ab".repeat(32), true), ("cd".repeat(32), false)] {
        let mut offers = WheelOffers::default();
        offers.add_listing(&listing(&digest));
        offers.add_manifest(&manifest, BASE);
        assert_eq!(offers.repository.as_deref(), Some("o/r"));
        let wheels = offers.into_wheels();
        assert_eq!((wheels.len(), wheels[0].row.is_some()), (1, known));
        assert!(wheels[0].url.starts_with("https://github.com/o/r/"));
    }
}
