"""What the workflow has published: `act_release.py API TAG RUN AUTHORITY WHEEL...`, where RUN is what the stand-ins for
actions kept. The release is public and holds exactly these wheels with the digests of the files that the legs built."""

import hashlib
import json
import pathlib
import ssl
import sys
import urllib.request

api, tag, run, authority, *wheels = sys.argv[1:]
run = pathlib.Path(run)
trust = ssl.create_default_context(cafile=authority)
# No proxy reaches loopback.
network = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trust))


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def fetch(address, **headers):
    with network.open(urllib.request.Request(address, headers=headers), timeout=60) as answer:
        return answer.read()


def expect(what, wanted, found):
    if wanted != found:
        sys.exit(f"FAIL: {what}: expected {wanted!r}, found {found!r}")


plan = json.loads((run / "artifacts/plan/plan.json").read_text())
expect("wheels of the plan", sorted(wheels), sorted(job["wheel"] for job in plan["jobs"]))

built = {path.name: path.read_bytes() for path in run.glob("artifacts/wheel-*/*.whl")}
# A build names the platform that the wheel complies with.
cell = lambda name: name.rsplit("-", 1)[0]
expect("wheels that the legs kept", sorted(map(cell, wheels)), sorted(map(cell, built)))
for name in built:
    expect(f"the platform of {name}", True, "-manylinux" in name)
wheels = list(built)
digests = {name: sha256(content) for name, content in built.items()}

# Without a token drafts are not listed.
releases = json.loads(fetch(f"{api}/repos/me/wheels/releases"))
expect("public releases", [tag], [release["tag_name"] for release in releases])
release = releases[0]
expect("draft", False, release["draft"])
every = json.loads(fetch(f"{api}/repos/me/wheels/releases", Authorization="Bearer writer"))
expect("releases and drafts", 1, len(every))

assets = {asset["name"]: asset for asset in release["assets"]}
expect("assets", sorted([*wheels, "SHA256SUMS", "rock-manifest.json"]), sorted(assets))
expect("states", {"uploaded"}, {asset["state"] for asset in assets.values()})
contents = {name: fetch(asset["browser_download_url"]) for name, asset in assets.items()}
for name, asset in assets.items():
    expect(f"the digest of {name}", f"sha256:{sha256(contents[name])}", asset["digest"])
for name, content in built.items():
    expect(f"the published {name} is the built one", digests[name], sha256(contents[name]))

lines = contents["SHA256SUMS"].decode().splitlines()
sums = {name: digest for digest, name in (line.split(maxsplit=1) for line in lines)}
expect("SHA256SUMS", digests, {name: sums.get(name) for name in wheels})
files = json.loads(contents["rock-manifest.json"])["files"]
expect("rock-manifest.json", digests, {file["name"]: file["sha256"] for file in files})
attested = dict(reversed(line.split(maxsplit=1)) for line in (run / "attested").read_text().splitlines())
expect("subjects of the attestation", digests, {name: attested.get(name) for name in wheels})
expect("other subjects", set(), set(attested) - set(assets))

site = run / "site"
for name in ["index.html", "packages.md"]:
    expect(f"the {name} of the pages names the project", True, "rmx-vecadd" in (site / name).read_text())
pages = [page.read_text() for page in site.glob("simple/**/rmx-vecadd/index.html")]
for name, asset in assets.items():
    if name in digests:
        link = f"{asset['browser_download_url']}#sha256={digests[name]}"
        expect(f"an index has a link to {name}", True, any(link in page for page in pages))
