#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Live facts of one accessible object, as JSON.

    node.py --bus NAME --path PATH

Role, name, description, states, interfaces, parent, index, child count, attributes, and by
interface: actions, text (with caret and character_count), value {current, minimum, maximum,
increment}, selected [{bus, path, name}], cell_position, extents (screen). What could not be
read stands in `errors`. Exit code 1 when the object does not answer GetRole.
"""

import argparse
import json
import sys

import atspi


def main():
    parser = argparse.ArgumentParser(description="Reads one accessible object without any cache.")
    parser.add_argument("--bus", required=True, help="unique bus name, such as :1.5")
    parser.add_argument("--path", required=True)
    args = parser.parse_args()
    found = atspi.facts(atspi.Bus(), args.bus, args.path)
    json.dump(found, sys.stdout, indent=1, ensure_ascii=False)
    print()
    return 0 if "role" in found else 1


if __name__ == "__main__":
    sys.exit(main())
