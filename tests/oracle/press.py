#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Another client of the accessibility bus: presses something, and asks whether the bus still gets an answer.

    press.py --pid N --name TEXT      action 0 of the first element of this name, over the bus
    press.py --pid N                  nothing is pressed

Output: {"replied": bool, "silent": bool}: whether the press was answered within a second, and
whether one read over the bus afterwards was not, also within a second.
Exit code: 0; 1 no such application or element.
"""

import argparse
import json
import sys

import atspi
from gi.repository import Gio, GLib

WAIT_MS = 1000


def answered(bus, *call):
    try:
        bus.call(*call, timeout_ms=WAIT_MS)
        return True
    except GLib.Error as error:
        if error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.TIMED_OUT):
            return False
        raise


def main():
    parser = argparse.ArgumentParser(description="Presses an element over the accessibility bus.")
    parser.add_argument("--pid", type=int, required=True)
    parser.add_argument("--name")
    args = parser.parse_args()
    bus = atspi.Bus()
    replied = None
    application = None
    if args.name is None:
        owners = bus.call(atspi.REGISTRY, atspi.ROOT, atspi.ACC, "GetChildren")
        application = next((name for name, _ in owners if bus.pid_of(name) == args.pid), None)
    else:
        found = bus.find_application(pid=args.pid)
        walk = found and atspi.Walk(bus, found, False, None, 4096, True)
        node = walk and next((n for n in walk.preorder() if n["name"] == args.name), None)
        if node:
            application = found["bus"]
            replied = answered(bus, node["bus"], node["path"], atspi.ACTION, "DoAction", GLib.Variant("(i)", (0,)))
    if application is None:
        print(f"nothing of process {args.pid} to press or ask", file=sys.stderr)
        return 1
    silent = not answered(bus, application, atspi.ROOT, atspi.ACC, "GetRole", None)
    print(json.dumps({"replied": replied, "silent": silent}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
