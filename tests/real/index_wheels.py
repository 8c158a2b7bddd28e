"""Small wheels and a source distribution whose names and texts have all that names and texts may have.

    index_wheels.py FOLDER
"""

import base64
import hashlib
import io
import pathlib
import sys
import tarfile
import zipfile

FOLDER = pathlib.Path(sys.argv[1])
# File name, and what stands in METADATA beside name and version.
WHEELS = [
    ("flash_attn-2.8.3+rocm62torch2.5-cp310-cp310-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl", "Requires-Python: >=3.9,<4,!=3.9.*"),
    ("flash_attn-2.8.3+rocm62torch2.5-1-cp310-cp310-linux_x86_64.whl", "Requires-Python: >=3.9, < 4"),
    ("flash_attn-2.7.4.post1+rocm62torch2.5-cp39-cp39-linux_x86_64.whl", "Requires-Python: ~=3.9"),
    ("flash_attn-2.10.0.dev20261101+rocm62torch2.5-cp313-cp313t-linux_x86_64.whl", "Requires-Python: ===3.13.0"),
    ("flash_attn-2.9+rocm7.14torch2.14git4a948e9-cp39-abi3-win_amd64.whl", ""),
    ("rmx_vecadd-0.1.0+rocm52-cp311-cp311-linux_x86_64.whl", "Requires-Dist: torch (>=2.5) ; extra == 'a' and python_version < \"4\""),
    ("Rmx.Plain-1!2.0-py3-none-any.whl", "Summary: <b>\"bold\"</b> & 'ünïcode' 文"),
]


def wheel(name, more):
    project, version = name.split("-")[:2]
    info = f"{project}-{version}.dist-info"
    *build, python, abi, platforms = name[: -len(".whl")].split("-")[2:]
    tags = "".join(f"Build: {number}\n" for number in build)
    tags += "".join(f"Tag: {python}-{abi}-{platform}\n" for platform in platforms.split("."))
    members = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n{more}".rstrip() + "\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n{tags}",
    }
    members[f"{info}/RECORD"] = "".join(row(*member) for member in members.items()) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(FOLDER / name, "w") as archive:
        for member, text in members.items():
            archive.writestr(member, text)


def row(member, text):
    content = text.encode()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    return f"{member},sha256={digest},{len(content)}\n"


def sdist(project, version):
    held = f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\nRequires-Python: >=3.9\n".encode()
    with tarfile.open(FOLDER / f"{project}-{version}.tar.gz", "w:gz") as archive:
        for name, content in [("PKG-INFO", held), ("setup.py", b"")]:
            member = tarfile.TarInfo(f"{project}-{version}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


FOLDER.mkdir(parents=True)
for name, more in WHEELS:
    wheel(name, more)
sdist("rmx_plain", "1.5")
