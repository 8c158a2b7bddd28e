"""Installs wheels that were just built, for the stages that need them. Arguments: glob, how many match."""
import glob
import subprocess
import sys

pattern, count = sys.argv[1], int(sys.argv[2])
wheels = sorted(glob.glob(pattern))
if len(wheels) != count:
    sys.exit(f"{pattern}: {count} expected, {len(wheels)} there")
install = ["-m", "pip", "install", "--no-index", "--no-deps", "--force-reinstall", *wheels]
sys.exit(subprocess.run([sys.executable, *install]).returncode)
