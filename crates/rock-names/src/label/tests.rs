use proptest::prelude::*;

use super::*;

fn known() -> Vec<RocmVersion> {
    [
        "6.1", "6.2", "6.2.4", "7.0", "7.1", "7.1.1", "7.1.4", "7.2", "7.14", "10.1",
    ]
    .iter()
    .map(|v| v.parse().unwrap())
    .collect()
}

fn parts(rocm: &str, torch: &str) -> LabelParts {
    LabelParts {
        accelerator: Accelerator::Rocm(rocm.parse().unwrap()),
        torch: Some(torch.parse().unwrap()),
        git: None,
        backend: None,
        cxx11abi: None,
    }
}

#[track_caller]
fn both(parts: &LabelParts, compact: &str, dotted: &str) {
    assert_eq!(parts.label(LabelStyle::Compact).as_str(), compact);
    assert_eq!(parts.label(LabelStyle::Dotted).as_str(), dotted);
}

#[track_caller]
fn read(label: &str) -> ParsedLabel {
    LabelParts::parse(&label.parse().unwrap(), &known()).unwrap()
}

#[test]
fn the_table_of_labels_prints_in_both_styles() {
    both(&parts("6.2", "2.5.1"), "rocm62torch2.5", "rocm6.2torch2.5");
    let triton = LabelParts {
        backend: Some("triton".into()),
        ..parts("6.2", "2.5.1")
    };
    both(&triton, "rocm62torch2.5triton", "rocm6.2torch2.5triton");
    both(
        &parts("6.2.4", "2.6.0"),
        "rocm624torch2.6",
        "rocm6.2.4torch2.6",
    );
    both(&parts("6.1", "2.6.0"), "rocm61torch2.6", "rocm6.1torch2.6");
    both(
        &parts("7.1", "2.10.0"),
        "rocm71torch2.10",
        "rocm7.1torch2.10",
    );
    let commit = LabelParts {
        git: Some("4a948e9".into()),
        ..parts("7.2", "2.14.0")
    };
    both(
        &commit,
        "rocm72torch2.14git4a948e9",
        "rocm7.2torch2.14git4a948e9",
    );
    both(
        &parts("7.2", "2.15.0.dev20261101"),
        "rocm72torch2.15dev20261101",
        "rocm7.2torch2.15dev20261101",
    );
}

#[test]
fn a_label_of_a_wheel_that_rocm_was_put_into_is_read_as_the_one_it_had() {
    let own: LocalLabel = "rocm7.14torch2.9".parse().unwrap();
    let embedded = LocalLabel::embedded(Some(&own));
    assert_eq!(embedded.as_str(), "rocm.rocm7.14torch2.9");
    assert!(
        embedded.is_embedded() && LocalLabel::embedded(None).is_embedded() && !own.is_embedded()
    );
    assert_eq!(read("rocm.rocm7.14torch2.9"), read("rocm7.14torch2.9"));
    assert!(
        LabelParts::parse(&LocalLabel::embedded(None), &known()).is_err(),
        "it names no version"
    );
}

#[test]
fn rocm_is_cut_to_its_minor_only_by_who_asks_for_it() {
    let full: RocmVersion = "6.2.4".parse().unwrap();
    assert_eq!(
        parts(full.minor().as_str(), "2.6.0")
            .label(LabelStyle::Compact)
            .as_str(),
        "rocm62torch2.6"
    );
    assert_eq!(
        parts(full.as_str(), "2.6.0")
            .label(LabelStyle::Compact)
            .as_str(),
        "rocm624torch2.6"
    );
}

#[test]
fn digits_with_two_readings_are_ambiguous_and_one_reading_is_not() {
    let check = |rocm: &str, expect: bool| {
        assert_eq!(
            is_compact_unambiguous(&rocm.parse().unwrap(), &known()),
            expect,
            "{rocm}"
        );
    };
    check("6.2", true);
    check("6.2.4", true);
    check("7.14", false);
    check("7.1.4", false);
    check("10.1", false);
    let without_714: Vec<RocmVersion> = ["7.1.4".parse().unwrap()].into();
    assert!(is_compact_unambiguous(
        &"7.1.4".parse().unwrap(),
        &without_714
    ));
    let patched: Vec<RocmVersion> = ["7.14.2".parse().unwrap()].into();
    assert!(
        !is_compact_unambiguous(&"7.1.4".parse().unwrap(), &patched),
        "7.14.2 is cut to 7.14"
    );
}

