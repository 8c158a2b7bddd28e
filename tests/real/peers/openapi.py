"""Compares requests and answers recorded by the stand-in for GitHub with GitHub's OpenAPI description.

usage: openapi.py api.github.com.json REPOSITORY --others others.jsonl exchanges.jsonl...

Every request must be an operation of the description, with parameters and a body that fit its schemas; those of --others
may be malformed where the answer says so. Every answer must have a status that the operation documents, or one that any
operation may give, and a body that fits the schema of that status. Every path that the Rust files of REPOSITORY send to
GitHub must have been requested, and every status that the description has for such an operation must have been answered,
but for those of UNREACHED.
"""

import argparse
import collections
import json
import pathlib
import re
import sys
from urllib.parse import parse_qs, unquote, urlsplit

import jsonschema

# GitHub Docs, "Troubleshooting the REST API", "Rate limits" and "Best practices" (redirects): any operation may answer these.
ANYWHERE = {301, 307, 400, 401, 403, 404, 411, 415, 422, 429}
# Statuses that the recording must contain, so that errors are compared, too.
STATUSES = {200, 201, 204, 301, 302, 307, 400, 401, 403, 404, 408, 422, 429, 500, 502, 503}
# Statuses of the description that are not recorded, by operation, and why.
UNREACHED = {
    ("*", "304"): "the program sends no conditional requests",
    ("*", "409"): "no repository of the stand-in is empty",
    ("*", "500"): "recorded for some operation: all have one shape",
    ("*", "503"): "recorded for some operation: all have one shape",
    ("rate-limit/get", "404"): "only on servers without limits",
    ("repos/get", "403"): "only for repositories that GitHub has disabled",
    ("repos/get-content", "302"): "only for submodules and large files",
    ("repos/get-content", "403"): "only for files over 100 MB",
    ("repos/get-release-asset", "200"): "the stand-in sends every client to its other host",
}
# Operations of the stand-in that are no part of the REST API.
ELSEWHERE = {"storage", "download"}
# GitHub Docs, "Upload a release asset": a failed upload may leave an asset with the state `starter`, which the schema lacks.
STARTER = "'starter' is not one of ['uploaded', 'open']"
# Folders with requests to the API.
SOURCES = ("crates/rock-github/src", "crates/rock-publish/src", "src/cli")
# Methods of the client and of octocrab that take a path, by the HTTP method that they send.
METHODS = {"get": "GET", "pages": "GET", "at": "GET", "post": "POST", "patch": "PATCH"}
# The requests of octocrab's builders, by the methods that are called on its handler of a repository.
BUILDERS = {
    "get_ref": ("GET", "/git/ref/tags/*"),
    "get_tag": ("GET", "/git/tags/*"),
    "delete_ref": ("DELETE", "/git/refs/tags/*"),
    "immutable_releases": ("GET", "/immutable-releases"),
    "environments.get": ("GET", "/environments/*"),
    "releases.delete": ("DELETE", "/releases/*"),
    "release_assets.delete": ("DELETE", "/releases/assets/*"),
}


class Description:
    """The operations of a description, with its schemas as JSON Schema."""

    def __init__(self, document):
        self.document = document
        self.operations = []
        for path, methods in document["paths"].items():
            # A tag and the path of a file may contain slashes.
            pattern = re.sub(r"\\\{(ref|path|tag)\\\}", r"(?P<\1>.+)", re.escape(path))
            pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", pattern)
            for method, operation in methods.items():
                if method in ("get", "post", "patch", "put", "delete"):
                    self.operations.append((path.count("{"), method.upper(), re.compile(pattern + "$"), operation))
        # A path without variables comes before one with some.
        self.operations.sort(key=lambda row: row[0])

    def resolve(self, node):
        while isinstance(node, dict) and "$ref" in node:
            target = self.document
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[unquote(part).replace("~1", "/").replace("~0", "~")]
            node = target
        return node

    def schema(self, node, open_references=()):
        """Returns a schema of OpenAPI 3.0 as JSON Schema, with references resolved and `nullable` as a type."""
        reference = node.get("$ref") if isinstance(node, dict) else None
        if reference in open_references:
            return {}
        if reference:
            open_references = (*open_references, reference)
        node = self.resolve(node)
        if not isinstance(node, dict):
            return node
        schema = {}
        for key, value in node.items():
            if key == "properties":
                schema[key] = {name: self.schema(inner, open_references) for name, inner in value.items()}
            elif key in ("items", "additionalProperties", "not"):
                schema[key] = self.schema(value, open_references)
            elif key in ("allOf", "anyOf", "oneOf"):
                # Alternatives of the description overlap.
                schema["anyOf" if key == "oneOf" else key] = [self.schema(inner, open_references) for inner in value]
            elif key not in ("nullable", "example", "examples", "default", "deprecated", "readOnly"):
                schema[key] = value
        if node.get("nullable"):
            return {"anyOf": [schema, {"type": "null"}]}
        return schema

    def component(self, name):
        return self.schema({"$ref": f"#/components/schemas/{name}"})

    def operation(self, method, path):
        for _, known, pattern, operation in self.operations:
            found = pattern.match(path)
            if known == method and found:
                return operation, found.groupdict()
        return None, {}


