"""The METADATA that packaging's tests read, recorded while they run, and what packaging says of it."""

import importlib
import inspect
import re
import sys

import pytest
from packaging import metadata
from packaging.errors import ExceptionGroup
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

UPLOAD = "PyPI checks it at upload; pip and uv do not read it"
# Fields that packaging finds invalid, and `wheel verify` does not look at.
UNREAD = {
    **dict.fromkeys(["author", "author-email", "content-type", "description", "description-content-type"], UPLOAD),
    **dict.fromkeys(["download-url", "dynamic", "home-page", "import-name", "import-namespace", "license"], UPLOAD),
    **dict.fromkeys(["license-expression", "license-file", "maintainer", "maintainer-email", "project-url"], UPLOAD),
    "provides-extra": "pip and uv ignore an invalid extra",
    "summary": "PyPI refuses U+2028 in it, which is no line break in METADATA",
    "metadata-version": "wheel before 0.31 wrote 2.0; 1.3 is as harmless",
    **dict.fromkeys(["hello", "thisisnotreal", "unknown-field", "whatever"], "an unknown header is one of a later specification"),
}
REQUIRED = {"metadata-version": "Metadata-Version: 2.6", "name": "Name: demo", "version": "Version: 1.0"}


def document(raw):
    """Returns raw fields as METADATA, or None where a value cannot be written as headers."""
    lines = []
    for key, value in raw.items():
        header = metadata._RAW_TO_EMAIL_MAPPING.get(key)
        if header is None or key == "description":
            continue
        if isinstance(value, dict):
            value = [f"{label}, {address}" for label, address in value.items()]
        elif key == "keywords":
            value = [",".join(value)]
        for one in [value] if isinstance(value, str) else value:
            if "\n" in one or "\r" in one:
                return None
            lines.append(f"{header}: {one}\n")
    return "".join(lines) + ("\n" + raw["description"] if "description" in raw else "")


def headers(text):
    """Returns the values of each header by its name."""
    found = {}
    for line in re.split(r"\r?\n\r?\n", text, maxsplit=1)[0].splitlines():
        name, colon, value = line.partition(":")
        if colon and not line.startswith((" ", "\t")):
            found.setdefault(name.lower(), []).append(value.strip())
    return found


def completed(content):
    """Returns the document as it is if at most one required header is missing, and with all of them."""
    known = headers(content.decode(errors="replace"))
    missing = [line for name, line in REQUIRED.items() if name not in known]
    if len(missing) <= 1 or not content:
        yield content
    if missing:
        # A text without a header is a description.
        separator = "\n" if not known and not content.startswith(b"\n") else ""
        yield ("\n".join(missing) + "\n" + separator).encode() + content


def recorded(tests):
    """Runs packaging's tests of metadata, and returns every document that they read."""
    documents = []

    def keep(data):
        documents.append(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))

    parse_email, from_email, from_raw = metadata.parse_email, metadata.Metadata.from_email.__func__, metadata.Metadata.from_raw.__func__

    def recording_parse_email(data):
        keep(data)
        return parse_email(data)

    def recording_from_email(cls, data, *, validate=True):
        keep(data)
        return from_email(cls, data, validate=validate)

    def recording_from_raw(cls, data, *, validate=True):
        text = document(data) if inspect.stack()[1].filename.endswith("test_metadata.py") else None
        if text is not None:
            keep(text)
        return from_raw(cls, data, validate=validate)

    metadata.parse_email = recording_parse_email
    metadata.Metadata.from_email = classmethod(recording_from_email)
    metadata.Metadata.from_raw = classmethod(recording_from_raw)
    try:
        code = pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", str(tests / "tests" / "test_metadata.py")])
    finally:
        metadata.parse_email = parse_email
        metadata.Metadata.from_email, metadata.Metadata.from_raw = classmethod(from_email), classmethod(from_raw)
    if code != 0:
        sys.exit("packaging's own tests fail")
    return list(dict.fromkeys(whole for content in documents for whole in completed(content)))


def invalid_fields(content):
    """Returns the fields that packaging finds invalid; none for valid METADATA."""
    try:
        metadata.Metadata.from_email(content, validate=True)
        return []
    except ExceptionGroup as group:
        return sorted({error.field for error in group.exceptions})


def wheel_name(content):
    """Returns the project and version that a wheel of this METADATA is named after."""
    known = headers(content.decode(errors="replace"))
    try:
        project = canonicalize_name(known["name"][0], validate=True).replace("-", "_")
    except (KeyError, InvalidName):
        project = "demo"
    try:
        version = str(Version(known["version"][0]))
    except (KeyError, InvalidVersion):
        version = "1.0"
    return project, version
