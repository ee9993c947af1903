#!/usr/bin/python3
"""Reads an application with libatspi, without its cache's help: role, name, description, states, interfaces and actions
of every node, with --bounds also extents. Prints how many nodes there were."""
import sys

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

CHILD_LIMIT = 4096


def main():
    pid, bounds = int(sys.argv[1]), "--bounds" in sys.argv[2:]
    Atspi.init()
    desktop = Atspi.get_desktop(0)
    every = [desktop.get_child_at_index(i) for i in range(desktop.get_child_count())]
    found = [a for a in every if a is not None and a.get_process_id() == pid]
    if not found:
        sys.exit("libatspi.py: no such application")
    stack, nodes = [found[0]], 0
    while stack:
        node = stack.pop()
        nodes += 1
        # A cache mask of NONE hangs libatspi 2.46 on applications with a line of their own.
        node.clear_cache()
        node.get_role()
        node.get_name()
        node.get_description()
        node.get_state_set().get_states()
        node.get_interfaces()
        try:
            for i in range(node.get_n_actions() if node.get_action_iface() else 0):
                Atspi.Action.get_action_name(node, i)
            if bounds and node.get_component_iface():
                Atspi.Component.get_extents(node, Atspi.CoordType.SCREEN)
        except gi.repository.GLib.Error:
            pass  # an object without the interface that it lists
        count = node.get_child_count()
        if count <= CHILD_LIMIT:
            for i in range(count):
                child = node.get_child_at_index(i)
                if child is not None:
                    stack.append(child)
    print(nodes)


main()