def problems_of(value, schema, subject):
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    for error in validator.iter_errors(value):
        if error.message == STARTER:
            continue
        place = "/".join(str(part) for part in error.absolute_path)
        yield f"{subject} at `{place}`: {error.message[:300]}"


def parameter_value(text, schema):
    """Returns the text of a parameter as the type that its schema names."""
    if schema.get("type") == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    if schema.get("type") == "boolean" and text in ("true", "false"):
        return text == "true"
    return text


def request_problems(description, operation, variables, exchange, query):
    known = {}
    for parameter in operation.get("parameters", []):
        parameter = description.resolve(parameter)
        known[(parameter["in"], parameter["name"])] = parameter
    given = {("path", name): unquote(value) for name, value in variables.items()}
    given |= {("query", name): values[0] for name, values in query.items()}
    for key, text in given.items():
        if key not in known:
            yield f"the request has the {key[0]} parameter `{key[1]}`, which is not described"
            continue
        schema = description.schema(known[key].get("schema", {}))
        yield from problems_of(parameter_value(text, schema), schema, f"the parameter `{key[1]}`")
    for key, parameter in known.items():
        if parameter.get("required") and key[0] in ("path", "query") and key not in given:
            yield f"the request lacks the {key[0]} parameter `{key[1]}`"
    body = description.resolve(operation.get("requestBody"))
    if body is None and exchange["request_body"] is not None:
        yield "the request has a body, and the operation describes none"
    if body is not None and "application/json" in body["content"]:
        schema = description.schema(body["content"]["application/json"]["schema"])
        if exchange["request_body"] is None:
            if body.get("required"):
                yield "the request has no body"
        else:
            yield from problems_of(exchange["request_body"], schema, "the body of the request")
            others = set(exchange["request_body"]) - set(schema.get("properties", {}))
            if others and "properties" in schema:
                yield f"the body of the request has fields that are not described: {sorted(others)}"


def error_problems(description, exchange):
    """Compares an error that the operation does not describe with the schemas of errors."""
    status, body = exchange["status"], exchange["answer_body"]
    is_validation = status == 422 and isinstance(body, dict) and "errors" in body
    schema = description.component("validation-error" if is_validation else "basic-error")
    yield from problems_of(body, {**schema, "required": ["message", "documentation_url"]}, f"the answer {status}")


def answer_problems(description, operation, exchange):
    status, responses, kind = exchange["status"], operation["responses"], exchange["content_type"] or ""
    described = responses.get(str(status))
    if (status in (403, 408, 411) or status >= 500) and kind.startswith("text/html"):
        # A proxy in front of the API gave it.
        return
    if status >= 500 and described is None:
        # No operation describes those that the API gives itself.
        schema = description.component("basic-error")
        yield from problems_of(exchange["answer_body"], {**schema, "required": ["message"]}, f"the answer {status}")
        return
    if described is None:
        if status not in ANYWHERE:
            yield f"the answer {status} is not described"
        elif status in (301, 307):
            schema = description.component("basic-error")
            yield from problems_of(exchange["answer_body"], {**schema, "required": ["message", "url"]}, f"the answer {status}")
        else:
            yield from error_problems(description, exchange)
        return
    content = description.resolve(described).get("content", {})
    if kind.startswith("application/vnd.github.raw"):
        # GitHub Docs, "Media types": `raw` instead of JSON, which the description does not list.
        if not (exchange["accept"] or "").startswith("application/vnd.github.raw"):
            yield "the answer is raw, and the request does not accept that"
    elif "application/json" in content:
        if not kind.startswith("application/json"):
            yield f"the answer {status} has the media type `{kind}`"
        schema = description.schema(content["application/json"]["schema"])
        yield from problems_of(exchange["answer_body"], schema, f"the answer {status}")
        if status >= 400:
            yield from error_problems(description, exchange)
    elif status >= 400:
        # Described in words only; every error of the API has a body.
        yield from error_problems(description, exchange)
    elif exchange["answer_body"] is not None:
        yield f"the answer {status} has a body, and none is described"


