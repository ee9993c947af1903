#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What an application's accessibility tree is right now, as JSON.

    walk.py --list
    walk.py (--pid N | --app NAME) [--window SUBSTR] [--extents] [--twice [--by-place]] [--light]
            [--in-flight N] [--child-limit N]

The independent reader for tests of the product: raw D-Bus, no cache, no libatspi.
--pid also finds the application among N's descendants (browsers have wrappers).

Output: {"application": {bus, path, pid, name, child_count}, "count", "elapsed_ms",
"nodes": [...]}, nodes in pre-order: at, depth, bus, path, parent (the parent's position in
the list), index_in_parent, role, role_name, name, description, states, interfaces, actions,
child_count, extents (x, y, width, height; with --extents), errors (by what was asked),
children_skipped (ChildCount beyond --child-limit, default 4096: children are not read),
not_entered (a window that --window does not name), also_under (a second parent).

Exit code: 0; 1 no such application; 3 with --twice, when two reads disagree about which
nodes there are and where; with --by-place about what stands where, whatever its address
(Qt 6.4 gives the items of a tree widget new addresses each time its children are listed).
"""

import argparse
import json
import sys
import time

import atspi


def read(bus, args):
    application = None
    if args.pid is not None:
        for pid in sorted(atspi.children_pids(args.pid), key=lambda p: p != args.pid):
            application = application or bus.find_application(pid=pid)
    else:
        application = bus.find_application(name=args.app)
    if application is None:
        return None
    start = time.monotonic()
    walk = atspi.Walk(bus, application, args.extents, args.window, args.child_limit, args.light)
    nodes = walk.preorder()
    elapsed = (time.monotonic() - start) * 1000
    shown = []
    for node in nodes:
        parent = node["parent"]
        row = {k: v for k, v in node.items() if k not in ("children", "parent")}
        row["parent"] = walk.nodes[parent]["at"] if parent else None
        shown.append(row)
    return walk, {"application": application, "count": len(shown), "elapsed_ms": round(elapsed), "nodes": shown}


def places(found):
    """What stands where, without addresses."""
    return [(n["parent"], n["index_in_parent"], n["role"], n["name"]) for n in found["nodes"]]


def main():
    parser = argparse.ArgumentParser(description="Reads an accessibility tree without any cache.")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--pid", type=int)
    parser.add_argument("--app")
    parser.add_argument("--window")
    parser.add_argument("--extents", action="store_true")
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--by-place", action="store_true")
    parser.add_argument("--light", action="store_true", help="roles, names, states and edges only")
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--child-limit", type=int, default=atspi.CHILD_LIMIT)
    args = parser.parse_args()
    bus = atspi.Bus(args.in_flight)
    if args.list:
        print(json.dumps(bus.applications(), indent=1, ensure_ascii=False))
        return 0
    if args.pid is None and args.app is None:
        parser.error("--pid, --app or --list")
    first = read(bus, args)
    if first is None:
        print("walk.py: no such application on the accessibility bus", file=sys.stderr)
        return 1
    code = 0
    if args.twice:
        second = read(bus, args)
        def differ():
            if args.by_place:
                return places(second[1]) != places(first[1])
            return second[0].shape() != first[0].shape()

        if second is None or differ():
            code = 3
            before, after = first[0].shape(), second[0].shape() if second else set()
            first[1]["disagreement"] = {"only_first": sorted(k[1] for k, *_ in before - after),
                                        "only_second": sorted(k[1] for k, *_ in after - before)}
            print("walk.py: two reads disagree", file=sys.stderr)
    json.dump(first[1], sys.stdout, indent=1, ensure_ascii=False)
    print()
    return code


if __name__ == "__main__":
    sys.exit(main())