#[test]
fn torch_keeps_its_dot_and_folds_its_patch() {
    let label = |torch| parts("6.2", torch).label(LabelStyle::Compact);
    assert_eq!(label("2.5.0"), label("2.5.1"));
    assert_ne!(label("2.1.0"), label("2.10.0"));
    assert_eq!(label("2.10.0").as_str(), "rocm62torch2.10");
}

#[test]
fn a_nightly_keeps_its_date_and_a_local_part_of_torch_is_dropped() {
    let label = |torch| parts("7.2", torch).label(LabelStyle::Compact).to_string();
    assert_eq!(
        label("2.15.0.dev20261101+rocm7.2"),
        "rocm72torch2.15dev20261101"
    );
    assert_eq!(label("2.15.0rc1"), "rocm72torch2.15rc1");
    assert_eq!(label("2.15.0a0+gitabcdef0"), "rocm72torch2.15a0");
    assert_eq!(label("2.12.0+rocm7.14.0"), "rocm72torch2.12");
}

#[test]
fn tails_stand_in_order_with_the_backend_last() {
    let all = LabelParts {
        git: Some("4a948e9cafe".into()),
        backend: Some("triton".into()),
        cxx11abi: Some(true),
        ..parts("6.2", "2.6.0.dev20250101")
    };
    assert_eq!(
        all.label(LabelStyle::Compact).as_str(),
        "rocm62torch2.6dev20250101git4a948e9cxx11abitruetriton"
    );
}

#[test]
fn the_abi_tail_is_lower_case() {
    let label = |torch, abi| {
        LabelParts {
            cxx11abi: Some(abi),
            ..parts("6.2", torch)
        }
        .label(LabelStyle::Compact)
    };
    assert_eq!(label("2.6.0", true).as_str(), "rocm62torch2.6cxx11abitrue");
    assert_eq!(
        label("2.5.1", false).as_str(),
        "rocm62torch2.5cxx11abifalse"
    );
}

#[test]
fn a_label_has_letters_digits_and_dots_only() {
    let normal = |text: &str| text.parse::<LocalLabel>().map(|l| l.to_string());
    assert_eq!(
        normal("rocm62torch2.5-triton").unwrap(),
        "rocm62torch2.5.triton"
    );
    assert_eq!(normal("ROCm62_triton").unwrap(), "rocm62.triton");
    assert_eq!(normal("torch2.05").unwrap(), "torch2.5");
    assert_eq!(normal("a.000").unwrap(), "a.0");
    for text in ["", "a..b", ".a", "a.", "a+b", "rocm 62", "röcm"] {
        assert!(normal(text).is_err(), "{text}");
    }
    for (text, similar) in [
        ("rocm62+torch 2.5", "rocm62.torch2.5"),
        ("+rocm 7.1", "rocm7.1"),
        ("+rocm7", "rocm7.0"),
        ("a+-2", "a.2"),
        ("+", "rocm7.1torch2.9"),
    ] {
        let error = normal(text).unwrap_err().to_string();
        assert!(error.ends_with(&format!("such as `{similar}`")), "{error}");
    }
}

#[test]
fn every_listed_spelling_is_read() {
    let check = |label: &str, accelerator: &str, torch: &str| {
        let read = read(label);
        let found = match &read.parts.accelerator {
            Accelerator::Rocm(rocm) => format!("rocm {rocm}"),
            Accelerator::Cuda(digits) => format!("cu {digits}"),
        };
        assert_eq!(
            (found.as_str(), read.ambiguous),
            (accelerator, false),
            "{label}"
        );
        assert_eq!(
            read.parts
                .torch
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            torch,
            "{label}"
        );
        read.parts
    };
    check("cu124torch2.5", "cu 124", "2.5");
    check("cu130torch2.9", "cu 130", "2.9");
    assert_eq!(
        check("cu12torch2.10cxx11abiTRUE", "cu 12", "2.10").cxx11abi,
        Some(true)
    );
    check("rocm62torch2.5", "rocm 6.2", "2.5");
    check("rocm624torch2.6", "rocm 6.2.4", "2.6");
    check("rocm6.2.4torch2.6", "rocm 6.2.4", "2.6");
    check("rocm7.14torch2.14", "rocm 7.14", "2.14");
    check("rocm10.1torch2.14", "rocm 10.1", "2.14");
    assert_eq!(
        check("rocm72torch2.14git4a948e9", "rocm 7.2", "2.14")
            .git
            .as_deref(),
        Some("4a948e9")
    );
    assert_eq!(
        check("rocm62torch2.5triton", "rocm 6.2", "2.5")
            .backend
            .as_deref(),
        Some("triton")
    );
    assert_eq!(
        check("rocm62torch2.5-triton", "rocm 6.2", "2.5")
            .backend
            .as_deref(),
        Some("triton")
    );
    assert_eq!(
        check("cu128torch2.10gite2743ab", "cu 128", "2.10")
            .git
            .as_deref(),
        Some("e2743ab")
    );
    check("rocm10.1torch2.15.0a0", "rocm 10.1", "2.15.0a0");
    check(
        "rocm7.2torch2.15.dev20261101",
        "rocm 7.2",
        "2.15.dev20261101",
    );
    check("rocm7.14.0", "rocm 7.14.0", "");
    let both = check("rocm72torch2.14gite2743abaiter", "rocm 7.2", "2.14");
    assert_eq!(
        (both.git.as_deref(), both.backend.as_deref()),
        (Some("e2743ab"), Some("aiter"))
    );
}