def requests_in_sources(folder):
    """Returns the method and path of each request in the sources of the client, with `*` for a variable."""
    found, unread = set(), []
    call = r"\b(" + "|".join(METHODS) + r")(?:::<[^>]*>)?\(\s*&"
    # A method of a chain, with calls without arguments of their own as its arguments.
    link = r"\s*\.(\w+)\((?:[^()]|\([^()]*\))*\)"
    files = [file for sources in SOURCES for file in sorted(folder.glob(f"{sources}/**/*.rs"))]
    for file in files:
        text = file.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
        text = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
        for literal in re.finditer(r'format!\(\s*"(/repos/[^"]*)"', text):
            written = literal[1].split("?")[0]
            before, after = text[: literal.start()], text[literal.end() :]
            method = re.search(call + r"$", before)
            if method is None and re.search(r"let path = $", before):
                method = re.search(call + r"path\b", after)
                fetch = re.search(r"\.at\(&path\)", after)
                if fetch and (method is None or fetch.start() <= method.start()):
                    method = fetch
            if method is None:
                unread.append(f"{file}: {literal[0]}")
                continue
            name = method[1] if method.re.groups else "at"
            found.add((METHODS[name], re.sub(r"\{[^}]*\}", "*", written.replace("/repos/{}", "/repos/*/*"))))
        literals = len(re.findall(r'"/repos/', text))
        if literals != len(re.findall(r'format!\(\s*"/repos/', text)):
            unread.append(f"{file}: a path that `format!` does not write")
        for chain in re.finditer(r"\bhandler(?:\(\))?((?:" + link + ")+)", text):
            builder = ".".join(re.findall(link, chain[1]))
            if builder not in BUILDERS:
                unread.append(f"{file}: handler.{builder}")
                continue
            method, path = BUILDERS[builder]
            found.add((method, "/repos/*/*" + path))
    if "caller.api.upload(" in "".join(file.read_text(encoding="utf-8") for file in files):
        found.add(("POST", "/repos/*/*/releases/*/assets"))
    return found, unread


def check(description, exchanges, may_be_malformed=False):
    """Returns the problems, and how often each operation gave each status. A request that `may_be_malformed` need not fit
    where the answer rejects it."""
    problems, counts = [], collections.Counter()
    for exchange in exchanges:
        # An answer with status 0 was cut before it began.
        if exchange["operation"] in ELSEWHERE or exchange["status"] == 0:
            continue
        address = urlsplit(exchange["url"])
        # A renamed repository and further pages are addressed by number (GitHub Docs, "Best practices", "Follow redirects").
        path = re.sub(r"^/repositories/\d+", "/repos/owner/name", address.path)
        operation, variables = description.operation(exchange["method"], path)
        name = f"{exchange['method']} {path}"
        if operation is None:
            problems.append(f"{name}: there is no such operation")
            continue
        counts[operation["operationId"], exchange["status"]] += 1
        query = parse_qs(address.query, keep_blank_values=True)
        found = list(answer_problems(description, operation, exchange))
        if not may_be_malformed or exchange["status"] not in (400, 422):
            found += request_problems(description, operation, variables, exchange, query)
        problems += [f"{name}: {problem}" for problem in found]
    return problems, counts


def unreached(description, operations, counts):
    """Returns the statuses of these operations that the description has and no answer had."""
    for _, _, _, operation in description.operations:
        name = operation["operationId"]
        if name not in operations:
            continue
        for status in operation["responses"]:
            is_known = ("*", status) in UNREACHED or (name, status) in UNREACHED
            if not is_known and not counts[name, int(status)]:
                yield f"no answer of {name} has the status {status}, which is described"


def read(paths):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            yield from map(json.loads, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("description")
    parser.add_argument("sources", type=pathlib.Path)
    parser.add_argument("--others", required=True)
    parser.add_argument("exchanges", nargs="+")
    arguments = parser.parse_args()
    with open(arguments.description, encoding="utf-8") as file:
        description = Description(json.load(file))
    problems, counts = check(description, read(arguments.exchanges))
    reached = {operation for operation, status in counts if status < 400}
    sent, unread = requests_in_sources(arguments.sources)
    problems += [f"cannot read the request at {place}" for place in unread]
    for method, path in sorted(sent):
        operation, _ = description.operation(method, path.replace("*", "x"))
        if operation is None:
            problems.append(f"the program sends {method} {path}, which is no operation")
        elif operation["operationId"] not in reached:
            problems.append(f"the program sends {method} {path}, and no exchange of it was recorded")
    problems_of_others, counts_of_others = check(description, read([arguments.others]), may_be_malformed=True)
    problems += problems_of_others
    counts += counts_of_others
    problems += unreached(description, reached, counts)
    problems += [f"no answer has the status {status}" for status in sorted(STATUSES - {status for _, status in counts})]
    for problem in sorted(set(problems)):
        print(problem)
    errors = sum(number for (_, status), number in counts.items() if status >= 400)
    print(f"    {len(sent)} kinds of requests in the sources, {len(reached)} operations that the program used")
    print(f"    {sum(counts.values())} exchanges, {errors} of them errors, {len(counts)} pairs of operation and status")
    print(f"    {len(set(problems))} problems")
    sys.exit(1 if problems or len(sent) < 20 else 0)


main()
