"""Unpacking the development files: killed, twice at once, from odd tarballs, in other ways than by hard links."""

import io
import lzma
import os
import signal
import subprocess
import tarfile
import time

import packages
import pytest
from trees import tree_of, wiping

# Stops the process itself, where it is in the middle: after so many files.
KILLED = """
import os, signal, sys
from rocm_sdk import _devel, _record
where, count = sys.argv[1], int(sys.argv[2])
def after(function):
    left = [count]
    def wrapped(*arguments):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments)
    return wrapped
if where == "write":
    _devel._write = after(_devel._write)
elif where == "link":
    _devel._link.place = after(_devel._link.place)
elif where == "record":
    _record.os.replace = after(_record.os.replace)
elif where == "claim":
    _record.claim = after(_record.claim)
elif where == "add":
    _record.add = after(_record.add)
elif where == "made":
    _devel._link.is_placed = after(_devel._link.is_placed)
elif where == "unlink":
    _devel.Path.unlink = after(_devel.Path.unlink)
_devel.root()
"""
MOMENTS = [
    ("write", 0),
    ("write", 3),
    ("link", 0),
    ("link", 40),
    ("claim", 0),
    ("add", 0),
    ("record", 0),
    ("unlink", 0),
    # The development files are there, and links to those of a device package are being made.
    ("add", 1),
    ("record", 1),
    ("made", 1),
]


def payload(environment, data, name="_devel.tar", size=None):
    """Puts another tarball into an installed devel package, and what its size should be into the list."""
    for path in (environment.site / "rocm_sdk_devel").glob("_devel.tar*"):
        path.unlink()
    (environment.site / "rocm_sdk_devel" / name).write_bytes(data)
    (record,) = environment.site.glob("rocm_sdk_devel-*.dist-info/RECORD")
    rows = [row for row in record.read_text("utf-8").splitlines() if not row.startswith("rocm_sdk_devel/_devel.tar")]
    rows.append(f"rocm_sdk_devel/{name},,{len(data) if size is None else size}")
    record.write_text("\n".join(rows) + "\n", "utf-8")


@pytest.fixture(scope="module")
def whole(installed_once, tmp_path_factory):
    """An environment in which nobody disturbed the run."""
    environment = installed_once.copied(tmp_path_factory.mktemp("whole") / "env")
    environment.sdk("init")
    return environment


@pytest.fixture(scope="module")
def whole_tree(whole):
    """The files that an undisturbed run unpacks."""
    return tree_of(whole.devel)


def listed(environment):
    """The development files in RECORD, which an uninstall removes."""
    return {name: sorted(environment.record(name)) for name in ("rocm_sdk_devel", "rocm_sdk_device_gfx942")}


@pytest.mark.slow
@pytest.mark.parametrize("where, count", MOMENTS)
def test_a_kill_is_made_good_by_the_next_run(installed, whole, whole_tree, where, count):
    """Files and lists are those of a run that nobody disturbed, and `test_uninstalling_*` show that those go."""
    installed.run(str(installed.python), "-c", KILLED, where, str(count), code=-signal.SIGKILL)
    is_packed = (installed.site / "rocm_sdk_devel/_devel.tar").exists()
    assert is_packed or count == 1
    installed.sdk("init")
    assert tree_of(installed.devel) == whole_tree
    assert sorted(tree_of(installed.site)) == sorted(tree_of(whole.site))
    assert listed(installed) == listed(whole)


@pytest.mark.once
@pytest.mark.parametrize("where, count", MOMENTS)
def test_what_a_killed_run_left_is_uninstalled(installed, where, count):
    installed.run(str(installed.python), "-c", KILLED, where, str(count), code=-signal.SIGKILL)
    installed.uninstall(*installed.installed_names)
    assert installed.left == []


def test_what_an_earlier_package_left_goes_away(installed, whole_tree):
    """Upstream's own packages leave files that no list names. They may be where a folder belongs."""
    (installed.devel / "lib").mkdir(parents=True)
    (installed.devel / "__init__.py").write_text("")
    (installed.devel / "lib/old.so").write_text("of an older release")
    (installed.devel / "share").write_text("no folder")
    installed.sdk("init")
    assert tree_of(installed.devel) == whole_tree


