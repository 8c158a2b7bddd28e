"""Imports flash_attn in copies of this process, which has imported torch, for each line of the standard input.

The arguments are what is to be set; without it, the import must fail. Prints what was imported, or what is wrong.
"""

import importlib
import importlib.metadata
import os
import sys

import torch


def succeeds(settings):
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    os.environ.update(setting.split("=", 1) for setting in settings)
    # The standard output is for the answers alone.
    os.dup2(2, 1)
    if not settings:
        # It is meant to fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    import einops  # noqa: F401
    import flash_attn  # noqa: F401

    os._exit(0)


settings = sys.argv[1:]
for _ in sys.stdin:
    # The environment was made again since.
    importlib.invalidate_caches()
    if succeeds([]):
        print(f"flash_attn imports without {settings}, so the pages ask for too much", flush=True)
    elif not succeeds(settings):
        print("flash_attn does not import", flush=True)
    else:
        print("imports with torch", torch.__version__, "as", importlib.metadata.version("flash-attn"), flush=True)
