//! A build of torch whose wheels are split, by a stand-in for rocm-kpack that is called as the real
//! one is.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::{Family, sdk};

/// Takes the arguments of `rocm_kpack.tools.split_python_wheels`, and leaves a host wheel and a
/// device wheel for each bundle of the variable SPLIT, with METADATA as the real one writes it.
const SPLITTER: &str = r#"
import argparse, os, re, sys, zipfile

parser = argparse.ArgumentParser()
for name in ["input", "output-dir", "device-package-prefix", "overlay-root", "wheel-type", "device-requires-dist", "compression"]:
    parser.add_argument("--" + name)
parser.add_argument("-j", type=int)
given = parser.parse_args()
name = os.path.basename(given.input)
project, version, tags = name[: -len(".whl")].split("-", 2)
assert given.overlay_root == project + "/" and (given.wheel_type == "torch-fat") == (project == "torch")
assert os.environ["PATH"].split(os.pathsep)[0].endswith("/lib/llvm/bin"), os.environ["PATH"]
bundles = [one for one in os.environ["SPLIT"].split() if project == "torch" or re.fullmatch("gfx[0-9a-f]{3,4}", one)]


def write(name, files):
    info = next(path.split("/")[0] for path in files if ".dist-info/" in path)
    files[info + "/RECORD"] = ""
    import base64, hashlib
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    data = {path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()}
    lines = [f"{path},sha256={digest(text)},{len(text)}\n" for path, text in data.items() if not path.endswith("/RECORD")]
    data[info + "/RECORD"] = "".join([*lines, info + "/RECORD,,\n"]).encode()
    with zipfile.ZipFile(os.path.join(given.output_dir, name), "w") as wheel:
        for path, text in data.items():
            wheel.writestr(path, text)


with zipfile.ZipFile(given.input) as wheel:
    files = {path: wheel.read(path) for path in wheel.namelist()}
metadata = next(path for path in files if path.endswith(".dist-info/METADATA"))
extras = "Requires-Dist: rocm-bootstrap\n"
for bundle in bundles:
    extras += f"Provides-Extra: device-{bundle}\n"
    extras += f'Requires-Dist: {given.device_package_prefix}-{bundle} == {version}; extra == "device-{bundle}"\n'
head, gap, body = files[metadata].decode().partition("\n\n")
files[metadata] = head.rstrip("\n") + "\n" + extras + gap[1:] + body
write(name, files)
for bundle in bundles:
    device = f"{given.device_package_prefix}-{bundle}".replace("-", "_")
    info = f"{device}-{version}.dist-info"
    requires = given.device_requires_dist.replace("@GFXARCH@", bundle)
    write(f"{device}-{version}-{tags}.whl", {
        f"{given.overlay_root}.kpack/{project}_{bundle}.txt": bundle,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {given.device_package_prefix}-{bundle}\nVersion: {version}\n"
        f"Requires-Dist: {project} == {version}\nRequires-Dist: {requires}\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: stand-in\nRoot-Is-Purelib: false\nTag: {tags}\n",
    })
"#;

fn family(vars: &str) -> Family {
    let family = Family::new();
    let empty: (&str, &[u8]) = ("tools/__init__.py", b"");
    let kpack = json!({"name": "rocm-kpack", "module": "rocm_kpack", "version": "0.1.0"});
    family.tree(
        "systems/shared/kpack",
        &kpack,
        &[empty, ("tools/split_python_wheels.py", SPLITTER.as_bytes())],
    );
    let bootstrap =
        json!({"name": "rocm-bootstrap", "module": "rocm_bootstrap", "version": "0.1.0"});
    family.tree("systems/python/rocm-bootstrap", &bootstrap, &[]);
    let wheelhouse = family.path("wheelhouse").display().to_string();
    let vars = format!(
        "rocm-find-links: {wheelhouse}, triton: \"off\", apex: \"off\", split-device: \"on\", rocm-systems-dir: systems{vars}"
    );
    family.matrix("torch", &vars, "gfx: [gfx942, gfx1201]\n");
    family
}

#[test]
fn torch_is_split_into_a_host_wheel_and_device_wheels() {
    let family = family("");
    let build = |split: &str, code: i32| {
        let mut command = family.command(&["build", "--all"]);
        family.ended(code, command.env("SPLIT", split).output().unwrap())
    };
    build("gfx942 gfx1201", 0);
    let cp = format!(
        "cp{0}-cp{0}-linux_x86_64.whl",
        family.python.replace('.', "")
    );
    let names = [
        "amd_torch_device_gfx1201-2.9.0",
        "amd_torch_device_gfx942-2.9.0",
        "amd_torchvision_device_gfx1201-0.24.0",
        "amd_torchvision_device_gfx942-0.24.0",
        "torch-2.9.0",
        "torchaudio-2.9.0",
        "torchvision-0.24.0",
    ];
    let wheels = family.wheels();
    assert_eq!(
        wheels.keys().cloned().collect::<Vec<_>>(),
        names.map(|name| format!("{name}+rocm7.14.0-{cp}"))
    );
    let device =
        String::from_utf8_lossy(&wheels[&format!("{}+rocm7.14.0-{cp}", names[1])]).into_owned();
    assert!(
        device.contains("Requires-Dist: rocm-sdk-device-gfx942 == 7.14.0\n"),
        "{device}"
    );
}

