//! Python tags, ABI tags and `Requires-Python`.

use super::*;

#[test]
fn free_threaded_pythons_have_wheels_of_their_own() {
    let free = "a-1+rocm64torch2.9-cp313-cp313t-manylinux_2_28_x86_64.whl";
    check(&[free], &machine("6.4", "2.9", "3.13t"), free);
    check(
        &[free],
        &machine("6.4", "2.9", "3.13"),
        "Python: the wheel is for 3.13t, you have 3.13",
    );
    check(&[TRITON], &machine("6.4", "2.9", "3.13t"), TRITON);
    let stable = "a-1+rocm64torch2.9-cp39-abi3-manylinux_2_28_x86_64.whl";
    check(&[stable], &machine("6.4", "2.9", "3.14"), stable);
    check(
        &[stable],
        &machine("6.4", "2.9", "3.8"),
        "Python: the wheel is for 3.9 or newer, you have 3.8",
    );
    check(
        &[stable],
        &machine("6.4", "2.9", "3.13t"),
        "Python: the wheel is for 3.9 or newer, you have 3.13t",
    );
}

#[test]
fn requires_python_narrows_the_tags() {
    let shown = |name: &str, specifiers: &str| {
        let ranges = PythonRange::of(&name.parse::<WheelName>().unwrap(), Some(specifiers));
        ranges
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" or ")
    };
    assert_eq!(shown("a-1-py3-none-any.whl", ">=3.9"), "3.9 or newer");
    assert_eq!(shown("a-1-py3-none-any.whl", ">=3.9,<3.13"), "3.9 to 3.12");
    assert_eq!(shown("a-1-py2.py3-none-any.whl", ">=2.7"), "any 3");
    assert_eq!(
        shown("a-1-cp311.cp312-cp311.cp312-linux_x86_64.whl", ">=3.12"),
        "3.12"
    );
    assert_eq!(shown("a-1-cp311-cp311-linux_x86_64.whl", ">=3.12"), "");
    assert_eq!(shown("a-1-cp311-cp311-linux_x86_64.whl", "what?"), "3.11");
    assert_eq!(
        shown("a-1-py3-none-any.whl", ">=3.8,!=3.11.*"),
        "3.8 to 3.10 or 3.12 or newer"
    );
    assert_eq!(
        shown("a-1-py3-none-any.whl", ">=3.8,!=3.9.*,!=3.11.*,<3.13"),
        "3.8 or 3.10 or 3.12"
    );
    assert_eq!(
        shown("a-1-cp39-abi3-linux_x86_64.whl", "!=3.11.*"),
        "3.9 to 3.10 or 3.12 or newer"
    );
    assert_eq!(
        shown("a-1-cp311-cp311-linux_x86_64.whl", ">=3.8,!=3.11.*"),
        ""
    );
    assert_eq!(shown("a-1-py3-none-any.whl", "==3.12.4"), "3.12");
    assert_eq!(
        shown("a-1-cp312-cp312-linux_x86_64.whl", ">=3.12.3,<3.12.8"),
        "3.12"
    );
}

/// Expects the Pythons from 3.6 to 3.15 of which `packaging` 26.3 accepts a patch release,
/// `SpecifierSet(TEXT).contains("3.X.Y")`.
#[test]
fn requires_python_allows_what_packaging_allows() {
    let name: WheelName = "a-1-py3-none-any.whl".parse().unwrap();
    let fitting = |specifiers: &str| {
        let ranges = PythonRange::of(&name, Some(specifiers));
        let has = |minor: &u8| {
            ranges
                .iter()
                .any(|range| range.has(format!("3.{minor}").parse().unwrap()))
        };
        (6..=15).filter(has).collect::<Vec<u8>>()
    };
    let patches = |specifiers: &str| {
        let specifiers: VersionSpecifiers = specifiers.parse().unwrap();
        let is_allowed = |minor: u8, patch: u8| {
            specifiers.contains(&format!("3.{minor}.{patch}").parse().unwrap())
        };
        (6..=15)
            .filter(|minor| (0..=60).any(|patch| is_allowed(*minor, patch)))
            .collect::<Vec<u8>>()
    };
    for (specifiers, expected) in [
        (">=3.8,!=3.11.*", &[8, 9, 10, 12, 13, 14, 15][..]),
        ("==3.12.4", &[12]),
        (">=3.12.3,<3.12.8", &[12]),
        (">3.12.3,<3.12.5", &[12]),
        (">3.12.3,<3.12.4", &[]),
        (">=3.12.5,!=3.12.*", &[13, 14, 15]),
        ("~=3.12.3", &[12]),
        ("~=3.12", &[12, 13, 14, 15]),
        ("===3.12.4", &[12]),
        ("==3.12", &[12]),
        ("<=3.12", &[6, 7, 8, 9, 10, 11, 12]),
        (">3.12", &[12, 13, 14, 15]),
        ("!=3.12.0,!=3.12.1,<3.12.2,>=3.12", &[]),
        ("!=3.9.0,!=3.9.1,<3.10,>=3.9", &[9]),
        (
            ">=3.6.2,<4,!=3.7.*,!=3.10.1",
            &[6, 8, 9, 10, 11, 12, 13, 14, 15],
        ),
        ("==3.12.*,==3.13.*", &[]),
        ("<3", &[]),
    ] {
        assert_eq!(
            (fitting(specifiers), patches(specifiers)),
            (expected.to_vec(), expected.to_vec()),
            "{specifiers}"
        );
    }
}

