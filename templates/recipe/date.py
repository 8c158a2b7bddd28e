# The time of the newest commit of `tree`, where it is under git, for archives that the build makes.
note = inside(f"facts/source_date.{os.path.basename(target)}", "the time of the sources is not noted", follow=False)
if os.path.lexists(note):
    os.remove(note)
try:
    log = ["git", "-c", "safe.directory=*", "-C", tree, "log", "-1", "--format=%ct", "HEAD", "--", "."]
    date = int(subprocess.run(log, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
except (OSError, ValueError):
    date = None
if date is not None:
    os.makedirs(os.path.dirname(note), exist_ok=True)
    with open(note, "w") as file:
        file.write(str(date))
