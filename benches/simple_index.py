"""The peer of benches/index.py: the pages of a package index from the manifests of releases, written well in Python.

    python3 -I benches/simple_index.py RELEASES SITE

Does what `rock-matrix index build --published RELEASES --out SITE` does of it: reads the manifests; takes every name
apart with `packaging`, as pip does, and holds it against its row; refuses a name twice and a digest that is none; sorts
by folder, project, version and Python; escapes; writes the pages as HTML and as JSON. It opens no wheel, hashes nothing,
syncs nothing and replaces nothing as a whole.
"""

import html
import itertools
import json
import os
import re
import sys
import urllib.parse

from packaging.utils import parse_wheel_filename

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="pypi:repository-version" content="1.0">
<meta name="generator" content="rock-matrix index">
<meta name="viewport" content="width=device-width">
<style>a {{ overflow-wrap: anywhere; }}</style>
<title>{}</title>
</head>
<body>
"""
TAIL = "</body>\n</html>\n"


def line(row, url):
    python = row["requires_python"]
    python = f' data-requires-python="{html.escape(python)}"' if python else ""
    return f'<a href="{url}#sha256={row["sha256"]}"{python}>{html.escape(row["name"])}</a><br>\n'


def entry(row, url):
    file = {"filename": row["name"], "url": url, "hashes": {"sha256": row["sha256"]}}
    if row["requires_python"]:
        file["requires-python"] = row["requires_python"]
    file["size"] = row["size_bytes"]
    return file


def write(path, text):
    with open(path, "w", encoding="utf-8") as page:
        page.write(text)


def write_json(path, document):
    write(path, json.dumps(document, indent=2) + "\n")


def numbered(tag):
    letters, major, minor = re.fullmatch(r"(\D*)(\d?)(\d*)", tag).groups()
    return letters, int(major or 0), int(minor or 0)


def key(row):
    """What a file is sorted by; fails on a row that contradicts its name."""
    project, version, _, _ = parse_wheel_filename(row["name"])
    if (project, version.public, version.local) != (row["distribution"], row["version"], row["label"]):
        sys.exit(f"{row['name']} is another file than its row says")
    if len(bytes.fromhex(row["sha256"])) != 32:
        sys.exit(f"{row['name']} has no digest")
    return row["index"], project, version, [numbered(tag) for tag in row["python"] + row["abi"]], row["name"]


def main():
    releases, site = sys.argv[1:]
    rows = []
    steps = os.path.relpath(releases, site)
    for tag in sorted(os.listdir(releases)):
        with open(os.path.join(releases, tag, "rock-manifest.json"), encoding="utf-8") as manifest:
            base = f"../../{steps}/{urllib.parse.quote(tag)}/"
            for row in json.load(manifest)["files"]:
                rows.append((row, base + urllib.parse.quote(row["name"], safe=""), key(row)))
    if len({row["name"].lower() for row, _, _ in rows}) != len(rows):
        sys.exit("two files have one name")
    rows.sort(key=lambda entry: entry[2])
    meta = {"api-version": "1.1"}
    landing = []
    for folder, of_folder in itertools.groupby(rows, lambda entry: entry[2][0]):
        place = os.path.join(site, folder)
        projects = []
        for project, files in itertools.groupby(of_folder, lambda entry: entry[2][1]):
            files = list(files)
            projects.append(project)
            os.makedirs(os.path.join(place, project))
            versions = list(dict.fromkeys(str(file_key[2]) for _, _, file_key in files))
            lines = "".join(line(row, url) for row, url, _ in files)
            page = HEAD.format(f"{html.escape(project)} in {html.escape(folder)}") + lines + TAIL
            write(os.path.join(place, project, "index.html"), page)
            document = {"meta": meta, "name": project, "versions": versions, "files": [entry(row, url) for row, url, _ in files]}
            write_json(os.path.join(place, project, "index.json"), document)
            shown = ", ".join(f"<code>{html.escape(version)}</code>" for version in reversed(versions))
            landing.append(f"<h2>{html.escape(folder)}</h2>\n<pre><code>pip install {project} --no-deps</code></pre>\n<p>{shown}</p>\n")
        lines = "".join(f'<a href="{project}/">{project}</a><br>\n' for project in projects)
        write(os.path.join(place, "index.html"), HEAD.format(html.escape(folder)) + lines + TAIL)
        write_json(os.path.join(place, "index.json"), {"meta": meta, "projects": [{"name": name} for name in projects]})
    write(os.path.join(site, "index.html"), HEAD.format("Wheels") + "".join(landing) + TAIL)


main()
