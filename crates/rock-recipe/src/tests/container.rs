//! The command that starts a container, and its image.

use super::messages;
use crate::container::{self, ContainerRun, DeviceAccess, EngineProgram};
use crate::fixture::{flash_attn, jobs, made};
use rock_plan::config::GpuPolicy;

#[test]
fn a_container_with_a_gpu_gets_exactly_these_options() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    assert_eq!(
        container_argv(&job, DeviceAccess::Present, &[]),
        "docker run --rm --device=/dev/kfd --device=/dev/dri --group-add video --cap-add=SYS_PTRACE \
         --security-opt seccomp=unconfined --ipc=host --shm-size 8G --env=MAX_JOBS --env=ROCK_CAP_S --env=ROCK_FROM \
         --volume=/jobs/x:/rock --workdir=/rock example.org/image:1 bash /rock/build.sh"
    );
}

#[test]
fn a_folder_with_a_colon_is_mounted_whole() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let container = ContainerRun {
        engine: EngineProgram::Podman,
        image: "x",
        devices: DeviceAccess::Absent,
        folder: "/a:b,c",
        caller: Some("/plain"),
        assigned: None,
        device_gids: &[],
        pass_env: &[],
        extra: &[],
        name: Some("rock-1"),
    };
    let argv = container::argv(&job, &container);
    assert_eq!(argv[..4], ["podman", "run", "--rm", "--name=rock-1"]);
    assert!(argv.contains(&"--ipc=host".to_owned()), "{argv:?}");
    assert!(
        !argv.contains(&"--shm-size".to_owned()),
        "podman refuses a size of the host's shared memory: {argv:?}"
    );
    assert!(
        argv.contains(&"--mount=type=bind,\"source=/a:b,c\",target=/rock".to_owned()),
        "{argv:?}"
    );
    assert!(
        argv.contains(&"--volume=/plain:/rock-caller:ro".to_owned()),
        "{argv:?}"
    );
}

/// AMD's runners assign one GPU of a machine to a job; the other ones must stay hidden.
#[test]
fn the_assigned_gpu_takes_the_place_of_all_render_nodes() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let assigned = container::AssignedGpu {
        env_file: Some("/etc/podinfo/gha-gpu-isolation-settings".to_owned()),
        render_nodes: vec!["/dev/dri/renderD129".to_owned()],
    };
    let argv = |devices, assigned| {
        let container = ContainerRun {
            engine: EngineProgram::Docker,
            image: "x",
            devices,
            folder: "/jobs/x",
            caller: None,
            assigned: Some(assigned),
            device_gids: &[],
            pass_env: &[container::VISIBLE_GPUS.to_owned()],
            extra: &[],
            name: None,
        };
        let argv = container::argv(&job, &container);
        argv.into_iter()
            .filter(|word| word.contains("dev") || word.contains("env"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        argv(DeviceAccess::Present, &assigned),
        "--device=/dev/kfd --device=/dev/dri/renderD129 --env-file=/etc/podinfo/gha-gpu-isolation-settings \
         --env=ROCR_VISIBLE_DEVICES"
    );
    let only_variables = container::AssignedGpu {
        render_nodes: Vec::new(),
        ..assigned.clone()
    };
    assert!(
        argv(DeviceAccess::Present, &only_variables)
            .starts_with("--device=/dev/kfd --device=/dev/dri --env-file=")
    );
    assert!(
        !argv(DeviceAccess::Absent, &assigned).contains("--device")
            && !argv(DeviceAccess::Absent, &assigned).contains("--env-file")
    );
}

#[test]
fn without_a_gpu_there_is_no_device_no_group_and_no_ptrace() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let argv = container_argv(&job, DeviceAccess::Absent, &[44]);
    for gone in ["/dev/", "--group-add", "SYS_PTRACE", "seccomp"] {
        assert!(!argv.contains(gone), "{gone}: {argv}");
    }
    assert_eq!(
        DeviceAccess::resolve(GpuPolicy::Auto, false),
        DeviceAccess::Absent
    );
    assert_eq!(
        DeviceAccess::resolve(GpuPolicy::Auto, true),
        DeviceAccess::Present
    );
    assert_eq!(
        DeviceAccess::resolve(GpuPolicy::None, true),
        DeviceAccess::Absent
    );
    assert_eq!(
        DeviceAccess::resolve(GpuPolicy::Required, false),
        DeviceAccess::Present
    );
}