/// Tags that pip does not accept on any machine fit no machine.
#[test]
fn tags_that_pip_refuses_fit_no_machine() {
    let judged = |tags: &str, python: &str, platform: &str, libc: &str| {
        let name = format!("a-1+rocm64torch2.9-{tags}.whl");
        let machine = TargetMachine {
            platform: Some(platform.to_owned()),
            libc: Some(libc.parse().unwrap()),
            ..machine("6.4", "2.9", python)
        };
        let decision = decided(&wheels(&[&name]), &machine);
        let near = decision
            .near
            .first()
            .map(|near| near.differences[0].to_string());
        format!("{tags}: {}\n", near.unwrap_or_else(|| "fits".to_owned()))
    };
    let x86 = |tags: &str| judged(tags, "3.12", "linux_x86_64", "glibc 2.35");
    let verdicts = [
        x86("cp31-abi3-linux_x86_64"),
        x86("cp32-abi3-linux_x86_64"),
        x86("cp3-abi3-linux_x86_64"),
        x86("cp312-cp312-any"),
        x86("cp38-abi3-any"),
        x86("cp312-none-any"),
        x86("cp312-cp312-any.manylinux_2_39_x86_64"),
        x86("cp0312-none-any"),
        judged(
            "cp37-cp37-linux_x86_64",
            "3.7",
            "linux_x86_64",
            "glibc 2.35",
        ),
        judged(
            "cp37-cp37m-linux_x86_64",
            "3.7",
            "linux_x86_64",
            "glibc 2.35",
        ),
        judged(
            "cp312-cp312t-linux_x86_64",
            "3.12t",
            "linux_x86_64",
            "glibc 2.35",
        ),
        x86("cp312-cp312-manylinux_2_4_x86_64"),
        x86("cp312-cp312-manylinux_2_5_x86_64"),
        x86("cp312-cp312-manylinux_02_28_x86_64"),
        x86("cp312-cp312-manylinux_1_9_x86_64"),
        judged(
            "cp312-cp312-manylinux_2_16_aarch64",
            "3.12",
            "linux_aarch64",
            "glibc 2.35",
        ),
        judged(
            "cp312-cp312-manylinux_2_17_aarch64",
            "3.12",
            "linux_aarch64",
            "glibc 2.35",
        ),
        judged(
            "cp312-cp312-manylinux1_aarch64",
            "3.12",
            "linux_aarch64",
            "glibc 2.35",
        ),
        judged(
            "cp312-cp312-manylinux_2_17_mips64",
            "3.12",
            "linux_mips64",
            "glibc 2.35",
        ),
        judged(
            "cp312-cp312-musllinux_0_9_x86_64",
            "3.12",
            "linux_x86_64",
            "musl 1.2",
        ),
        judged(
            "cp312-cp312-musllinux_1_0_x86_64",
            "3.12",
            "linux_x86_64",
            "musl 1.2",
        ),
    ];
    insta::assert_snapshot!(verdicts.concat(), @r"
    cp31-abi3-linux_x86_64: Python: the wheel is for no CPython, you have 3.12
    cp32-abi3-linux_x86_64: fits
    cp3-abi3-linux_x86_64: Python: the wheel is for no CPython, you have 3.12
    cp312-cp312-any: Python: the wheel is for no CPython, you have 3.12
    cp38-abi3-any: Python: the wheel is for no CPython, you have 3.12
    cp312-none-any: fits
    cp312-cp312-any.manylinux_2_39_x86_64: system: the wheel is for linux_x86_64 with glibc 2.39 or newer, you have linux_x86_64 with glibc 2.35
    cp0312-none-any: Python: the wheel is for no CPython, you have 3.12
    cp37-cp37-linux_x86_64: Python: the wheel is for no CPython, you have 3.7
    cp37-cp37m-linux_x86_64: fits
    cp312-cp312t-linux_x86_64: Python: the wheel is for no CPython, you have 3.12t
    cp312-cp312-manylinux_2_4_x86_64: system: the wheel is for manylinux_2_4_x86_64, you have linux_x86_64 with glibc 2.35
    cp312-cp312-manylinux_2_5_x86_64: fits
    cp312-cp312-manylinux_02_28_x86_64: system: the wheel is for manylinux_02_28_x86_64, you have linux_x86_64 with glibc 2.35
    cp312-cp312-manylinux_1_9_x86_64: system: the wheel is for manylinux_1_9_x86_64, you have linux_x86_64 with glibc 2.35
    cp312-cp312-manylinux_2_16_aarch64: system: the wheel is for manylinux_2_16_aarch64, you have linux_aarch64 with glibc 2.35
    cp312-cp312-manylinux_2_17_aarch64: fits
    cp312-cp312-manylinux1_aarch64: system: the wheel is for manylinux1_aarch64, you have linux_aarch64 with glibc 2.35
    cp312-cp312-manylinux_2_17_mips64: system: the wheel is for manylinux_2_17_mips64, you have linux_mips64 with glibc 2.35
    cp312-cp312-musllinux_0_9_x86_64: system: the wheel is for musllinux_0_9_x86_64, you have linux_x86_64 with musl 1.2
    cp312-cp312-musllinux_1_0_x86_64: fits
    ");
    let nobody = decided(
        &wheels(&["a-1-pp310-pypy310_pp73-linux_x86_64.whl"]),
        &TargetMachine::default(),
    );
    let difference = nobody.near[0].differences[0].to_string();
    assert_eq!(
        difference,
        "Python: the wheel is for no CPython, you have CPython"
    );
}
