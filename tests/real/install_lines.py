"""Prints each line for a shell that documents print, once. Arguments: the address of the index, and the documents: HTML
of a landing page or of a wheel finder, Markdown, or what `pick` printed."""
import json
import pathlib
import re
import sys
from html.parser import HTMLParser


class Code(HTMLParser):
    """The texts of `pre` elements."""

    def __init__(self):
        super().__init__()
        self.texts, self.depth = [], 0

    def handle_starttag(self, tag, attrs):
        if tag == "pre":
            self.depth += 1
            self.texts.append("")

    def handle_endtag(self, tag):
        self.depth -= tag == "pre"

    def handle_data(self, data):
        if self.depth:
            self.texts[-1] += data


def of_finder(text):
    """The lines that the script of the page makes of its data."""
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S).group(1))
    values, columns = data["values"], data["columns"]
    for at in range(len(columns["sha256"])):
        value = {name: values[name][columns[name][at]] for name in values}
        label = value["label"] and "+" + value["label"]
        name = f"{value['distribution'][0]}-{value['version']}{label}-{value['tags']}.whl"
        url = value["release"][1] + name.replace("+", "%2B")
        yield f"pip install {url}"
        if value["official_torch"]:
            requirement, index = value["official_torch"]
            yield f"pip install {requirement} {url} --extra-index-url {index}"
        yield from (f"export {one}" for one in (value["run_time"] or ["", []])[1])


def lines(path, index):
    text = path.read_text(encoding="utf-8")
    if path.name == "finder.html":
        yield from of_finder(text)
    elif path.suffix == ".html":
        code = Code()
        code.feed(text)
        for block in code.texts:
            yield from block.replace("ADDRESS-OF-THIS-PAGE/", index).splitlines()
    else:
        yield from text.splitlines()


index, *paths = sys.argv[1:]
seen = []
for path in map(pathlib.Path, paths):
    found = [line.strip() for line in lines(path, index)]
    found = [line for line in found if line.startswith(("pip install ", "export "))]
    if not found:
        sys.exit(f"{path} prints no line")
    seen += [line for line in found if line not in seen]
print("\n".join(seen))