#[test]
fn groups_are_named_or_numbered_and_shared_memory_has_a_size() {
    let groups = |more: &str, gids: &[u32]| {
        let argv = container_argv(
            &flash_attn("2.8.3", "6.2", "2.5.1", "ck", more),
            DeviceAccess::Present,
            gids,
        );
        let words: Vec<String> = argv.split(' ').map(str::to_owned).collect();
        words
            .windows(2)
            .filter(|pair| pair[0] == "--group-add")
            .map(|pair| pair[1].clone())
            .collect::<Vec<_>>()
    };
    let both = "docker: {groups: [video, render, \"4711\"], shm-size: 16G}";
    assert_eq!(groups(both, &[]), ["video", "render", "4711"]);
    assert_eq!(groups(both, &[44, 109]), ["44", "109", "4711"]);
    assert_eq!(
        groups("docker: {groups: [video, render], gid: name}", &[44, 109]),
        ["video", "render"]
    );
    let argv = container_argv(
        &flash_attn("2.8.3", "6.2", "2.5.1", "ck", both),
        DeviceAccess::Absent,
        &[],
    );
    assert!(argv.contains("--shm-size 16G"));
}

#[test]
fn the_stack_is_raised_above_three_targets() {
    let raised = |gfx: &str| {
        let job = jobs(&format!(
            "distribution: rmx-vecadd\nrecipe: hip-extension\naxes: {{rmx-vecadd: [\"0.1.0\"], python: [\"3.11\"], rocm: [\"6.2\"]}}\n\
             gfx: [{gfx}]\ntorch-from: host\nvars: {{source: .}}\n"
        ))
        .remove(0);
        container_argv(&job, DeviceAccess::Absent, &[]).contains("--ulimit stack=67108864:67108864")
    };
    assert!(!raised("gfx906, gfx90a, gfx942"));
    assert!(raised("gfx906, gfx90a, gfx942, gfx1030"));
}

#[test]
fn an_image_with_another_python_is_refused_where_its_python_is_used() {
    let image = "rocm/pytorch:rocm7.1.1_ubuntu24.04_py3.12_pytorch_release_2.9.1";
    let with = |from: &str| {
        flash_attn(
            "2.8.3",
            "6.2",
            "2.5.1",
            "ck",
            &format!("python-from: {from}\nimage: {{digest: ignore}}"),
        )
    };
    let fault = container::image(&with("image"), Some(image)).unwrap_err();
    assert_eq!(fault.code.id, "B009");
    assert_eq!(
        fault.message,
        format!("image `{image}` contains Python 3.12, but the job is for 3.11")
    );
    assert!(container::image(&with("uv"), Some(image)).is_ok());
    assert!(
        container::image(
            &with("image"),
            Some("rocm/pytorch:rocm6.2_ubuntu22.04_py3.11_pytorch_release_2.5.1")
        )
        .is_ok()
    );
}

#[test]
fn an_image_without_a_digest_is_a_warning_an_error_or_nothing() {
    let pinned = format!("example.org/image:1@sha256:{}", "ab".repeat(32));
    let job = |rule: &str| {
        flash_attn(
            "2.8.3",
            "6.2",
            "2.5.1",
            "ck",
            &format!("image: {{digest: {rule}}}"),
        )
    };
    let (image, found) = container::image(&job("warn"), Some(&pinned))
        .map(|(i, t)| (i.to_owned(), t))
        .unwrap();
    assert_eq!((image.as_str(), found.len()), (pinned.as_str(), 0));
    let found = container::image(&job("warn"), Some("example.org/image:1"))
        .unwrap()
        .1;
    assert_eq!(
        messages(&found),
        ["B006: image `example.org/image:1` is not pinned by a digest"]
    );
    assert!(!found[0].is_error());
    assert!(
        container::image(&job("require"), Some("example.org/image@sha256:abc"))
            .unwrap_err()
            .is_error()
    );
    assert!(
        container::image(&job("ignore"), Some("example.org/image:1"))
            .unwrap()
            .1
            .is_empty()
    );
    let mut none = job("warn");
    none.image = None;
    assert_eq!(container::image(&none, None).unwrap_err().code.id, "B005");
}

fn container_argv(job: &rock_plan::Job, devices: DeviceAccess, gids: &[u32]) -> String {
    let container = ContainerRun {
        engine: EngineProgram::Docker,
        image: "example.org/image:1",
        devices,
        folder: "/jobs/x",
        caller: None,
        assigned: None,
        device_gids: gids,
        pass_env: &made(job)
            .map(|build| container::passed_env(job, &build))
            .unwrap_or_default(),
        extra: &[],
        name: None,
    };
    container::argv(job, &container).join(" ")
}
