"""Stands in for the module of the ROCm SDK: says what it is asked, and notes what a process preloads."""
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent / "_rocm_sdk_devel"
VERSION = "7.14.0"


def initialize_process(*, preload_shortnames, check_version):
    (HERE / "preloaded.json").write_text(json.dumps([preload_shortnames, check_version]))
    if check_version != VERSION:
        raise RuntimeError(f"the SDK is {VERSION}, not {check_version}")


def main():
    folders = {"--root": ROOT, "--cmake": ROOT / "lib" / "cmake", "--bin": ROOT / "bin"}
    words = {("version",): VERSION, ("targets",): os.environ.get("SDK_TARGETS", "gfx942 gfx1151")}
    words.update((("path", option), folder) for option, folder in folders.items())
    print(words[tuple(sys.argv[1:])])
