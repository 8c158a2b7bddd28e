"""Writes documents of hostile texts, renders them, and compares them with documents of a plain word.

A text may neither add nor remove an element, nor change where a link leads, nor mention or refer to anything. It must be
readable as it was given.
"""

import argparse
import concurrent.futures
import html.parser
import json
import os
import pathlib
import random
import re
import subprocess
import sys
from urllib.parse import unquote

import cmarkgfm.cmark

PLAIN = "plain"
# Stands for a text in names of files, which have no slashes; their hyphens would be counted.
PLAIN_NAME = "other"
TEXTS = [
    "](javascript:alert(1))",
    "[x](javascript:alert(1))",
    "![x](https://e.org/x.svg)",
    "[x]: https://e.org",
    "[^1]",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</td></tr></table><h1>x</h1>",
    "</summary></details><h1>x</h1>",
    "<!-- x",
    "<https://e.org>",
    "https://e.org/x",
    "HTTPS://e.org",
    "www.e.org",
    "WwW.e.org",
    "ftp://e.org",
    "me@e.org",
    "mailto:me@e.org",
    "xmpp:me@e.org/x",
    "@me and #1",
    "a | b",
    "a \\| b",
    "a \\\\| b",
    "a\\",
    "a `|` b",
    "`a` | `b",
    "``` | ~~~",
    "**a** __b__ *c* _d_ ~~e~~ ~f~",
    "&lt;b&gt; &#91;x&#93;(https://e.org) &amp;",
    "# a",
    "- a",
    "1. a",
    "> a",
    "---",
    "[ ] a",
    "a\n\n# b",
    "a\r| b |\r|---|",
    "a\u2028# b",
    "\u202ea",
    "$x$ and $$y$$",
]
PIECES = [
    *["[", "]", "(", ")", "![", "](", "](https://e.org)", "](javascript:x)", "]: https://e.org", "[x]", "[^1]", "<", ">"],
    *["<b>", "</td>", "</details>", "<!--", "-->", "<a href='https://e.org'>", "<https://e.org>", "https://", "www.", "e.org"],
    *["http", ":", "//", "me@e.org", "mailto:", "xmpp:", "@me", "#1", "|", "\\", "\\|", "`", "``", "```", "*", "**", "_", "~~"],
    *["&lt;", "&#124;", "&", ";", "#", "- ", "1. ", "> ", "---", "|---|", "a", "B", " ", "  ", "\n", "\t", "=", "$", "!", "é"],
]
RANDOM_TEXTS = 160
MATRIX = """version: 1
distribution: flash-attn
recipe: flash-attn
axes:
  flash-attn: ["2.8.3"]
  python: ["3.10", "3.11"]
  torch: ["2.5.1"]
  rocm: ["6.2"]
gfx: [gfx942]
"""
WHEEL = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl"
DOWNLOADS = "https://github.com/o/r/releases/download/"
PAGES = "https://github.com/o/r/releases/tag/"
EXTENSIONS = ["table", "autolink", "strikethrough", "tasklist"]


class Page(html.parser.HTMLParser):
    """The elements of a rendered document, its text, and its text outside of code."""

    def __init__(self, rendered):
        super().__init__()
        self.elements, self.text, self.prose, self.addresses, self.code_depth = [], "", "", [], 0
        self.feed(rendered)
        self.close()

    def handle_starttag(self, tag, attributes):
        address = dict(attributes).get("href")
        if address is not None:
            self.addresses.append(address)
        self.code_depth += tag == "code"
        if tag != "code":
            self.elements.append((tag, [row for row in attributes if row[0] not in ("href", "id")]))

    def handle_endtag(self, tag):
        self.code_depth -= tag == "code"
        if tag != "code":
            self.elements.append(f"/{tag}")

    def handle_data(self, data):
        self.text += data
        self.prose += " " if self.code_depth else data

    def handle_comment(self, data):
        self.elements.append(f"comment {data}")

    def handle_decl(self, declaration):
        self.elements.append(f"declaration {declaration}")

    def handle_pi(self, data):
        self.elements.append(f"instruction {data}")


def cmark(sources):
    """Renders as GitHub does, but without its filter of some elements: none of them may be there."""
    options = cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE
    return [cmarkgfm.cmark.markdown_to_html_with_extensions(source, options=options, extensions=EXTENSIONS) for source in sources]