@pytest.mark.slow
def test_of_two_processes_one_unpacks_and_the_other_waits(installed):
    big = {f"lib/cmake/x{number}/x.cmake": packages.File(b"x" * 5000) for number in range(1000)}
    tree = {"__init__.py": packages.File(b""), **big}
    payload(installed, packages.tarball(packages.in_order(tree)))
    argv = [str(installed.python), "-m", "rocm_sdk", "path", "--root"]
    running = [
        subprocess.Popen(argv, env=installed.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for process in running:
        out, errors = process.communicate(timeout=120)
        assert (process.returncode, out, errors) == (0, f"{installed.devel}\n", "")
    rows = installed.record("rocm_sdk_devel")
    assert len(rows) == len(set(rows))
    assert sum(1 for _ in installed.devel.rglob("*.cmake")) == 1000


def test_a_killed_process_lets_go_of_the_lock(installed):
    """One that holds the lock is stopped by a signal that it cannot catch; the one that waits goes on."""
    hold = "import sys, time; from rocm_sdk import _devel, _lock\nwith _lock.exclusive(_devel.installed().lock): print('held', flush=True); time.sleep(600)"
    holder = subprocess.Popen([str(installed.python), "-c", hold], env=installed.env, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    waiting = subprocess.Popen(
        [str(installed.folder / "bin/rocm-sdk"), "init"], env=installed.env, stdout=subprocess.PIPE, text=True
    )
    time.sleep(1)
    assert waiting.poll() is None and not (installed.devel / "__init__.py").exists()
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert waiting.communicate(timeout=60)[0] == f"{installed.devel}\n"


def test_the_order_of_members_does_not_matter(installed, whole_tree):
    with tarfile.open(installed.site / "rocm_sdk_devel/_devel.tar") as tar:
        members = [(member, tar.extractfile(member).read() if member.isreg() else b"") for member in tar.getmembers()]
    trees = []
    for ordered in (sorted(members, key=lambda pair: pair[0].name), members[::-1]):
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w") as tar:
            for member, data in ordered:
                tar.addfile(member, io.BytesIO(data))
        payload(installed, stream.getvalue())
        installed.sdk("init")
        trees.append(tree_of(installed.devel))
    assert trees == [whole_tree] * 2
    assert ".info/version" in whole_tree


def test_a_compressed_tarball_gives_the_same_tree(installed, whole_tree):
    data = (installed.site / "rocm_sdk_devel/_devel.tar").read_bytes()
    payload(installed, lzma.compress(data), "_devel.tar.xz")
    installed.sdk("init")
    assert tree_of(installed.devel) == whole_tree
    assert not (installed.site / "rocm_sdk_devel/_devel.tar.xz").exists()


def test_upstreams_way_of_unpacking_loses_nothing(installed):
    data = (installed.site / "rocm_sdk_devel/_devel.tar").read_bytes()
    wiping(data, installed.site)
    theirs = tree_of(installed.devel)
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        names = {os.path.relpath(name, "_rocm_sdk_devel") for name in tar.getnames()}
    assert names <= set(theirs) and ".info/version" in names
    assert not (installed.devel / "lib/libamdhip64.so.7.1.0").is_symlink()

    tree = {"__init__.py": packages.File(b""), ".info/version": packages.File(b"1\n")}
    wiping(packages.tarball(sorted(tree.items())), installed.site)
    assert not (installed.devel / ".info/version").exists(), "the order of names is one that upstream loses files in"


@pytest.mark.slow
def test_links_to_a_package_that_is_not_installed_lead_there_later(environment):
    environment.install("rocm[devel]")
    environment.sdk("init")
    path = environment.devel / "lib/libhipblas.so.7"
    assert path.is_symlink() and not path.exists()
    environment.install("rocm[libraries]")
    assert path.exists()
    environment.uninstall("rocm-sdk-libraries", "rocm-sdk-devel", "rocm-sdk-core", "rocm")
    assert environment.left == []


def test_links_that_lead_nowhere_and_names_that_come_twice_are_no_trouble(installed):
    members = [
        ("__init__.py", packages.File(b"")),
        ("lib/a", packages.Link("b")),
        ("lib/b", packages.Link("a")),
        ("lib/gone", packages.Link("../../_rocm_sdk_core/lib/none")),
        ("lib/host", packages.Link("/etc/hostname")),
        ("lib/twice", packages.Link("../../_rocm_sdk_core/.info/version")),
        ("lib/twice", packages.File(b"of its own")),
        ("lib/again", packages.File(b"of its own")),
        ("lib/again", packages.Link("../../_rocm_sdk_core/.info/version")),
    ]
    payload(installed, packages.tarball(members))
    installed.sdk("init")
    found = {name: tree_of(installed.devel)[f"lib/{name}"] for name in ("a", "b", "gone", "host", "twice", "again")}
    assert found == {
        "a": ("b", False),
        "b": ("a", False),
        "gone": ("../../_rocm_sdk_core/lib/none", False),
        "host": ("/etc/hostname", False),
        "twice": (b"of its own", False),
        "again": (b"7.14\n", True),
    }
    assert (installed.site / "_rocm_sdk_core/.info/version").read_bytes() == b"7.14\n"
    installed.uninstall("rocm-sdk-devel")
    assert not installed.devel.exists()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["symlink", "copy"])
def test_the_way_of_linking_can_be_chosen(installed, how):
    installed.own_tests("devel_test", ROCM_SDK_DEVEL_LINK=how)
    path, target = installed.devel / "lib/libamdhip64.so.7", installed.site / "_rocm_sdk_core/lib/libamdhip64.so.7"
    assert path.is_symlink() == (how == "symlink") and path.read_bytes() == target.read_bytes()
    assert os.path.samefile(path, target) == (how == "symlink")
    installed.uninstall("rocm-sdk-devel", "rocm-sdk-device-gfx942", "rocm-sdk-libraries", "rocm-sdk-core", "rocm")
    assert installed.left == []


def test_another_word_for_the_way_of_linking_is_refused_before_anything_is_written(installed):
    done = installed.sdk("init", code=1, ROCM_SDK_DEVEL_LINK="reflink")
    assert done.stderr == "rocm-sdk: ROCM_SDK_DEVEL_LINK is 'reflink'; the choices are: hardlink, symlink, copy\n"
    assert not installed.devel.exists()


def test_where_hard_links_cannot_be_made_files_are_copied(installed):
    text = "import os\ndef no(*a, **k): raise OSError(18, 'another file system')\nos.link = no\nfrom rocm_sdk import _devel\n_devel.root(); _devel.root()"
    installed.python_says(text)
    path, target = installed.devel / "lib/libamdhip64.so", installed.site / "_rocm_sdk_core/lib/libamdhip64.so.7"
    assert not path.is_symlink() and not os.path.samefile(path, target) and path.read_bytes() == target.read_bytes()
    assert len(installed.record("rocm_sdk_device_gfx942")) == len(set(installed.record("rocm_sdk_device_gfx942")))


def test_a_tree_without_a_record_is_not_unpacked(installed):
    (record,) = installed.site.glob("rocm_sdk_devel-*.dist-info/RECORD")
    text = "import rocm_sdk._devel\ntry: rocm_sdk._devel.root()\nexcept ImportError as e: print(type(e).__name__, e)"
    record.unlink()
    assert installed.python_says(text).startswith("ImportError") and not installed.devel.exists()
    assert "RECORD" in installed.sdk("init", code=1).stderr


BAD = {
    "a damaged tarball": b"no tarball" * 200,
    "a cut tarball": None,
    "a path above": packages.tarball([("../outside", packages.File(b""))]),
    "a path beside": packages.tarball([("x", packages.File(b""))], root="_rocm_sdk_core"),
    "an absolute path": packages.tarball([("x", packages.File(b""))], root="/tmp"),
}


@pytest.mark.parametrize("what", sorted(BAD))
def test_a_tarball_that_is_not_ours_is_refused_and_changes_no_other_package(installed, what):
    data = (installed.site / "rocm_sdk_devel/_devel.tar").read_bytes()
    payload(installed, BAD[what] or data[: len(data) // 2 // 512 * 512], size=None if BAD[what] else len(data))
    before = sorted(path.name for path in (installed.site / "_rocm_sdk_core").rglob("*"))
    done = installed.sdk("path", "--root", code=1)
    assert done.stderr.startswith("rocm-sdk: ") and "Traceback" not in done.stderr
    assert sorted(path.name for path in (installed.site / "_rocm_sdk_core").rglob("*")) == before
    assert not (installed.site / "outside").exists()
    assert list((installed.site / "rocm_sdk_devel").glob("_devel.tar"))


def test_a_device_file_in_the_tarball_is_refused(installed):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        info = tarfile.TarInfo("_rocm_sdk_devel/pipe")
        info.type = tarfile.FIFOTYPE
        tar.addfile(info)
    payload(installed, stream.getvalue())
    assert "neither a file, a folder nor a symbolic link" in installed.sdk("init", code=1).stderr


def test_a_full_disk_is_told_and_the_next_run_goes_on(installed):
    """A limit on the size of files stands in for the disk: the first file that is larger cannot be written."""
    payload(installed, packages.tarball([("__init__.py", packages.File(b"")), ("big", packages.File(b"x" * 100000))]))
    limited = ["sh", "-c", f"ulimit -f 40; trap '' XFSZ; exec {installed.folder}/bin/rocm-sdk path --root"]
    done = installed.run(*limited, code=1)
    assert "File too large" in done.stderr and done.stdout == ""
    assert installed.sdk("path", "--root").stdout == f"{installed.devel}\n"
