#!/usr/bin/env python3
"""What release.yml asks of the program `gh`: releases go to the stand-in for GitHub at $GITHUB_API_URL, branches and tags
to the bare repository $REMOTE. `--jq` is jq itself. Anything else that is asked is an error."""

import json
import os
import pathlib
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

API = os.environ["GITHUB_API_URL"]
REPOSITORY = os.environ["GITHUB_REPOSITORY"]
REMOTE = os.environ["REMOTE"]


def git(*words, text=None, **variables):
    """Runs git in the repository that was pushed to."""
    done = subprocess.run(["git", "-C", REMOTE, *words], check=True, capture_output=True, text=True, input=text,
                          env={**os.environ, **variables})
    return done.stdout.strip()


def commit_of(ref):
    """Returns the commit of a reference, or nothing where there is none."""
    try:
        return git("rev-parse", "--verify", "--quiet", f"refs/{ref}")
    except subprocess.CalledProcessError:
        return ""


def move(ref, sha):
    """Moves a tag, of which the stand-in hears as of one that is pushed."""
    git("update-ref", ref, sha)
    call("PUT", f"{API}/_git/{ref.removeprefix('refs/tags/')}/{sha}")


def call(method, address, body=None, kind="application/json"):
    """Sends a request to the stand-in, with the token of the workflow."""
    url = address if address.startswith("http") else f"{API}/repos/{REPOSITORY}/{address}"
    request = urllib.request.Request(url, method=method, data=body)
    request.add_header("Authorization", f"Bearer {os.environ['GH_TOKEN']}")
    if body is not None:
        request.add_header("Content-Type", kind)
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def options(words):
    """Splits words into the plain ones, and options with the values given to each."""
    plain, given = [], {}
    takes_none = {"--draft", "--verify-tag", "--clobber", "--exclude-drafts", "--silent"}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            plain.append(word)
        elif "=" in word and word.startswith("--"):
            given.setdefault(word.split("=")[0], []).append(word.split("=", 1)[1])
        elif word in takes_none:
            given.setdefault(word, []).append("true")
        else:
            given.setdefault(word, []).append(next(rest))
    return plain, given


def show(value, given):
    """Prints an answer, through jq where that is asked for."""
    if "--silent" in given:
        return
    if "--jq" not in given:
        print(json.dumps(value))
        return
    subprocess.run(["jq", "-r", given["--jq"][0]], check=True, text=True, input=json.dumps(value))


def releases():
    return call("GET", "releases?per_page=100")


def release_of(tag):
    return next(release for release in releases() if release["tag_name"] == tag)


def release(words):
    plain, given = options(words)
    command, *rest = plain
    if command == "list":
        rows = [row for row in releases() if not (row["draft"] and "--exclude-drafts" in given)]
        show([{"tagName": row["tag_name"], "isDraft": row["draft"]} for row in rows], given)
    elif command == "create":
        tag = rest[0]
        if not commit_of(f"tags/{tag}"):
            sys.exit(f"tag {tag} doesn't exist in the repo {REPOSITORY}, aborting due to --verify-tag flag")
        body = {"tag_name": tag, "name": given["--title"][0], "draft": True,
                "body": pathlib.Path(given["--notes-file"][0]).read_text()}
        print(call("POST", "releases", json.dumps(body).encode())["html_url"])
    elif command == "upload":
        found = release_of(rest[0])
        there = {asset["name"]: asset["id"] for asset in found["assets"]}
        for path in map(pathlib.Path, rest[1:]):
            if path.name in there:
                call("DELETE", f"releases/assets/{there[path.name]}")
            address = found["upload_url"].split("{")[0] + "?" + urllib.parse.urlencode({"name": path.name})
            call("POST", address, path.read_bytes(), "application/octet-stream")
    elif command == "view":
        show({"assets": release_of(rest[0])["assets"]}, given)
    elif command == "edit":
        body = {"draft": given["--draft"][0] == "true", "make_latest": given["--latest"][0]}
        print(call("PATCH", f"releases/{release_of(rest[0])['id']}", json.dumps(body).encode())["html_url"])
    else:
        sys.exit(f"gh release {command}: not known")


def api(words):
    plain, given = options(words)
    path = plain[0].removeprefix(f"repos/{REPOSITORY}/")
    fields = dict(pair.split("=", 1) for pair in given.get("-f", []) + given.get("-F", []))
    method = given.get("-X", ["POST" if fields else "GET"])[0]
    asked = (method, *path.split("/"))
    match asked:
        case ("GET", "releases", "tags", tag):
            show(call("GET", f"releases/tags/{tag}"), given)
        case ("GET", "git", "ref", kind, name):
            if not (sha := commit_of(f"{kind}/{name}")):
                sys.exit("gh: Not Found (HTTP 404)")
            show({"object": {"sha": sha}}, given)
        case ("POST", "git", "trees"):
            content = pathlib.Path(fields["tree[][content]"].removeprefix("@")).read_text()
            blob = git("hash-object", "-w", "--stdin", text=content)
            index = {"GIT_INDEX_FILE": f"{REMOTE}/index-of-a-tree"}
            git("read-tree", fields["base_tree"], **index)
            git("update-index", "--add", "--cacheinfo", f"{fields['tree[][mode]']},{blob},{fields['tree[][path]']}", **index)
            show({"sha": git("write-tree", **index)}, given)
        case ("POST", "git", "commits"):
            sha = git("-c", "user.name=github", "-c", "user.email=noreply@github.com", "commit-tree", fields["tree"],
                      "-p", fields["parents[]"], "-m", fields["message"])
            show({"sha": sha}, given)
        case ("PATCH", "git", "refs", "tags", name) if commit_of(f"tags/{name}") and fields["force"] == "true":
            move(f"refs/tags/{name}", fields["sha"])
        case ("POST", "git", "refs") if not commit_of(fields["ref"].removeprefix("refs/")):
            move(fields["ref"], fields["sha"])
        case _:
            sys.exit(f"gh api {method} {path}: not known")


try:
    {"release": release, "api": api}[sys.argv[1]](sys.argv[2:])
except urllib.error.HTTPError as fault:
    sys.exit(f"gh: {json.load(fault)['message']} (HTTP {fault.code})")
