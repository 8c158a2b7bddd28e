"""Runs one step of a build where there are no POSIX tools.

Arguments: the stage, options, `--`, then the command. Its words are as they stand, but for `@=TEXT`, which is the text;
`@?TEXT`, which is left out where the text is empty; and `@<NAME`, which is what the file words/NAME holds, with `@{NAME}`
in it for a variable and `@{}` for the sign itself. The step is done when the file done/STAGE is there.

Or looks, before the first step, at what a step would fail for hours later. Arguments: `--look`, how many characters the
job's folder may have and why, then a name and a path for each source that is copied.
"""
import argparse
import ctypes
import glob
import os
import re
import shutil
import stat
import subprocess
import sys


def of_file(name):
    with open(os.path.join("words", name), encoding="utf-8", newline="") as file:
        return re.sub(r"@\{(\w*)\}", lambda found: os.environ.get(found[1], "") if found[1] else "@", file.read())


def words_of(arguments):
    for word in arguments:
        if word.startswith("@<"):
            yield of_file(word[2:])
        elif not word.startswith(("@=", "@?")):
            yield word
        elif word != "@?":
            yield word[2:]


def memory_bytes():
    if os.name != "nt":
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    # MEMORYSTATUSEX: two DWORDs, then seven DWORDLONGs of which the first is the memory there is.
    status = (ctypes.c_uint64 * 8)(ctypes.sizeof(ctypes.c_uint64) * 8)
    ctypes.windll.kernel32.GlobalMemoryStatusEx(status)
    return status[1]


def remove(path):
    def writable(function, path, _):
        os.chmod(path, stat.S_IWRITE)
        function(path)

    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, **{"onexc" if sys.version_info >= (3, 12) else "onerror": writable})
    elif os.path.lexists(path):
        os.remove(path)


def end(process):
    if os.name == "nt":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], stdout=subprocess.DEVNULL)
    process.kill()
    process.wait()


def say(text):
    print(f"== {text}", flush=True)


def run(stage, command, folder, seconds):
    try:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL)
    except OSError as error:
        say(f"{stage}: {command[0]}: {error}")
        return 127
    try:
        return process.wait(seconds or None)
    except subprocess.TimeoutExpired:
        end(process)
        say(f"{stage}: more than {seconds} s")
        return 1
    except KeyboardInterrupt:
        end(process)
        sys.exit(130)


def look(longest, reason, *sources):
    folder = os.getcwd()
    if len(folder) > int(longest):
        say(f"warning: {folder} has {len(folder)} characters, more than {longest}: {reason}")
        say("ROCK_FOLDER names a shorter folder")
    missing = [(name, path) for name, path in zip(sources[::2], sources[1::2]) if not os.path.exists(path)]
    for name, path in missing:
        say(f"the source {name} is to come from {path}, which is not there")
    return 1 if missing else 0


if sys.argv[1] == "--look":
    sys.exit(look(*words_of(sys.argv[2:])))
split = sys.argv.index("--")
parser = argparse.ArgumentParser()
parser.add_argument("stage")
parser.add_argument("--seconds", type=int, default=0)
parser.add_argument("--tries", type=int, default=1)
parser.add_argument("--cwd", default=".")
parser.add_argument("--clean", action="append", default=[])
parser.add_argument("--expect", action="append", default=[], nargs=2, metavar=("GLOB", "COUNT"))
parser.add_argument("--jobs", nargs=3, metavar=("VARIABLE", "COUNT", "TENTHS_OF_GIB"))
options = parser.parse_args(sys.argv[1:split])
mark = os.path.join("done", options.stage)
remove(mark)
for path in options.clean:
    remove(path)
if options.jobs and not os.environ.get(options.jobs[0]):
    variable, count, tenths = options.jobs[0], *map(int, options.jobs[1:])
    os.environ[variable] = str(count or max(1, min(os.cpu_count() or 1, memory_bytes() * 10 // 2**30 // tenths)))
if not os.environ.get("SOURCE_DATE_EPOCH"):
    # Archives get the time of the newest commit of the sources, else the first that a zip archive can hold.
    dates = [int(open(path).read()) for path in glob.glob("facts/source_date.*")]
    os.environ["SOURCE_DATE_EPOCH"] = str(max(dates, default=315532800))
command = list(words_of(sys.argv[split + 1 :]))
# Windows looks for programs that end in .exe only.
command[0] = shutil.which(command[0]) or command[0]
for left in reversed(range(options.tries)):
    say(options.stage)
    code = run(options.stage, command, options.cwd, options.seconds)
    if code == 0:
        break
    say(f"{options.stage}: failed with {code}" + (", trying again" if left else ""))
else:
    sys.exit(code if 0 < code < 256 else 1)
for pattern, count in options.expect:
    found = glob.glob(pattern)
    if len(found) != int(count):
        say(f"{count} expected for {pattern}, {len(found)} there")
        sys.exit(1)
open(mark, "w").close()