#[test]
fn a_device_wheel_that_is_planned_and_not_left_fails_the_build() {
    let family = family("");
    sdk::install(&family.path("sdk"));
    family.replace_pip();
    let mut command = family.command(&["build", "--all"]);
    let (_, stderr) = family.ended(1, command.env("SPLIT", "gfx942").output().unwrap());
    assert!(
        stderr.contains(
            "error[B053 output-missing]: the build produced 5 wheels for `split/*/*.whl`, not 7"
        ),
        "{stderr}"
    );
}

#[test]
fn bundles_of_kernels_of_aotriton_are_planned() {
    let family = family("");
    let planned = |vars: &str, code: i32| {
        let text = std::fs::read_to_string(family.path("m.yaml")).unwrap();
        family.write(
            "n.yaml",
            text.replace(
                "split-device: \"on\"",
                &format!("split-device: \"on\"{vars}"),
            ),
        );
        family
            .project
            .run(&["plan", "n.yaml", "--format", "json"])
            .exits(code)
    };
    let plan = planned(", device-bundles: gfx110x gfx12-0", 0).json();
    let wheels = plan["jobs"][0]["wheels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap());
    let bundles: Vec<&str> = wheels.filter(|one| one.contains("device_gfx1")).collect();
    let cp = format!(
        "cp{0}-cp{0}-linux_x86_64.whl",
        family.python.replace('.', "")
    );
    let expected = [
        "amd_torch_device_gfx1201",
        "amd_torch_device_gfx110x",
        "amd_torch_device_gfx12_0",
        "amd_torchvision_device_gfx1201",
    ];
    assert_eq!(
        bundles,
        expected.map(|name| format!("{name}-*+rocm7.14.0-{cp}"))
    );
    // Nobody waits for hours to be told so.
    let text = std::fs::read_to_string(family.path("m.yaml")).unwrap();
    family.write(
        "m.yaml",
        text.replace("triton: \"off\"", "flash-attention: \"on\""),
    );
    let (_, stderr) = family.build(1, &[]);
    assert!(
        stderr.contains("the splitter makes a device wheel for each bundle of AOTriton's kernels"),
        "{stderr}"
    );
}

#[test]
fn bundles_that_no_wheel_is_made_for_are_refused() {
    let refused = |split: &str, vars: &str, reason: &str| {
        let family = family("");
        let text = std::fs::read_to_string(family.path("m.yaml")).unwrap();
        let text = text.replace(
            "split-device: \"on\"",
            &format!("split-device: \"{split}\", {vars}"),
        );
        family.write("m.yaml", text.replace("triton: \"off\", ", ""));
        let (_, stderr) = family.build(1, &[]);
        assert!(stderr.contains(reason), "{stderr}");
    };
    refused(
        "on",
        "device-bundles: gfx12-0, flash-attention: \"off\"",
        "`device-bundles: gfx12-0` only affects",
    );
    refused(
        "off",
        "device-bundles: gfx12-0, flash-attention: \"on\"",
        "`device-bundles: gfx12-0` only affects",
    );
    refused(
        "on",
        "device-bundles: gfx110x gfx12-0 gfx9-0, flash-attention: \"on\"",
        "`device-bundles` has `gfx110x` `gfx9-0`, which contains no target of the job",
    );
    refused(
        "on",
        "device-bundles: gfx12-0 gfx942 gfx12x, flash-attention: \"on\"",
        "`device-bundles` has an unknown bundle: `gfx942` `gfx12x`",
    );
}

#[test]
fn planned_device_wheels_have_the_prefix_of_the_facts() {
    let family = family("");
    let plan = family
        .project
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .json();
    let planned = plan["jobs"][0]["wheels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap());
    let prefixes: BTreeSet<String> = planned
        .filter(|name| name.starts_with("amd_"))
        .map(|name| {
            name.split('-')
                .next()
                .unwrap()
                .rsplit_once('_')
                .unwrap()
                .0
                .replace('_', "-")
        })
        .collect();
    let facts = family
        .project
        .run(&["compat", "list", "device-wheels", "--format", "json"])
        .exits(0)
        .json();
    let devices = facts
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["device"].as_str().unwrap().to_owned());
    assert_eq!(prefixes, devices.collect());
}
