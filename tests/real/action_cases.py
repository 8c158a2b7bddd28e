"""What action/bootstrap.sh does, case by case: `action_cases.py PATH-OF-ROCK-MATRIX [NAME...]`.

Every case is a function whose name says what is true. The script runs in an environment that has nothing but what a
case gives it: a PATH of chosen programs, a tool cache, a RUNNER_TEMP, and a copy of the action whose releases are on a
server on loopback that speaks HTTPS with a certificate of its own.
"""

import contextlib
import hashlib
import http.server
import inspect
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import traceback

REPO = pathlib.Path(__file__).resolve().parents[2]
OWN = re.search(r'^version = "(.*)"', (REPO / "Cargo.toml").read_text(), re.M)[1]
ROCK = pathlib.Path(sys.argv[1]).resolve()
# What a pod of a self-hosted runner has at the least.
TOOLS = ["bash", "sha256sum", "mktemp", "mkdir", "chmod", "mv", "rm", "cat", "ln", "sleep", "env"]
# Says what it was called with, and what of its environment matters.
STUB = f"""#!/bin/bash
[ "$*" != --version ] || {{ echo "rock-matrix {OWN}"; exit; }}
printf '%s\\0' "$@" >"$CALLED"
printf '%s\\n' "token=${{GITHUB_TOKEN-}}" "input=${{INPUT_TOKEN-}}" "actions=${{GITHUB_ACTIONS-}}" \\
  "annotations=${{ROCK_ANNOTATIONS-}}" "summary=${{GITHUB_STEP_SUMMARY-}}" "folder=$PWD" >"$CALLED.environment"
"""
HOSTILE = [
    "1.2.3; touch canary", "$(touch canary)", "`touch canary`", "${{ github.token }}", "1.2.3\n::error::x", "'", '"',
    "1.2.3\nx=y", "*", "-x", "../..", "1.2.3 ", "v1.2.3", "1.2", "1.2.3.4", "01.2.3", "1.2.3-rc1", "\u0661.2.3", "%0A",
    "\x1b[31m", "1.2.3\r", "a" * 5000, "9999999999999999999.0.0",
]


class Host(http.server.ThreadingHTTPServer):
    """A release host. `answer` is what it does with the file: whole, altered, cut, shorter, gone, busy at first."""

    daemon_threads = True

    def __init__(self, folder):
        key, certificate = folder / "key.pem", folder / "certificate.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
            check=True, capture_output=True)
        super().__init__(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.certificate = certificate
        self.address = f"https://localhost:{self.server_port}/o/r/releases/download"
        self.content, self.answer, self.asked, self.seen = b"", "whole", [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # A client that goes away is what some cases are about.


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *words):
        pass

    def do_GET(self):
        host = self.server
        host.asked.append(self.path)
        host.seen.append(str(self.headers))
        content = host.content
        if host.answer == "gone" or not re.fullmatch(r"/o/r/releases/download/v[0-9.]+/rock-matrix-x86_64-linux", self.path):
            self.send_error(404)
            return
        if host.answer == "busy at first" and len(host.asked) == 1:
            self.send_error(503)
            return
        if host.answer == "moved to http":
            self.send_response(302)
            self.send_header("Location", "http://localhost:9/x")
            self.end_headers()
            return
        if host.answer == "altered":
            content = content[:-1] + bytes([content[-1] ^ 1])
        if host.answer == "shorter":
            content = content[:-9]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if host.answer == "cut" else content)