def marked(sources):
    """Renders as programs of JavaScript do, which have no common form of tables."""
    script = pathlib.Path(__file__).with_name("markdown_marked.cjs")
    done = subprocess.run(["node", script], input=json.dumps(sources), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def without_addresses(text):
    """Returns the text of a document without addresses in commands, where texts are encoded."""
    return re.sub(re.escape(DOWNLOADS) + r"[^\s']*", "", text)


def comparable(text):
    """Returns a text without what documents change on purpose: blanks, invisible characters, and marks of code."""
    return re.sub(r"[\s`\u200b-\u200f\u2028-\u202e\u2060-\u2069]", "", text)


def one_line(text):
    return " ".join(text.split())


def file_name(text):
    return one_line(re.sub(r"[-/\\]", "", text))


def expected(plain, text):
    """Returns the text of a document, made of that with plain words."""
    return comparable(without_addresses(plain).replace(PLAIN, text).replace(PLAIN_NAME, file_name(text)))


def listing(tag, file):
    """Returns a list of one release with a wheel and a file whose name says nothing."""
    assets = [
        {"id": 1, "name": WHEEL, "browser_download_url": f"{DOWNLOADS}v1/{tag}"},
        {"id": 2, "name": f"{file} .whl", "browser_download_url": f"{DOWNLOADS}v1/x"},
    ]
    for asset in assets:
        asset |= {"state": "uploaded", "size": 7, "digest": f"sha256:{asset['id']:064x}"}
    release = {"id": 1, "tag_name": tag, "name": tag, "html_url": f"{PAGES}{tag}"}
    return json.dumps([release | {"published_at": "2026-11-01T00:00:00Z", "assets": assets}])


def texts():
    choose = random.Random(1)
    made = ["".join(choose.choices(PIECES, k=choose.randint(2, 12))) for _ in range(RANDOM_TEXTS)]
    return [*TEXTS, *(text for text in made if comparable(text))]


class Documents:
    def __init__(self, rock, work):
        self.rock, self.work = rock, work
        self.plan = work / "plan.json"
        matrix = work / "flash-attn.yaml"
        matrix.write_text(MATRIX)
        self.run(work, "plan", matrix, "--format", "json", "--out", self.plan)
        # The name of a job cannot be chosen; what it came to can.
        self.jobs = sorted(set(re.findall(r'"(flash-attn-2\.8\.3-rocm6\.2-[^"]*py3\.\d+[^"]*)"', self.plan.read_text())))
        if not self.jobs:
            sys.exit("the plan has no jobs")

    def run(self, folder, *words, codes=(0,), **variables):
        environment = {key: value for key, value in os.environ.items() if key != "GITHUB_ACTIONS"} | variables
        done = subprocess.run([self.rock, *words], capture_output=True, text=True, cwd=folder, env=environment, check=False)
        if done.returncode not in codes:
            sys.exit(f"{words}: {done.returncode}\n{done.stderr}")
        return done.stdout

    def write(self, folder, text):
        """Returns the Markdown of each document, with the text wherever others choose one."""
        folder.mkdir()
        tag, file = one_line(text), PLAIN_NAME if text == PLAIN else file_name(text)
        (folder / "releases.json").write_text(listing(tag, file))
        # Its reason for a yank is in the documents.
        (folder / "indexed.json").write_text(listing(PLAIN, PLAIN_NAME))
        yank = (f"flash-attn==2.8.3: x {tag}", "--apply")
        self.run(folder, "index", "yank", "--published", "indexed.json", "--out", "site", *yank)
        results = [{"job": job, "outcome": "failed", "reason": text} for job in self.jobs]
        (folder / "results.json").write_text(json.dumps(results))
        (folder / "HISTORY.md").write_text("## History\n")
        (folder / "built").mkdir()
        published = ("--published", "releases.json", "--withdrawn-in", "site")
        planned = ("--plan", self.plan, "--results", "results.json")
        self.run(folder, "report", "notes", f"--tag={tag}", *published, "--history", "HISTORY.md")
        return {
            "packages": self.run(folder, "report", "packages", *published),
            "notes": self.run(folder, "report", "notes", f"--tag={tag}", *published, *planned),
            "history": (folder / "HISTORY.md").read_text(),
            "failures": self.run(folder, "report", "failures", *planned, "--built", "built"),
            "summary": self.summary(folder, text),
        }

    def summary(self, folder, text):
        """Returns the faults that `check` writes into the summary of a workflow's job."""
        path = folder / "summary.md"
        path.touch()
        # The summary lists what a step has no annotations left for. An invisible character is an error of its own.
        printable = "".join(c for c in one_line(text) if c.isprintable())
        keys = [json.dumps(f"{printable} {number}") for number in range(12)]
        (folder / "matrix.yaml").write_text(MATRIX + "".join(f"{key}: 1\n" for key in keys))
        self.run(folder, "check", "matrix.yaml", codes=(1,), GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(path))
        return path.read_text()


def differences(text, name, page, plain):
    """Returns how a document of a text differs from that of the plain word."""
    tag = one_line(text)
    for address in page.addresses:
        if not address.startswith("#") and unquote(address) not in (f"{DOWNLOADS}v1/{tag}", f"{PAGES}{tag}"):
            yield f"a link leads to {address}"
    if page.elements != plain.elements:
        yield f"other elements: {page.elements}, expected {plain.elements}"
    elif name != "summary" and comparable(without_addresses(page.text)) != expected(plain.text, text):
        yield f"another text: {page.text!r}"
    if re.search(r"@\w|#\d", page.prose):
        yield f"a mention or a reference: {page.prose!r}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("rock", "work"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    options = parser.parse_args()
    documents = Documents(options.rock.resolve(), options.work.resolve())
    failed, asked = False, [PLAIN, *texts()]
    folders = [documents.work / f"{number:03}" for number in range(len(asked))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        written = list(pool.map(documents.write, folders, asked))
    for name, source in written[0].items():
        if PLAIN not in source:
            sys.exit(f"`{name}` does not contain the text:\n{source}")
    rows = [(text, name, source) for text, sources in zip(asked, written) for name, source in sources.items()]
    for render in (cmark, marked):
        pages = [Page(rendered) for rendered in render([source for _, _, source in rows])]
        plain = dict(zip(written[0], pages))
        found = [
            f"FAIL: {render.__name__}: {text!r}: {name}: {difference}\n{source}"
            for (text, name, source), page in list(zip(rows, pages))[len(plain) :]
            for difference in differences(text, name, page, plain[name])
        ]
        print("".join(f"{fault}\n" for fault in found) + f"    {render.__name__}: {len(rows)} documents, {len(found)} faults")
        failed |= bool(found)
    sys.exit(failed)


main()
