# shellcheck shell=bash
# A docker engine of the stage's own, and an image to build in. Sourced by stages after lib.sh.
#
# No registry is needed: the image is Debian 12 with Debian's torch, made by mmdebstrap and imported.
# The stage runs in a mount namespace with a /dev of its own, so that device nodes made here, and whatever the engine
# mounts, are gone with the stage however it ends.

# Starts the stage anew in its own mount namespace with a copy of /dev.
enter_own_dev() {
  local entry copy
  [ "$(id -u)" = 0 ] || skip "only root can start a docker engine"
  if [ -z "${ROCK_OWN_DEV:-}" ]; then
    unshare --mount true 2>/dev/null || skip "no mount namespace can be made here"
    ROCK_OWN_DEV=yes exec unshare --mount "$0" "${stage_arguments[@]}"
  fi
  copy=$work/dev
  mkdir -p "$copy"
  mount -t tmpfs -o mode=0755 tmpfs "$copy"
  for entry in /dev/*; do
    if [ -d "$entry" ] && [ ! -L "$entry" ]; then
      mkdir "$copy/${entry##*/}"
      mount --rbind "$entry" "$copy/${entry##*/}"
    else
      cp -a "$entry" "$copy/"
    fi
  done
  mount --rbind "$copy" /dev
}

# Nodes like those of the amdgpu driver: device 1:3 is /dev/null, so that opening them is harmless.
make_scratch_nodes() {
  mknod -m 0666 /dev/kfd c 1 3
  mkdir -p /dev/dri
  mknod -m 0666 /dev/dri/renderD128 c 1 3
}

# The engine's program: docker, or podman after `start_podman`.
program=docker

# Makes podman usable as root in a container of this machine: settings and storage of the stage's own.
# Which runtime and which limits a machine allows is the machine's; the command line under test stays as it is printed.
start_podman() {
  local folder driver
  program=podman
  folder=$(mktemp -d "${TMPDIR:-/tmp}/rock-podman.XXXXXX")
  at_exit "remove_engine_folder $folder"
  export CONTAINERS_CONF=$folder/containers.conf CONTAINERS_STORAGE_CONF=$folder/storage.conf
  cat >"$CONTAINERS_CONF" <<'TOML'
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
netns = "host"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
TOML
  for driver in overlay vfs; do
    printf '[storage]\ndriver = "%s"\ngraphroot = "%s"\nrunroot = "%s"\n' "$driver" "$folder/$driver" "$folder/run-$driver" >"$CONTAINERS_STORAGE_CONF"
    if podman info >"$work/podman-$driver.log" 2>&1; then
      step "podman $(podman version --format '{{.Client.Version}}') with $driver"
      return
    fi
  done
  skip "podman does not start here: $(tail -n 1 "$work/podman-vfs.log")"
}

# Starts dockerd and points DOCKER_HOST at it. Overlay where the kernel has it; vfs copies the image for each container.
start_engine() {
  local folder driver
  # Sockets need a short path: 108 bytes at most.
  folder=$(mktemp -d "${TMPDIR:-/tmp}/rock-docker.XXXXXX")
  at_exit "remove_engine_folder $folder"
  export DOCKER_HOST=unix://$folder/docker.sock
  # Debian's engine lies in sbin, which is not in every PATH.
  PATH=$PATH:/usr/sbin:/sbin
  for driver in overlay2 vfs; do
    dockerd --bridge=none --iptables=false --ip6tables=false --storage-driver="$driver" --data-root="$folder/data" \
      --exec-root="$folder/exec" --pidfile="$folder/pid" --host="$DOCKER_HOST" >"$work/dockerd-$driver.log" 2>&1 &
    engine_pid=$!
    for _ in $(seq 120); do
      if docker version >/dev/null 2>&1; then
        at_exit stop_engine
        step "docker engine $(docker version --format '{{.Server.Version}}') with $driver"
        return
      fi
      kill -0 "$engine_pid" 2>/dev/null || break
      sleep 0.25
    done
    kill "$engine_pid" 2>/dev/null || true
    wait "$engine_pid" 2>/dev/null || true
  done
  skip "dockerd does not start here: $(grep -E 'level=(error|fatal)|failed' "$work/dockerd-vfs.log" | tail -n 1)"
}

# What the engine has mounted below its folder, deepest first, and then the folder.
remove_engine_folder() {
  local mounted
  while read -r mounted; do umount -q "$mounted" || true; done \
    < <(awk -v folder="$1/" 'index($2, folder) == 1 { print $2 }' /proc/mounts | sort -r)
  rm -rf --one-file-system "$1"
}

stop_engine() {
  kill "$engine_pid" 2>/dev/null || return 0
  wait "$engine_pid" 2>/dev/null || true
}