class Runner:
    """A machine with nothing on it but what is given."""

    def __init__(self, folder, host):
        self.root = pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.root.chmod(0o755)
        self.host = host
        host.answer, host.content, host.asked, host.seen = "whole", STUB.encode(), [], []
        self.tree = self.root / "action tree"
        shutil.copytree(REPO / "action", self.tree / "action")
        shutil.copy(REPO / "Cargo.toml", self.tree)
        for name in ["bin", "tools", "temp", "work"]:
            (self.root / name).mkdir()
        self.tools(*TOOLS, "curl")
        self.list(host.content)
        (self.root / ".curlrc").write_text("retry-max-time = 1\n")
        (self.root / "wgetrc").write_text(f"ca_certificate = {host.certificate}\n")
        self.environment = {
            "PATH": str(self.root / "bin"), "HOME": str(self.root), "CURL_HOME": str(self.root), "LC_ALL": "C.UTF-8",
            "CURL_CA_BUNDLE": str(host.certificate), "WGETRC": str(self.root / "wgetrc"),
            "GITHUB_ACTIONS": "true", "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64",
            "RUNNER_TEMP": str(self.root / "temp"), "RUNNER_TOOL_CACHE": str(self.root / "tools"),
            "GITHUB_OUTPUT": str(self.root / "outputs"), "GITHUB_PATH": str(self.root / "path"),
            "GITHUB_STEP_SUMMARY": str(self.root / "summary"), "CALLED": str(self.root / "called"),
        }

    def list(self, content, version=OWN):
        """Lists the content as the release job does, on the host of the test."""
        dist = self.root / "dist"
        dist.mkdir(exist_ok=True)
        (dist / "rock-matrix-x86_64-linux").write_bytes(content)
        path = self.tree / "action/versions.json"
        path.write_text((REPO / "action/versions.json").read_text())
        subprocess.run([self.tree / "action/add-version.sh", version, dist], check=True)
        listed = json.loads(path.read_text())
        path.write_text(path.read_text().replace(listed["releases"], self.host.address))

    def tools(self, *names):
        for name in names:
            (self.root / "bin" / name).symlink_to(shutil.which(name, path="/usr/bin:/bin"))

    def program(self, name, text, folder="bin"):
        path = self.root / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def without(self, *names):
        for name in names:
            (self.root / "bin" / name).unlink()

    def start(self, *prefix, **inputs):
        """The script with these inputs (`working_directory` is `working-directory`), and the defaults of action.yml."""
        given = {"command": "", "config": "", "args": "", "binary": "", "version": "", "verify": "checksum",
                 "fallback": "none", "token": "", "working_directory": ".", "annotations": "true", "summary": "true"}
        environment = self.environment | {f"INPUT_{name.upper()}": value for name, value in (given | inputs).items()}
        for name in ["outputs", "path", "called"]:
            (self.root / name).unlink(missing_ok=True)
        return subprocess.Popen([*prefix, "/bin/bash", self.tree / "action/bootstrap.sh"], cwd=self.root / "work",
                                env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *prefix, **inputs):
        return self.end(self.start(*prefix, **inputs))

    def end(self, child):
        out, err = child.communicate(timeout=120)
        return Ran(child.returncode, out.decode(), err.decode(), self)

    @contextlib.contextmanager
    def as_somebody(self):
        """What runs a program as a user who may not write to the tool cache; root may write everywhere."""
        for name in [".", "temp", "work"]:
            (self.root / name).chmod(0o777)
        (self.root / "tools").chmod(0o555)
        yield [shutil.which("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", "--"] if os.getuid() == 0 else []
        (self.root / "tools").chmod(0o755)

    def outputs(self):
        path = self.root / "outputs"
        return dict(line.split("=", 1) for line in path.read_text().splitlines()) if path.exists() else {}

    def called(self):
        """The arguments that the stub was called with; None where it was not."""
        path = self.root / "called"
        return path.read_text().split("\0")[:-1] if path.exists() else None

    def told(self):
        """What of the environment the stub saw."""
        return dict(line.split("=", 1) for line in (self.root / "called.environment").read_text().splitlines())

    def cached(self):
        return self.root / "tools/rock-matrix" / OWN / "x86_64-linux/rock-matrix"

    def left(self):
        """What stands in the folders of the runner, beside the plan and what is in place."""
        files = [path for name in ["tools", "temp", "work"] for path in (self.root / name).rglob("*") if path.is_file()]
        return sorted(path.name for path in files)


class Ran:
    def __init__(self, code, out, err, runner):
        self.code, self.out, self.err, self.runner = code, out, err, runner

    def __repr__(self):
        return f"exit {self.code}\nstdout: {self.out}\nstderr: {self.err}"

    def commands(self):
        # The runner reads both streams alike.
        return [line for line in (self.out + self.err).splitlines() if line.startswith("::")]

    def worked(self, source):
        assert self.code == 0, self
        line = rf"rock-matrix {re.escape(OWN)} from {source}, sha256 [0-9a-f]{{12}}, \d+ ms"
        found = [line for line in self.out.splitlines() if line.startswith("rock-matrix ")]
        assert len(found) == 1 and re.fullmatch(line, found[0]), (line, self)
        return self

    def refused(self, code, *words):
        """One annotation with these words, nothing run and nothing told to later steps."""
        assert self.code == code, self
        errors = [line for line in self.commands() if line.startswith("::error")]
        assert len(errors) == 1 and errors[0].startswith("::error title=rock-action::"), self
        for word in words:
            assert word in errors[0], (word, self)
        assert len(errors[0]) < 4200, "the runner would cut it"
        assert self.runner.called() is None and self.runner.outputs() == {}, self
        assert not (self.runner.root / "path").exists(), self
        assert not list(self.runner.root.rglob("canary")), "an input was run"
        return self


# --- what is found, and where


def a_download_is_checked_kept_and_then_found_in_the_tool_cache(runner):
    ran = runner.run().worked("a download")
    assert ran.commands() == [], ran
    assert runner.outputs() == {"version": OWN, "binary": str(runner.cached())}
    assert (runner.root / "path").read_text() == f"{runner.cached().parent}\n"
    assert hashlib.sha256(STUB.encode()).hexdigest()[:12] in ran.out
    assert runner.left() == ["rock-matrix"] and runner.cached().stat().st_mode & 0o777 == 0o755
    runner.host.answer = "gone"
    runner.run().worked("the tool cache")
    assert len(runner.host.asked) == 1, runner.host.asked


def wget_does_where_there_is_no_curl(runner):
    runner.without("curl")
    runner.tools("wget")
    runner.run().worked("a download")


def without_curl_and_wget_the_annotation_says_so(runner):
    runner.without("curl")
    runner.run().refused(3, "neither curl nor wget is in PATH", "fallback: cargo", "`binary`")


def shasum_does_where_there_is_no_sha256sum(runner):
    runner.without("sha256sum")
    runner.tools("shasum", "perl")
    runner.run().worked("a download")


def without_a_program_for_digests_nothing_is_run(runner):
    runner.without("sha256sum")
    runner.run().refused(3, "neither sha256sum nor shasum is in PATH")
    assert runner.left() == []


def an_old_curl_that_knows_fewer_options_does(runner):
    runner.without("curl")
    runner.program("curl", '#!/bin/bash\ncase "$*" in *--retry-all-errors*) echo "curl: option unknown" >&2; exit 2;; esac\n'
                   'exec /usr/bin/curl "$@"\n')
    runner.run().worked("a download")


def the_same_version_in_the_path_is_taken_and_another_is_not(runner):
    runner.program("rock-matrix", STUB)
    runner.run().worked("PATH")
    assert runner.outputs()["binary"] == str(runner.root / "bin/rock-matrix") and not runner.host.asked
    runner.program("rock-matrix", STUB.replace(OWN, "99.0.0"))
    runner.run().worked("a download")


def a_program_in_path_with_another_digest_than_is_listed_is_refused(runner):
    other = STUB + "# other bytes"
    path = runner.program("rock-matrix", other)
    for verify in ["checksum", "none"]:
        runner.run(command="check", verify=verify, fallback="cargo").refused(
            1, str(path), hashlib.sha256(other.encode()).hexdigest(), hashlib.sha256(STUB.encode()).hexdigest(),
            "action/versions.json", "`binary`")
    assert not runner.host.asked
    runner.run(binary="../bin/rock-matrix").worked("the input binary")
    # What no digest is listed of is taken by its version, as is what is listed for another machine alone.
    listed = runner.tree / "action/versions.json"
    listed.write_text(listed.read_text().replace("x86_64-linux", "aarch64-linux"))
    runner.run().worked("PATH")
    runner.environment["RUNNER_ARCH"] = "ARM64"
    runner.run().refused(1, str(path))


def what_an_earlier_step_built_is_built_again_and_not_believed(runner):
    runner.tools("cp")
    runner.program("stub", STUB + "# built here", ".")
    runner.program("cargo", CARGO)
    runner.host.answer = "gone"
    runner.run(fallback="cargo").worked("cargo")
    built = pathlib.Path(runner.outputs()["binary"])
    runner.environment["PATH"] = f"{built.parent}:{runner.environment['PATH']}"
    built.write_text(STUB + 'touch "$HOME/canary"\n')
    (runner.root / "cargo").unlink()
    runner.run(fallback="cargo", command="check").worked("cargo")
    assert (runner.root / "cargo").exists() and not (runner.root / "canary").exists()
    runner.run(command="check").refused(1, str(built))


def a_given_binary_is_taken_whatever_its_name(runner):
    given = runner.program("rm-x", STUB, "work/sub folder")
    runner.run(binary="sub folder/rm-x").worked("the input binary")
    assert runner.outputs() == {"version": OWN, "binary": str(given)}
    folder = (runner.root / "path").read_text().rstrip("\n")
    assert pathlib.Path(folder, "rock-matrix").resolve() == given.resolve() and not runner.host.asked
    runner.run(binary="rm-x", working_directory="sub folder", version=OWN).worked("the input binary")


def a_given_binary_that_is_none_is_refused(runner):
    runner.program("other", "#!/bin/bash\necho other 1.2.3\n", "work")
    runner.program("liar", f"#!/bin/bash\necho 'rock-matrix {OWN}'\necho canary=1\n", "work")
    runner.program("liar2", f"#!/bin/bash\nprintf 'rock-matrix {OWN}\\n::error::x'\n", "work")
    runner.program("damaged", "\x7fELF nonsense", "work")
    runner.program("rock", STUB, "work")
    (runner.root / "work/text").write_text("x")
    for name in ["none", "text", ".", "$(touch canary)"]:
        runner.run(binary=name).refused(2, "which is not a program", "working-directory")
    for name in ["other", "damaged", "liar", "liar2"]:
        runner.run(binary=name).refused(2, "does not say which rock-matrix it is")
    runner.run(binary="rock", version="9.9.9").refused(2, f"is version {OWN}", "9.9.9")


def an_older_version_that_is_listed_is_taken(runner):
    old = STUB.replace(OWN, "0.0.9").encode()
    runner.host.content = old
    runner.list(old, "0.0.9")
    ran = runner.run(version="0.0.9")
    assert ran.code == 0 and "rock-matrix 0.0.9 from a download" in ran.out, ran
    assert runner.host.asked == ["/o/r/releases/download/v0.0.9/rock-matrix-x86_64-linux"]


def a_version_that_is_not_listed_is_told_with_what_to_do(runner):
    said = runner.run(version="9.9.9").refused(3, "lists no rock-matrix 9.9.9 for x86_64-linux", "fallback: cargo")
    assert not runner.host.asked, said
    (runner.tree / "action/versions.json").write_text((REPO / "action/versions.json").read_text())
    if OWN not in (REPO / "action/versions.json").read_text():
        runner.run().refused(3, f"lists no rock-matrix {OWN}", "`binary`", "fallback: cargo")


def a_version_that_is_not_listed_comes_without_a_checksum_only_when_that_is_asked_for(runner):
    runner.host.content = STUB.replace(OWN, "9.9.9").encode()
    ran = runner.run(version="9.9.9", verify="none")
    assert ran.code == 0 and "rock-matrix 9.9.9 from a download" in ran.out, ran
    assert not list((runner.root / "tools").rglob("*")), "what was not checked is in the cache that all jobs share"
    runner.host.content = STUB.encode()
    runner.run(version="9.9.8", verify="none").refused(1, f"says that it is version `{OWN}`, not 9.9.8")
    runner.without("curl")
    runner.tools("wget")
    runner.run(version="9.9.8", verify="none").refused(3, "needs curl")


# --- wrong bytes, no network, other machines


def wrong_bytes_never_fall_through_to_another_way(runner):
    cargo = runner.program("cargo", '#!/bin/bash\n: >"$HOME/canary"\n')
    for verify in ["checksum", "none"]:
        for answer in ["altered", "shorter"]:
            runner.host.answer = answer
            runner.run(fallback="cargo", verify=verify).refused(1, "has the sha256", "cut off or altered", "versions.json")
            assert runner.left() == [], runner.left()
    runner.host.answer = "whole"
    runner.list(b"other")
    runner.run(fallback="cargo").refused(1, hashlib.sha256(b"other").hexdigest())
    cargo.unlink()


def a_connection_that_is_cut_is_a_fault_of_the_network(runner):
    runner.host.answer = "cut"
    runner.run().refused(3, "cannot be downloaded", "curl: (18)")
    assert runner.left() == []


def a_host_that_is_busy_at_first_is_asked_again(runner):
    (runner.root / ".curlrc").write_text("retry-max-time = 60\n")
    runner.host.answer = "busy at first"
    runner.run().worked("a download")
    assert len(runner.host.asked) == 2, runner.host.asked
    shutil.rmtree(runner.root / "tools/rock-matrix")
    runner.without("curl")
    runner.tools("wget")
    runner.host.asked.clear()
    runner.run().worked("a download")
    assert len(runner.host.asked) == 2, runner.host.asked


def a_release_that_is_gone_and_a_network_that_is_none_are_told(runner):
    runner.host.answer = "gone"
    runner.run().refused(3, "cannot be downloaded", "404", "`binary`")
    runner.host.answer = "moved to http"
    runner.run().refused(3, "cannot be downloaded", "Protocol", "http")
    listed = runner.tree / "action/versions.json"
    listed.write_text(listed.read_text().replace(runner.host.address, "https://localhost:9/x"))
    runner.run().refused(3, "https://localhost:9/x", "cannot be downloaded", "https_proxy")
    runner.without("curl")
    runner.tools("wget")
    runner.run().refused(3, "https://localhost:9/x", "cannot be downloaded")
    assert runner.left() == []


def a_host_with_another_certificate_is_not_believed(runner):
    del runner.environment["CURL_CA_BUNDLE"]
    runner.run().refused(3, "cannot be downloaded", "certificate")
    assert not runner.host.asked


def a_cached_file_with_other_bytes_is_never_run_nor_replaced(runner):
    runner.run().worked("a download")
    altered = STUB.replace("printf", 'touch "$HOME/canary"; printf')
    runner.cached().write_text(altered)
    runner.run(command="check", fallback="cargo").refused(1, str(runner.cached()), "remove the file")
    assert runner.cached().read_text() == altered and len(runner.host.asked) == 1


def a_cached_file_that_is_no_program_is_replaced(runner):
    runner.run().worked("a download")
    runner.cached().chmod(0o644)
    runner.run().worked("a download")


def eight_legs_that_race_on_one_cache_all_get_a_whole_binary(runner):
    padding = "\n# " + "x" * 3_000_000
    runner.host.content = (STUB + "exit\n" + padding).encode()
    runner.list(runner.host.content)
    legs = []
    for number in range(8):
        temp = runner.root / f"temp{number}"
        temp.mkdir()
        runner.environment |= {"RUNNER_TEMP": str(temp), "CALLED": str(runner.root / f"called{number}"),
                               "GITHUB_OUTPUT": str(runner.root / f"outputs{number}")}
        legs.append(runner.start(command="check", args=f"leg{number}"))
    for number, leg in enumerate(legs):
        runner.end(leg).worked("(a download|the tool cache)")
        assert (runner.root / f"called{number}").read_text() == f"check\0leg{number}\0"
    assert runner.left() == ["rock-matrix"], runner.left()
    assert runner.cached().read_bytes() == runner.host.content


def a_tool_cache_that_cannot_be_written_is_passed_over(runner):
    with runner.as_somebody() as prefix:
        runner.run(*prefix).worked("a download")
        assert runner.outputs()["binary"].startswith(str(runner.root / "temp")), runner.outputs()
        runner.run(*prefix).worked("the tool cache")
        assert len(runner.host.asked) == 1


def a_tool_cache_that_cannot_be_written_is_still_read(runner):
    runner.run().worked("a download")
    with runner.as_somebody() as prefix:
        runner.run(*prefix).worked("the tool cache")
        assert runner.outputs()["binary"] == str(runner.cached())


def nowhere_to_write_is_told(runner):
    with runner.as_somebody() as prefix:
        (runner.root / "temp").chmod(0o555)
        runner.run(*prefix).refused(3, "neither the tool cache nor RUNNER_TEMP can be written to")


def a_tool_cache_that_is_a_file_or_is_not_set_is_passed_over(runner):
    (runner.root / "tools").rmdir()
    (runner.root / "tools").write_text("x")
    runner.run().worked("a download")
    del runner.environment["RUNNER_TOOL_CACHE"]
    runner.run().worked("the tool cache")


def other_systems_are_refused_in_one_line(runner):
    for system in ["macOS", "Windows"]:
        runner.environment["RUNNER_OS"] = system
        said = runner.run().refused(3, "Linux only", f"this runner is {system}", "runs-on")
        assert len(said.out.splitlines()) == 1 and not said.err, said
    del runner.environment["RUNNER_OS"]
    runner.run().worked("a download")


def other_processors_are_told(runner):
    runner.environment["RUNNER_ARCH"] = "ARM"
    runner.run().refused(3, "no rock-matrix for ARM", "X64 and ARM64", "fallback: cargo")
    runner.environment["RUNNER_ARCH"] = "ARM64"
    runner.run().refused(3, "for aarch64-linux")


CARGO = f"""#!/bin/bash
printf '%s\\n' "$PWD" "$@" >"$HOME/cargo"
while [ "$1" != --target-dir ]; do shift; done
mkdir -p "$2/release"
cp "$HOME/stub" "$2/release/rock-matrix"
"""


def what_cannot_be_downloaded_is_built_where_that_is_asked_for(runner):
    runner.tools("cp")
    runner.program("stub", STUB, ".")
    runner.program("cargo", CARGO)
    runner.host.answer = "gone"
    ran = runner.run(fallback="cargo").worked("cargo")
    warnings = [line for line in ran.commands() if line.startswith("::warning title=rock-action::")]
    assert len(warnings) == 1 and "404" in warnings[0] and "built with cargo" in warnings[0], ran
    built = runner.root / "temp/rock-matrix/build"
    assert (runner.root / "cargo").read_text().splitlines() == [
        str(runner.tree), "build", "--release", "--locked", "--bin", "rock-matrix", "--target-dir", str(built)]
    assert runner.outputs()["binary"] == f"{built}/release/rock-matrix"
    assert not list((runner.root / "tools").rglob("rock-matrix/*/*/rock-matrix"))


def a_build_that_cannot_be_is_told(runner):
    runner.host.answer = "gone"
    runner.run(fallback="cargo").refused(3, "needs cargo", "rustup.rs")
    runner.run(fallback="cargo", version="9.9.9").refused(3, f"builds {OWN}", "not 9.9.9")
    runner.program("cargo", "#!/bin/bash\necho error: no >&2\nexit 101\n")
    runner.run(fallback="cargo").refused(3, "cargo could not build")


def an_attestation_is_asked_for_after_the_checksum(runner):
    runner.run(verify="attestation").refused(3, "needs gh", "cli.github.com")
    gh = '#!/bin/bash\nprintf "%s\\n" "$GH_TOKEN" "$@" >"$HOME/gh"\n'
    runner.program("gh", gh)
    runner.run(verify="attestation", token="secret").worked("a download")
    said = (runner.root / "gh").read_text().splitlines()
    assert said[:3] == ["secret", "attestation", "verify"] and said[4:] == ["--repo", "o/r"], said
    (runner.root / "gh").unlink()
    runner.run(verify="attestation").worked("the tool cache")
    assert (runner.root / "gh").exists(), "what is cached was not judged"
    runner.program("gh", "#!/bin/bash\necho no attestations found >&2\nexit 1\n")
    runner.run(verify="attestation").refused(1, "no attestation by o/r", "gh says: no attestations found")
    runner.run(verify="attestation", fallback="cargo").refused(2, "exclude each other")


# --- inputs


def a_version_is_exact_or_refused(runner):
    for text in HOSTILE:
        said = runner.run(version=text).refused(2, "the input `version` is ", "exact version such as `1.2.3`")
        assert len(said.out.splitlines()) == 1, said
    assert not runner.host.asked


def words_from_a_set_are_of_that_set(runner):
    sets = {"command": "check, plan, render, build, test, publish, release, report", "verify": "checksum, attestation, none",
            "fallback": "none, cargo", "annotations": "true, false", "summary": "true, false"}
    for name, allowed in sets.items():
        for text in [*HOSTILE, "True", "yes", "1", "Plan", "plan check", " plan"]:
            if name == "annotations":
                # Any other word than false leaves them on, and this is one.
                runner.run(annotations=text).refused(2, "the input `annotations` is ", allowed)
            else:
                runner.run(**{name: text}).refused(2, f"the input `{name}` is ", f"not one of: {allowed}")
        if name != "command":
            runner.run(**{name: ""}).refused(2, f"the input `{name}` is ''")


def paths_are_one_line_each(runner):
    for text in ["a\nb", "x\r", "\x1b[1m"]:
        runner.run(binary=text).refused(2, "the input `binary` is ", "not one line")
        runner.run(working_directory=text).refused(2, "the input `working-directory` is ", "not one line")
    for text in ["$(touch canary)", "none", "-", "a;touch canary", "${{ x }}"]:
        runner.run(working_directory=text).refused(2, "no such folder", "check the repository out")
    (runner.root / "work/-P").mkdir()
    runner.run(working_directory="-P", command="check").worked("a download")
    assert runner.told()["folder"] == str(runner.root / "work/-P")
    (runner.root / "work/$(touch canary)").mkdir()
    runner.run(working_directory="$(touch canary)", command="check").worked("the tool cache")
    assert not list(runner.root.rglob("canary"))


def arguments_are_split_as_documented_and_never_expanded(runner):
    runner.program("rock-matrix", STUB)
    cases = {
        "": [], "  \n\t ": [], "a b\nc\td\r\n": ["a", "b", "c", "d"], "''": [""], 'a"" b': ["a", "b"],
        "'a b' \"c d\"": ["a b", "c d"], r"a\ b": ["a b"], r"'a\b'": [r"a\b"], r'"a\"b\\c\d"': ["a\"b\\c\\d"],
        "$(touch canary) `touch canary`": ["$(touch", "canary)", "`touch", "canary`"], "*": ["*"], "~ $HOME": ["~", "$HOME"],
        "${{ github.token }}": ["${{", "github.token", "}}"], "a;touch canary&&x|y>z": ["a;touch", "canary&&x|y>z"],
        "{a,b} [c] ?": ["{a,b}", "[c]", "?"], "é'ü 日'": ["éü 日"], "::error::x": ["::error::x"], "--": ["--"],
        "%0A a#b #c": ["%0A", "a#b", "#c"], "-n -e": ["-n", "-e"],
    }
    for text, words in cases.items():
        ran = runner.run(command="check", args=text).worked("PATH")
        assert runner.called() == ["check", *words], (text, runner.called())
        assert ran.commands() == [] and not list(runner.root.rglob("canary"))
    for text in ["'", '"', 'a "b', "a 'b c", "a\\", '"\\', '"a\\"']:
        runner.run(command="check", args=text).refused(2, "the input `args`")


def arguments_are_split_as_posix_words_are(runner):
    runner.program("rock-matrix", STUB)
    chance = random.Random(11)
    for number in range(150):
        text = "".join(chance.choice("ab'\"\\ \n$é") for _ in range(chance.randrange(1, 14)))
        runner.environment["LC_ALL"] = ["C", "C.UTF-8"][number % 2]
        try:
            words = shlex.split(text)
        except ValueError:
            runner.run(command="check", args=text).refused(2, "the input `args`")
            continue
        runner.run(command="check", args=text).worked("PATH")
        assert runner.called() == ["check", *words], (text, runner.called(), words)


def long_arguments_are_split_in_time(runner):
    runner.program("rock-matrix", STUB)
    text = "'a b' " * 15_000
    runner.run(command="check", args=text).worked("PATH")
    assert runner.called() == ["check", *["a b"] * 15_000]


def matrix_files_come_one_a_line_and_are_no_options(runner):
    runner.program("rock-matrix", STUB)
    runner.run(command="check", config="a b.yaml\n\n--help\r\n$(touch canary)\n", args="--format json").worked("PATH")
    assert runner.called() == ["check", "--format", "json", "a b.yaml", "./--help", "$(touch canary)"]
    runner.run(command="render", config="m.yaml", args="workflow --check").worked("PATH")
    assert runner.called() == ["render", "workflow", "--check", "m.yaml"]
    runner.run(command="build", config="m.yaml", args="JOB").worked("PATH")
    assert runner.called() == ["build", "--matrix=m.yaml", "JOB"]
    for command in ["publish", "report"]:
        runner.run(command=command, config="m.yaml").refused(2, "`config` is not for", "--plan plan.json")
    runner.run(config="m.yaml").refused(2, "the input `command` is empty")
    runner.run(args="x").refused(2, "the input `command` is empty")


def lines_of_blanks_are_no_matrix_files(runner):
    runner.program("rock-matrix", STUB)
    runner.run(command="check", config=" \n\t\na.yaml\n   \r\n b.yaml \n \n").worked("PATH")
    assert runner.called() == ["check", "a.yaml", " b.yaml "]
    runner.run(command="report", args="packages", config=" \n").worked("PATH")
    assert runner.called() == ["report", "packages"]


def what_the_action_adds_stands_before_two_dashes_in_arguments(runner):
    runner.program("rock-matrix", STUB)
    runner.environment |= {"ROCK_JOB": "{}", "GITHUB_REPOSITORY": "o/r", "GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v1"}
    runner.run(command="plan", args="--explain -- --out", config="m.yaml").worked("PATH")
    plan = runner.outputs()["plan-path"]
    assert runner.called() == ["plan", "--github-output", "--max-shards", "1", "--format", "json", "--out", plan,
                               "--explain", "--", "--out", "m.yaml"]
    runner.run(command="build", args="-- --job-env", config="m.yaml").worked("PATH")
    assert runner.called() == ["build", "--job-env", "ROCK_JOB", "--matrix=m.yaml", "--", "--job-env"]
    runner.run(command="publish", args="-- --to").worked("PATH")
    assert runner.called() == ["publish", "--repo", "o/r", "--tag", "v1", "--github-output", "--", "--to"]
    for command in ["check", "render", "report"]:
        runner.run(command=command, args="-- --x").worked("PATH")
        assert runner.called() == [command, "--", "--x"]


def a_build_takes_the_leg_of_the_workflow(runner):
    runner.program("rock-matrix", STUB)
    runner.environment["ROCK_JOB"] = "{}"
    runner.run(command="build", args="--plan plan.json").worked("PATH")
    assert runner.called() == ["build", "--job-env", "ROCK_JOB", "--plan", "plan.json"]
    runner.run(command="build", args="--job-env OTHER").worked("PATH")
    assert runner.called() == ["build", "--job-env", "OTHER"]


def a_publish_goes_to_this_repository_under_the_tag_of_the_run(runner):
    runner.program("rock-matrix", STUB)
    runner.environment |= {"GITHUB_REPOSITORY": "o/wheels", "GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v1;x"}
    runner.run(command="publish", args="--dist dist").worked("PATH")
    assert runner.called() == ["publish", "--repo", "o/wheels", "--tag", "v1;x", "--github-output", "--dist", "dist"]
    runner.run(command="publish", args="--repo=a/b --tag t").worked("PATH")
    assert runner.called() == ["publish", "--github-output", "--repo=a/b", "--tag", "t"]
    for args in ["--to x", "--out x", "-o x", "-ox", "--subjects x", "--prune --repo a/b"]:
        runner.run(command="publish", args=args).worked("PATH")
        assert runner.called() == ["publish", *args.split()]


def what_the_action_gives_to_plan_itself_is_refused_in_arguments(runner):
    runner.program("rock-matrix", STUB)
    for option in ["--format=human", "--json", "--out x", "-o x", "-ox", "--github-output", "--max-shards 2", "--most-matrices 2"]:
        runner.run(command="plan", args=option).refused(2, "gives to `plan` itself", "plan-path")


def a_plan_that_only_compares_is_refused_with_what_does_it(runner):
    runner.program("rock-matrix", STUB)
    for option in ["--diff old.json", "--diff=old.json"]:
        said = runner.run(command="plan", args=option).refused(2, "`--diff`", "`rock-matrix plan --diff` in a later step")
        assert "--github-output" not in said.out, said


# --- the token and what the command sees


def the_token_is_masked_first_and_given_only_to_what_needs_it(runner):
    runner.program("rock-matrix", STUB)
    for command in ["check", "plan", "render", "build", "test", "publish", "release", "report"]:
        ran = runner.run(command=command, token="s3%cret").worked("PATH")
        assert ran.out.splitlines()[0] == "::add-mask::s3%25cret" and ran.out.count("cret") == 1, ran
        is_given = command in ["plan", "publish", "release", "report"]
        assert runner.told()["token"] == ("s3%cret" if is_given else ""), command
        assert runner.told()["input"] == ""
    runner.environment["RUNNER_OS"] = "macOS"
    ran = runner.run(token="secret")
    assert ran.out.splitlines()[0] == "::add-mask::secret", ran


def a_token_with_line_ends_is_refused_and_not_told(runner):
    ran = runner.run(token="first\nsecond").refused(2, "the input `token`")
    assert ran.out.splitlines()[0] == "::add-mask::first%0Asecond"
    assert "first" not in "".join(ran.out.splitlines()[1:]) + ran.err, ran


def the_token_does_not_go_to_the_release_host(runner):
    runner.run(token="s3cret").worked("a download")
    assert len(runner.host.seen) == 1 and "s3cret" not in runner.host.seen[0]


def annotations_and_the_summary_can_be_left_out(runner):
    runner.program("rock-matrix", STUB)
    runner.run(command="check").worked("PATH")
    told = runner.told()
    assert (told["actions"], told["summary"]) == ("true", str(runner.root / "summary"))
    runner.run(command="check", annotations="false", summary="false").worked("PATH")
    told = runner.told()
    # The rest of what it is to be in a step stays: masks, and logs that cannot give commands.
    assert (told["actions"], told["annotations"], told["summary"]) == ("true", "false", "")
    ran = runner.run(command="no", annotations="false")
    assert ran.code == 2 and ran.out == "" and ran.err.startswith("error: the input `command` is 'no'"), ran


def outside_of_a_workflow_it_says_things_on_stderr(runner):
    for name in ["GITHUB_ACTIONS", "GITHUB_OUTPUT", "GITHUB_PATH", "RUNNER_OS", "RUNNER_ARCH", "RUNNER_TOOL_CACHE"]:
        del runner.environment[name]
    runner.run(command="check", token="secret").worked("a download")
    ran = runner.run(version="x", token="secret")
    assert ran.err.startswith("error: ") and "secret" not in ran.out, ran


# --- the real binary


MATRIX = """version: 1
distribution: flash-attn
recipe: flash-attn
axes:
  flash-attn: ["2.8.3"]
  python: ["3.11", "3.12"]
  torch: ["2.5.1"]
  rocm: ["6.2"]
  backend: [ck]
gfx: [gfx90a]
"""


def a_plan_gives_the_outputs_that_action_yml_names(runner):
    (runner.root / "work/m $x.yaml").write_text(MATRIX)
    runner.run(command="plan", binary=str(ROCK), config="m $x.yaml").worked("the input binary")
    outputs = runner.outputs()
    assert outputs["count"] == "2" and outputs["version"] == OWN and outputs["binary"] == str(ROCK)
    legs = json.loads(outputs["matrix_0"])["include"]
    jobs = json.loads(pathlib.Path(outputs["plan-path"]).read_text())["jobs"]
    assert [leg["id"] for leg in legs] == [job["id"] for job in jobs] and len(legs) == 2
    assert pathlib.Path(outputs["plan-path"]).name == "plan.json"


def a_matrix_file_after_two_dashes_is_planned(runner):
    (runner.root / "work/--x.yaml").write_text(MATRIX)
    runner.run(command="plan", binary=str(ROCK), args="-- --x.yaml").worked("the input binary")
    assert runner.outputs()["count"] == "2"


def a_matrix_file_at_fault_becomes_an_annotation_at_its_line(runner):
    work = runner.root / "work"
    cases = {"missing": (None, "none.yaml"), "empty": ("", "title=M012 empty-file"), "typo": (MATRIX.replace("torch:", "torhc:"), "line=7")}
    for name, (text, word) in cases.items():
        if text is not None:
            (work / "m.yaml").write_text(text)
        ran = runner.run(command="plan", binary=str(ROCK), config="none.yaml" if text is None else "m.yaml")
        assert ran.code != 0 and any(line.startswith("::error") and word in line for line in ran.commands()), (name, ran)


def plans_without_legs_pass_and_plans_of_two_matrices_are_refused(runner):
    work = runner.root / "work"
    (work / "m.yaml").write_text(MATRIX + 'exclude: [{python: "3.11"}, {python: "3.12"}]\n')
    runner.run(command="plan", binary=str(ROCK), config="m.yaml").worked("the input binary")
    assert runner.outputs()["count"] == "0"
    (work / "recipes").mkdir()
    (work / "recipes/bench.yaml").write_text(
        'recipe: 1\nname: bench\ndistribution: bench\nsteps:\n  - stage: build\n    argv: ["true"]\ncollect: {wheels: "dist/*.whl"}\n')
    for legs, code in [(256, 0), (257, 1), (5000, 1)]:
        versions = ", ".join(f'"1.{number}"' for number in range(legs))
        (work / "many.yaml").write_text(
            "version: 1\ndistribution: bench\nrecipe: bench\ngfx: [gfx90a]\naxes:\n"
            f'  bench: [{versions}]\n  python: ["3.12"]\n  torch: ["2.9.1"]\n  rocm: ["6.4"]\n')
        ran = runner.run(command="plan", binary=str(ROCK), config="many.yaml", args="--recipes recipes")
        assert ran.code == code, (legs, ran)
        assert (code == 0) == (ran.commands() == []), ran
        if code:
            assert any(line.startswith("::error title=P047") for line in ran.commands()), ran


def a_command_line_at_fault_becomes_an_annotation(runner):
    ran = runner.run(command="check", binary=str(ROCK), args="--nonsense '%x'")
    errors = [line for line in ran.commands() if line.startswith("::error")]
    assert ran.code == 2 and len(errors) == 1 and "unexpected argument '--nonsense'" in errors[0], ran
    ran = runner.run(command="check", binary=str(ROCK), args="--nonsense", annotations="false")
    assert ran.code == 2 and ran.commands() == [] and "--nonsense" in ran.err, ran
    ran = runner.run(command="check", binary=str(ROCK), config="none.yaml", annotations="false")
    assert ran.code == 1 and ran.commands() == [] and "none.yaml" in ran.err, ran


# --- the list of versions


def versions_are_listed_newest_first_and_once(runner):
    listed = runner.tree / "action/versions.json"
    listed.write_text((REPO / "action/versions.json").read_text())
    dist, script = runner.root / "both", runner.tree / "action/add-version.sh"
    dist.mkdir()

    def add(version, content, code=0):
        for platform in ["x86_64-linux", "aarch64-linux"]:
            (dist / f"rock-matrix-{platform}").write_text(content + platform)
        done = subprocess.run([script, version, dist], capture_output=True, text=True)
        assert done.returncode == code, done
        return done.stderr

    before = list(json.loads(listed.read_text())["versions"])
    add("90.0.0", "a")
    add("90.1.0", "b")
    text = listed.read_text()
    document = json.loads(text)
    assert list(document["versions"]) == ["90.1.0", "90.0.0", *before]
    row = document["versions"]["90.1.0"]["aarch64-linux"]
    assert row == {"file": "rock-matrix-aarch64-linux", "sha256": hashlib.sha256(b"baarch64-linux").hexdigest()}
    add("90.0.0", "a")
    assert listed.read_text() == text
    assert "released once" in add("90.0.0", "other", 2)
    for version in ["1", "v1.2.3", "1.2.3\n", "$(touch canary)"]:
        assert "is not a version" in add(version, "a", 2)
    assert listed.read_text() == text
    done = subprocess.run([script, "91.0.0", runner.root / "work"], capture_output=True, text=True)
    assert done.returncode == 2 and "holds neither" in done.stderr


def main():
    functions = [(name, case) for name, case in globals().items() if inspect.isfunction(case)]
    cases = [(name, case) for name, case in functions if list(inspect.signature(case).parameters) == ["runner"]]
    wanted = sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        host = Host(folder)
        failed = 0
        for name, case in cases:
            if wanted and name not in wanted:
                continue
            print(f"  - {name.replace('_', ' ')}", flush=True)
            try:
                case(Runner(folder, host))
            except Exception as error:  # Every case is run, and each that failed is told.
                failed += 1
                traceback.print_exc()
                print(f"FAIL: {name}: {error!r}", flush=True)
        host.shutdown()
    print(f"{len(cases)} cases, {failed} failed")
    sys.exit(failed > 0)


main()
