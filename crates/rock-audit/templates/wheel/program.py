#!python
import os
import sys
import sysconfig

if __name__ == "__main__":
    program = os.path.join(sysconfig.get_path("platlib"), << folder >>, << name >>)
    os.execv(program, sys.argv)