/// Labels of AMD's nightlies, and of AMD's and PyTorch's indexes, and of other projects.
#[test]
fn labels_of_other_projects_are_read() {
    let check = |label: &str, expect: &str| {
        let ParsedLabel { parts, ambiguous } = read(label);
        let accelerator = match &parts.accelerator {
            Accelerator::Rocm(rocm) => format!("ROCm {rocm}"),
            Accelerator::Cuda(digits) => format!("CUDA {}", cuda_version(digits)),
        };
        let named =
            |name: &str, value: Option<String>| value.map(|value| format!("{name} {value}"));
        let found: Vec<String> = [
            Some(accelerator),
            named("torch", parts.torch.map(|torch| torch.to_string())),
            named("git", parts.git),
            named("backend", parts.backend),
            ambiguous.then(|| "ambiguous".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect();
        assert_eq!(found.join(", "), expect, "{label}");
    };
    check("rocm7.14.0a20260520", "ROCm 7.14.0a20260520");
    check("rocm7.9.0rc20251008", "ROCm 7.9.0rc20251008");
    check("rocm7.10.0.dev0", "ROCm 7.10.0.dev0");
    check(
        "rocm7.14.0a20260520torch2.9triton",
        "ROCm 7.14.0a20260520, torch 2.9, backend triton",
    );
    check("rocm641.torch28", "ROCm 6.4.1, torch 2.8");
    check("rocm641torch28", "ROCm 6.4.1, torch 2.8");
    check("rocm62torch28rc1", "ROCm 6.2, torch 2.8rc1");
    check("rocm62torch281", "ROCm 6.2, torch 2.8.1, ambiguous");
    check("rocm62torch210", "ROCm 6.2, torch 2.1.0, ambiguous");
    check("rocm62torch2", "ROCm 6.2, torch 2");
    check("rocm6.4", "ROCm 6.4");
    check("rocm6.4.1", "ROCm 6.4.1");
    check(
        "rocm62torch2.5triton",
        "ROCm 6.2, torch 2.5, backend triton",
    );
    check("rocm7.0.2.git245bf6ed", "ROCm 7.0.2, git 245bf6ed");
    check("rocm6.3.4.git7cecbf6d", "ROCm 6.3.4, git 7cecbf6d");
    check(
        "rocm6.3.4.git7cecbf6d.ck",
        "ROCm 6.3.4, git 7cecbf6d, backend ck",
    );
    check("rocm6.4.b200", "ROCm 6.4, backend b200");
    check("rocm62aiter", "ROCm 6.2, backend aiter");
    check("rocm6.2aiter", "ROCm 6.2, backend aiter");
    check("cu128", "CUDA 12.8");
    check("cu12torch2.8cxx11abifalse", "CUDA 12, torch 2.8");
}

#[test]
fn a_label_of_a_prerelease_is_printed_with_dots() {
    for label in ["rocm7.1.0a20260520torch2.9", "rocm7.1.0.dev0"] {
        let parts = read(label).parts;
        both(&parts, label, label);
        let Accelerator::Rocm(rocm) = parts.accelerator else {
            panic!("{label}");
        };
        assert!(!is_compact_unambiguous(&rocm, &known()));
    }
}

#[test]
fn three_digits_are_ambiguous_where_a_two_digit_minor_is_known() {
    let check = |label: &str, rocm: &str, ambiguous: bool| {
        let read = read(label);
        assert_eq!(
            read.parts.accelerator,
            Accelerator::Rocm(rocm.parse().unwrap()),
            "{label}"
        );
        assert_eq!(read.ambiguous, ambiguous, "{label}");
    };
    check("rocm714torch2.14", "7.1.4", true);
    check("rocm101torch2.14", "10.1", true);
    check("rocm624torch2.6", "6.2.4", false);
    check("rocm713torch2.14", "7.1.3", false);
}

#[test]
fn words_appended_to_a_label_are_read_with_its_backend() {
    let appended = read("rocm62torch2.5triton.gfx942");
    assert_eq!(appended.parts.backend.as_deref(), Some("triton.gfx942"));
    assert_eq!(
        appended.parts.label(LabelStyle::Compact).as_str(),
        "rocm62torch2.5triton.gfx942"
    );
    assert_eq!(
        read("rocm62torch2.5.gfx942.fat").parts.backend.as_deref(),
        Some("gfx942.fat")
    );
}

#[test]
fn a_label_of_other_parts_is_refused_with_the_reason() {
    let reason = |label: &str| {
        LabelParts::parse(&label.parse().unwrap(), &known())
            .unwrap_err()
            .reason
    };
    assert_eq!(reason("cpu"), "it does not begin with `rocm` or `cu`");
    assert_eq!(
        reason("rocm6torch2.5"),
        "`6` after `rocm` is not a version: two to four numbers, such as `7.1` or `71`"
    );
    assert_eq!(reason("cutorch2.5"), "`cu` is not followed by a version");
    assert_eq!(
        reason("rocm62torchx"),
        "`torch` is not followed by a torch version, but by `x`"
    );
    assert_eq!(
        reason("rocm62torch2100"),
        "`torch` is not followed by a torch version, but by `2100`"
    );
    assert_eq!(
        reason("rocm7.0.2.git123"),
        "`git` must be followed by 7 to 40 hex digits, not `123`"
    );
    assert_eq!(
        reason("rocm62torch2.5git12"),
        "`git` must be followed by 7 to 40 hex digits, not `12`"
    );
    assert_eq!(
        reason("rocm62torch2.5.2triton.1"),
        "`triton.1` is not a backend"
    );
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(
        rocm in prop_oneof![Just("6.2"), Just("6.2.4"), Just("7.0"), Just("7.14"), Just("10.1")],
        torch in "[1-3]\\.(0|[1-9][0-9]?)(a0|rc[1-9]|\\.dev2026[01][1-9]0[1-9])?",
        git in proptest::option::of("[0-9a-f]{7}"),
        backend in proptest::option::of(prop_oneof![Just("triton"), Just("aiter"), Just("ck2")]),
    ) {
        let made = LabelParts { git, backend: backend.map(str::to_owned), ..parts(rocm, &torch) };
        let dotted = LabelParts::parse(&made.label(LabelStyle::Dotted), &known()).unwrap();
        prop_assert_eq!(&dotted.parts, &made);
        prop_assert!(!dotted.ambiguous);
        if is_compact_unambiguous(&rocm.parse().unwrap(), &known()) {
            let compact = LabelParts::parse(&made.label(LabelStyle::Compact), &known()).unwrap();
            prop_assert_eq!(&compact.parts, &made);
            prop_assert!(!compact.ambiguous);
        }
    }

    #[test]
    fn a_normal_label_stays_as_it_is(label in "[A-Za-z0-9]{1,9}([._-][A-Za-z0-9]{1,9}){0,3}") {
        let normal: LocalLabel = label.parse().unwrap();
        prop_assert_eq!(normal.as_str().parse::<LocalLabel>().unwrap(), normal.clone());
        let version: Version = format!("1.0+{label}").parse().unwrap();
        let normalized = version.normalized();
        prop_assert_eq!(normalized.split_once('+').map(|(_, local)| local), Some(normal.as_str()));
    }

    #[test]
    fn reading_never_panics(label in "[a-z0-9.]{0,24}") {
        if let Ok(label) = label.parse() {
            let _ = LabelParts::parse(&label, &known());
        }
    }
}

#[test]
fn the_last_digit_of_a_cuda_label_is_the_minor() {
    for (digits, version) in [
        ("124", "12.4"),
        ("118", "11.8"),
        ("12", "12"),
        ("130", "13.0"),
        ("12.4", "12.4"),
        ("", ""),
    ] {
        assert_eq!(super::cuda_version(digits), version);
    }
}
