"""Reads scripts by the grammars of tree-sitter: `parse.py FILE...`. Exits with 1 where one does not parse."""
import sys

import tree_sitter
import tree_sitter_batch
import tree_sitter_powershell

grammars = {"ps1": tree_sitter_powershell.language(), "cmd": tree_sitter_batch.language()}
code = 0


def faults(node):
    if node.type == "ERROR" or node.is_missing:
        yield node
    for child in node.children:
        yield from faults(child)


for path in sys.argv[1:]:
    end = path.rsplit(".", 1)[1]
    with open(path, encoding="utf-8-sig") as file:
        text = file.read()
    if end == "cmd":
        # What follows the last `exit /b` is read by no shell.
        text = text[: text.find("\n#=")]
    tree = tree_sitter.Parser(tree_sitter.Language(grammars[end])).parse(text.encode())
    for node in faults(tree.root_node):
        code = 1
        print(f"{path}:{node.start_point.row + 1}: {node.text.decode()[:200]!r} does not parse")
sys.exit(code)