# `make_image_tar NAME CHECK PACKAGE...`: the tar of a builder image of Debian 12, kept between runs; sets `image_tar`. The
# check is a command that must succeed in it.
# What a build does not read is left out: with torch it takes 1.3 GB with and 1.2 GB without.
make_image_tar() { one_at_a_time image make_image_tar_once "$@"; }
make_image_tar_once() {
  local excludes=() path check=$2 packages
  image_tar=$cache/images/$1.tar
  [ ! -f "$image_tar" ] || return 0
  step "make the builder image $1 once, kept in the cache folder"
  packages=$(IFS=,; echo "${*:3}")
  mkdir -p "$(dirname "$image_tar")"
  for path in '/usr/share/doc/*' '/usr/share/man/*' '/usr/share/locale/*' '/usr/lib/libtorch-test/*' \
    '/usr/lib/python3/dist-packages/torch/bin/test_*' '/usr/lib/x86_64-linux-gnu/dri/*'; do
    excludes+=(--dpkgopt="path-exclude=$path")
  done
  # The sources and the way to reach them are this machine's own.
  debian_sources >"$work/sources.list"
  apt_settings >"$work/apt.conf"
  if ! mmdebstrap --mode=root --variant=apt --aptopt="$work/apt.conf" --aptopt='APT::Install-Recommends "false"' \
    "${excludes[@]}" --customize-hook="chroot \"\$1\" $check" --include="ca-certificates,$packages" \
    bookworm "$work/image.tar" - <"$work/sources.list" >"$work/mmdebstrap.log" 2>&1; then
    skip "mmdebstrap could not make the image: $(grep -E '^E: ' "$work/mmdebstrap.log" | tail -n 1)"
  fi
  mv "$work/image.tar" "$image_tar"
}

# Imports the image with Debian's torch; sets `image`.
import_image() {
  make_image_tar debian-12-torch "python3 -c 'import torch'" \
    python3-torch python3-pip python3-setuptools python3-wheel python3-packaging
  import_as rock-matrix/debian-12-torch:real
}

# Imports the image with Debian's HIP compiler; sets `image`.
import_hip_image() {
  make_image_tar debian-12-hip "hipcc --version" \
    python3-dev python3-pip python3-setuptools python3-wheel python3-packaging "${hip_packages[@]}"
  import_as debian-hip:5.2
}

# Imports the tar under a name and gives it what pip needs on this machine (index, certificates, proxies); sets `image`.
# The settings go into the engine's folder only, which the stage removes.
import_as() {
  local container name changes=() bundle
  step "import the image ($(du -h "$image_tar" | cut -f1))"
  image=$1
  "$program" import "$image_tar" "$image" >/dev/null
  "$host_python" - "$work/pip.conf" <<'PY'
import ast, subprocess, sys

wanted = {"index-url", "extra-index-url", "trusted-host", "cert", "proxy", "timeout"}
lines = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True).stdout
settings = {}
for line in lines.splitlines():
    key, _, value = line.partition("=")
    name = key.rpartition(".")[2]
    if name in wanted:
        settings[name] = ast.literal_eval(value)
with open(sys.argv[1], "w") as file:
    print("[global]", *(f"{name} = {value}" for name, value in settings.items()), sep="\n", file=file)
PY
  container=$("$program" create "$image" true)
  "$program" cp "$work/pip.conf" "$container:/etc/pip.conf" >/dev/null
  bundle=$(sed -n 's/^cert = //p' "$work/pip.conf")
  # Copied here first: links are followed, which podman's `cp` cannot do.
  if [ -n "$bundle" ]; then
    cp -L "$bundle" "$work/bundle"
    "$program" cp "$work/bundle" "$container:$bundle" >/dev/null
  fi
  # The system's own bundle too: what the build fetches by itself uses that one.
  cp -L /etc/ssl/certs/ca-certificates.crt "$work/certificates"
  "$program" cp "$work/certificates" "$container:/etc/ssl/certs/ca-certificates.crt" >/dev/null
  for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    [ -z "${!name:-}" ] || changes+=(--change "ENV $name=${!name}")
  done
  "$program" commit "${changes[@]}" "$container" "$image" >/dev/null
  "$program" rm "$container" >/dev/null
}

# `build_with POLICY FOLDER`: the Triton job under another `gpu:`. Each stage has job folders of its own, for a job is built
# once at a time in each.
build_with() {
  sed "s/^gpu: .*/gpu: $1/" "$triton_matrix" >"$work/gpu-$1.yaml"
  grep -q "^gpu: $1\$" "$work/gpu-$1.yaml" || fail "$triton_matrix has no gpu line"
  (
    cd "$work"
    rock build "$triton_wheel_name" --matrix "gpu-$1.yaml" --engine "$program" --image "$image" \
      --docker-arg=--network=host --out "$2"
  )
}
# The wheel of a folder has the members of the local one, whose digests are in $work/local.digests.
same_as_local() {
  member_digests "$1/$triton_wheel_name" | diff "$work/local.digests" - || fail "the container's wheel differs from the local one"
}

# Without device nodes a build that needs none succeeds and one that needs them is refused; with them it succeeds.
build_under_each_policy() {
  if [ -e /dev/kfd ]; then
    step "this machine has a GPU: the runs without one are left out"
  else
    step "gpu: none, without device nodes"
    build_with none "$work/none"
    same_as_local "$work/none"

    step "gpu: required, without device nodes: refused, with the reason"
    expect_equal "the exit code" 3 "$(code_of build_with required "$work/refused")"
    grep -q '/dev/kfd' "$work/out" || fail "the refusal does not name /dev/kfd"
    [ -z "$(find "$work/refused" -name '*.whl' 2>/dev/null)" ] || fail "a refused build left a wheel"
    make_scratch_nodes
  fi

  step "gpu: required, with device nodes"
  build_with required "$work/required"
  same_as_local "$work/required"
}
