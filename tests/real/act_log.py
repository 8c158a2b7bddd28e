"""Reads what `act --json` wrote: `act_log.py WHAT LOG [JOB]`.

text: the log for people; results: how each job ended, sorted; errors: what steps reported as such; summary JOB: what the
steps of a job wrote for its page.
"""

import json
import sys

what, log, *rest = sys.argv[1:]
entries = []
for line in open(log, encoding="utf-8"):
    # What ends act goes to the same stream, as text.
    entries.append(json.loads(line) if line.startswith("{") else {"msg": line})

if what == "text":
    for entry in entries:
        for line in entry["msg"].splitlines():
            print(f"{entry.get('job', 'act').strip():<28} {line}")
elif what == "results":
    # The name of a leg is the first of what the matrix has.
    ended = [entry for entry in entries if "jobResult" in entry]
    print("\n".join(sorted(" ".join([e["jobID"], *e["matrix"].get("id", "").split(), e["jobResult"]]) for e in ended)))
elif what == "summary":
    print("".join(e["content"] for e in entries if e.get("command") == "summary" and e.get("jobID") == rest[0]))
elif what == "errors":
    for entry in entries:
        if entry.get("command") == "error":
            print(entry["raw"].rstrip())
