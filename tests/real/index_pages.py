"""Reads an index with parsers of others, and holds both forms of each page against each other and against the files.

    index_pages.py ROOT URL [RELEASES]

ROOT holds the index that is served at URL. Each page of HTML must have no parse error (html5lib, strict), each JSON
must be what `pypi-simple` and `packaging` read, and both must tell the same of a file. Each link must lead to what a
loopback server gives, or to an asset of RELEASES, a list as GitHub gives it. Prints one line that says what was read.
"""

import hashlib
import json
import pathlib
import re
import sys
import urllib.parse
import urllib.request

import html5lib
from packaging.metadata import Metadata
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version
from pypi_simple import ACCEPT_HTML_ONLY, IndexPage, ProjectPage, PyPISimple

ROOT, URL = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2].rstrip("/")
LISTED = {
    asset["browser_download_url"]: asset
    for release in (json.loads(pathlib.Path(sys.argv[3]).read_text()) if len(sys.argv) > 3 else [])
    for asset in release["assets"]
}
HTML = "{http://www.w3.org/1999/xhtml}"
# PEP 503, 592, 658 and 714: all that may stand on a link of a project's page.
ATTRIBUTES = {
    "href", "data-requires-python", "data-core-metadata", "data-dist-info-metadata", "data-yanked", "data-gpg-sig",
}
seen = {"pages": 0, "files": 0, "links": 0, "metadata": 0}
fetched = {}


def strict(path):
    """The tree of a page that has no parse error."""
    seen["pages"] += 1
    text = path.read_bytes()
    tree = html5lib.HTMLParser(strict=True).parse(text)
    assert tree.find(f"{HTML}head/{HTML}title").text.strip(), f"{path} has no title"
    ids = [one.get("id") for one in tree.iter() if one.get("id")]
    assert len(ids) == len(set(ids)), f"an id stands twice in {path}"
    return tree, ids


def bytes_of(url):
    """What a loopback server gives for a link."""
    url = url.partition("#")[0]
    assert url.startswith("http://127.0.0.1:"), f"{url} leads nowhere"
    if url not in fetched:
        with urllib.request.urlopen(url) as answer:
            fetched[url] = answer.read()
    return fetched[url]


def file_of(url):
    """The size in bytes and the SHA-256 of the file that a link leads to."""
    if url in LISTED:
        return LISTED[url]["size"], LISTED[url]["digest"].removeprefix("sha256:")
    content = bytes_of(url)
    return len(content), hashlib.sha256(content).hexdigest()


def links_resolve(path, tree, ids):
    """Every link of a page leads somewhere: an anchor of the page, a folder of the index, or a file."""
    base = f"{URL}/{path.relative_to(ROOT).parent.as_posix()}/".replace("/./", "/")
    for link in tree.iter(f"{HTML}a"):
        href = link.get("href")
        seen["links"] += 1
        assert "+" not in href and " " not in href, f"{href} in {path} is not percent-encoded"
        if href.startswith("#"):
            assert href[1:] in ids, f"{href} in {path} has no anchor"
        else:
            size, digest = file_of(urllib.parse.urljoin(base, href).partition("#")[0])
            assert size, f"{href} in {path} is empty"
            assert href.partition("#")[2] in ("", f"sha256={digest}"), f"{href} in {path} has another digest"


def told(package):
    """What a page tells of a file, as far as both forms can."""
    return (
        package.filename, package.url.partition("#")[0], package.digests, package.requires_python, package.is_yanked,
        package.yanked_reason or None, package.has_metadata, package.metadata_digests,
    )


def project_is_right(folder, name):
    """Both forms of a project's page."""
    path = ROOT / folder / name / "index.html"
    tree, ids = strict(path)
    links_resolve(path, tree, ids)
    base = f"{URL}/{folder}/{name}/"
    by_html = ProjectPage.from_html(name, path.read_bytes(), base_url=base)
    raw = json.loads((path.parent / "index.json").read_bytes())
    by_json = ProjectPage.from_json_data(raw, base_url=base)
    assert [told(one) for one in by_html.packages] == [told(one) for one in by_json.packages], path
    assert by_json.project == name == canonicalize_name(name)
    # PEP 700: both keys are there, `versions` without repeats, and one for each file.
    assert raw["meta"]["api-version"] == "1.1" and all(type(row["size"]) is int for row in raw["files"])
    assert len(raw["versions"]) == len(set(raw["versions"]))
    assert sorted(map(Version, raw["versions"])) == [Version(one) for one in raw["versions"]], raw["versions"]
    of_files = set()
    for link, row, package in zip(tree.iter(f"{HTML}a"), raw["files"], by_json.packages, strict=True):
        seen["files"] += 1
        assert set(link.attrib) <= ATTRIBUTES, link.attrib
        assert link.text == package.filename, "PEP 503: the text of a link is the name of the file"
        assert urllib.parse.unquote(urllib.parse.urlsplit(package.url).path).endswith("/" + package.filename)
        assert "%2B" in row["url"] or "+" not in package.filename, row["url"]
        # Not by our own escaping backwards: the parser of Python says what the attribute holds.
        assert link.get("data-requires-python") == row.get("requires-python")
        if package.requires_python is not None:
            SpecifierSet(package.requires_python)
        assert link.get("data-dist-info-metadata") == link.get("data-core-metadata"), "PEP 714: both say the same"
        is_wheel = package.filename.endswith(".whl")
        project, version = (parse_wheel_filename if is_wheel else parse_sdist_filename)(package.filename)[:2]
        assert project == name, package.filename
        of_files.add(version)
        size, digest = file_of(package.url.partition("#")[0])
        assert row["size"] == size == package.size and package.digests == {"sha256": digest}, package.filename
        if "upload-time" in row:
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", row["upload-time"]), row["upload-time"]
            assert package.upload_time is not None
        if package.has_metadata:
            seen["metadata"] += 1
            held = bytes_of(package.metadata_url)
            assert package.metadata_digests == {"sha256": hashlib.sha256(held).hexdigest()}, package.filename
            metadata = Metadata.from_email(held, validate=False)
            assert canonicalize_name(metadata.name) == name and metadata.version == version, package.filename
            wanted = package.requires_python and SpecifierSet(package.requires_python)
            assert metadata.requires_python == wanted, package.filename
    assert of_files == {Version(one) for one in raw["versions"]}, "PEP 700: versions has one for each file"


def main():
    path = ROOT / "index.html"
    links_resolve(path, *strict(path))
    folders = sorted(one.name for one in ROOT.iterdir() if (one / "index.html").is_file())
    for folder in folders:
        path = ROOT / folder / "index.html"
        links_resolve(path, *strict(path))
        projects = sorted(one.name for one in (ROOT / folder).iterdir() if one.is_dir())
        by_json = IndexPage.from_json_data(json.loads((ROOT / folder / "index.json").read_text()))
        assert by_json.projects == projects and by_json.repository_version == "1.1", folder
        with PyPISimple(f"{URL}/{folder}/", accept=ACCEPT_HTML_ONLY) as client:
            assert client.get_index_page().projects == projects, folder
        for project in projects:
            project_is_right(folder, project)
    assert folders and seen["files"], "the index lists nothing"
    print("    read", ", ".join(f"{count} {what}" for what, count in seen.items()))


main()
