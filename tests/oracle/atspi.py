# SPDX-License-Identifier: Apache-2.0
"""AT-SPI over raw D-Bus, for oracles: no libatspi, no proxies, no cache.

An oracle must show what an application answers *now*. Every fact here is one method
call sent at that moment. Three calls are never made because they end or freeze the
application that is asked: Properties.GetAll (kills Qt), GetChildren of a node with a
huge ChildCount (freezes spreadsheets), Action.GetActions (unreliable answers).
"""

import os
from collections import deque

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

ROOT = "/org/a11y/atspi/accessible/root"
NULL = "/org/a11y/atspi/null"
REGISTRY = "org.a11y.atspi.Registry"
CHILD_LIMIT = 4096

ACC = "org.a11y.atspi.Accessible"
ACTION = "org.a11y.atspi.Action"
APPLICATION = "org.a11y.atspi.Application"
COMPONENT = "org.a11y.atspi.Component"
TEXT = "org.a11y.atspi.Text"
EDITABLE = "org.a11y.atspi.EditableText"
VALUE = "org.a11y.atspi.Value"
SELECTION = "org.a11y.atspi.Selection"
TABLE_CELL = "org.a11y.atspi.TableCell"

STATES = (
    "invalid active armed busy checked collapsed defunct editable enabled expandable expanded "
    "focusable focused has-tooltip horizontal iconified modal multi-line multiselectable opaque "
    "pressed resizable selectable selected sensitive showing single-line stale transient vertical "
    "visible manages-descendants indeterminate required truncated animated invalid-entry "
    "supports-autocompletion selectable-text is-default visited checkable has-popup read-only"
).split()


def state_names(words):
    bits = 0
    for shift, word in enumerate(words):
        bits |= word << (32 * shift)
    return [STATES[i] if i < len(STATES) else f"state-{i}" for i in range(bits.bit_length()) if bits >> i & 1]


def error_of(error):
    """The D-Bus error name where there is one, with the message."""
    remote = Gio.DBusError.get_remote_error(error)
    message = error.message
    if remote:
        message = message.split(": ", 1)[-1]
        return f"{remote}: {message}"
    return message


class Bus:
    """A connection to the accessibility bus with a bounded number of calls in flight."""

    def __init__(self, in_flight=32, timeout_ms=5000):
        session = Gio.bus_get_sync(Gio.BusType.SESSION, None)
        address = session.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None,
                                    None, Gio.DBusCallFlags.NONE, timeout_ms, None).unpack()[0]
        flags = Gio.DBusConnectionFlags
        self.connection = Gio.DBusConnection.new_for_address_sync(
            address, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
        self.timeout_ms, self.limit = timeout_ms, in_flight
        self.waiting, self.running = deque(), 0
        self.loop = None

    # -- one call, blocking -------------------------------------------------
    def call(self, name, path, interface, method, args=None, timeout_ms=None):
        reply = self.connection.call_sync(name, path, interface, method, args, None, Gio.DBusCallFlags.NONE,
                                          timeout_ms or self.timeout_ms, None)
        values = reply.unpack()
        return values[0] if len(values) == 1 else values

    def get(self, name, path, interface, prop):
        return self.call(name, path, "org.freedesktop.DBus.Properties", "Get",
                         GLib.Variant("(ss)", (interface, prop)))

    # -- many calls, answers by callback ------------------------------------
    def send(self, name, path, interface, method, args, answered):
        """`answered(value, error)`; exactly one of them is None (a void reply is ())."""
        self.waiting.append((name, path, interface, method, args, answered))
        self._pump()

    def send_get(self, name, path, interface, prop, answered):
        self.send(name, path, "org.freedesktop.DBus.Properties", "Get",
                  GLib.Variant("(ss)", (interface, prop)), answered)

    def _pump(self):
        while self.waiting and self.running < self.limit:
            name, path, interface, method, args, answered = self.waiting.popleft()
            self.running += 1
            self.connection.call(name, path, interface, method, args, None, Gio.DBusCallFlags.NONE,
                                 self.timeout_ms, None, self._done, answered)

    def _done(self, connection, result, answered):
        self.running -= 1
        try:
            values = connection.call_finish(result).unpack()
            answered(values[0] if len(values) == 1 else values, None)
        except GLib.Error as error:
            answered(None, error_of(error))
        self._pump()
        if not self.running and not self.waiting and self.loop:
            self.loop.quit()

    def drain(self):
        """Runs until every call that was sent, and every call those led to, is answered."""
        if self.running or self.waiting:
            self.loop = GLib.MainLoop()
            self.loop.run()
            self.loop = None

    # -- applications -------------------------------------------------------
    def pid_of(self, name):
        return self.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                         "GetConnectionUnixProcessID", GLib.Variant("(s)", (name,)))

    def applications(self):
        """[{bus, path, pid, name, child_count}], silent ones with an `error`."""
        found = []
        for bus, path in self.call(REGISTRY, ROOT, ACC, "GetChildren"):
            row = {"bus": bus, "path": path, "pid": None, "name": None, "child_count": None}
            found.append(row)

            def keep(key, row=row):
                def answered(value, error):
                    if error:
                        row["error"] = error
                    else:
                        row[key] = value
                return answered
            self.send("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                      "GetConnectionUnixProcessID", GLib.Variant("(s)", (bus,)), keep("pid"))
            self.send_get(bus, path, ACC, "Name", keep("name"))
            self.send_get(bus, path, ACC, "ChildCount", keep("child_count"))
        self.drain()
        return found

    def find_application(self, pid=None, name=None):
        """The populated one where a process registers several. None when there is none."""
        rows = [r for r in self.applications()
                if (pid is None or r["pid"] == pid)
                and (name is None or (r["name"] or "").lower() == name.lower())]
        rows.sort(key=lambda r: -(r["child_count"] or 0))
        return rows[0] if rows else None


def children_pids(pid):
    """A process and its descendants (browsers are started by wrappers)."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as f:
                    parents[int(entry)] = int(f.read().rpartition(b")")[2].split()[1])
            except OSError:
                pass
    found, grew = {pid}, True
    while grew:
        more = {p for p, up in parents.items() if up in found} - found
        found |= more
        grew = bool(more)
    return found


class Walk:
    """One read of an application's tree by GetChildren, breadth first on the wire.

    `nodes` maps (bus, path) to a dictionary; `preorder()` lists them. What could not be
    read stands in the node's `errors`, keyed by what was asked.
    """

    def __init__(self, bus, application, extents=False, window=None, child_limit=CHILD_LIMIT, light=False):
        self.bus, self.extents, self.window, self.child_limit = bus, extents, window, child_limit
        self.light = light  # names, roles and states only
        self.root = (application["bus"], application["path"])
        self.nodes = {}
        self._enter(self.root, None, 0)
        bus.drain()

    def _enter(self, key, parent, index):
        if key in self.nodes:
            first = self.nodes[key]
            first.setdefault("also_under", []).append([parent[1] if parent else None, index])
            return
        node = {"bus": key[0], "path": key[1], "parent": parent, "index_in_parent": index, "role": None,
                "role_name": None, "name": None, "description": None, "states": None, "interfaces": None,
                "actions": [], "child_count": None, "children": []}
        self.nodes[key] = node
        bus, path = key

        def keep(field, then=None):
            def answered(value, error):
                if error:
                    node.setdefault("errors", {})[field] = error
                else:
                    node[field] = value
                if then:
                    then(value, error)
            return answered

        self.bus.send(bus, path, ACC, "GetRole", None, keep("role"))
        if not self.light:
            self.bus.send(bus, path, ACC, "GetRoleName", None, keep("role_name"))
            self.bus.send_get(bus, path, ACC, "Description", keep("description"))
            self.bus.send(bus, path, ACC, "GetInterfaces", None,
                          keep("interfaces", lambda value, error: error or self._more(key, node, value)))

        def states(value, error):
            if error:
                node.setdefault("errors", {})["states"] = error
            else:
                node["states"] = state_names(value)
        self.bus.send(bus, path, ACC, "GetState", None, states)

        # A window that was not asked for is listed, but not entered.
        top = parent == self.root and self.window is not None

        def named(value, error):
            if error is None and self.window.lower() in value.lower():
                self._count(key, node)
            else:
                node["not_entered"] = True
        self.bus.send_get(bus, path, ACC, "Name", keep("name", named if top else None))
        if not top:
            self._count(key, node)

    def _count(self, key, node):
        def counted(value, error):
            if error:
                node.setdefault("errors", {})["child_count"] = error
            else:
                node["child_count"] = value
            if error or value > self.child_limit:
                node["children_skipped"] = True
            else:
                self.bus.send(*key, ACC, "GetChildren", None, listed)

        def listed(value, error):
            if error:
                node.setdefault("errors", {})["children"] = error
                return
            for index, child in enumerate(value):
                child = tuple(child)
                if child[1] != NULL:
                    node["children"].append(child)
                    self._enter(child, key, index)
        self.bus.send_get(*key, ACC, "ChildCount", counted)

    def _more(self, key, node, interfaces):
        if ACTION in interfaces:
            def counted(value, error):
                if error:
                    node.setdefault("errors", {})["actions"] = error
                    return
                node["actions"] = [None] * value
                for i in range(value):
                    def named(name, error, i=i):
                        if error:
                            node.setdefault("errors", {})["actions"] = error
                        else:
                            node["actions"][i] = name
                    self.bus.send(*key, ACTION, "GetName", GLib.Variant("(i)", (i,)), named)
            self.bus.send_get(*key, ACTION, "NActions", counted)
        if self.extents and COMPONENT in interfaces:
            def placed(value, error):
                if error:
                    node.setdefault("errors", {})["extents"] = error
                else:
                    node["extents"] = list(value)
            self.bus.send(*key, COMPONENT, "GetExtents", GLib.Variant("(u)", (0,)), placed)

    def preorder(self):
        out, stack, seen = [], [(self.root, 0)], set()
        while stack:
            key, depth = stack.pop()
            if key in seen:
                continue
            seen.add(key)
            node = self.nodes[key]
            node["depth"], node["at"] = depth, len(out)
            out.append(node)
            mine = [c for c in node["children"] if self.nodes[c]["parent"] == key]
            stack.extend((c, depth + 1) for c in reversed(mine))
        return out

    def shape(self):
        """What two reads of an unchanged tree must agree on."""
        return {(k, n["parent"], n["index_in_parent"]) for k, n in self.nodes.items()}


def facts(bus, name, path, extents=True):
    """Live facts of one object, each asked for now; errors by what was asked."""
    out, errors = {"bus": name, "path": path}, {}

    def ask(field, work, shape=None):
        try:
            value = work()
            out[field] = shape(value) if shape else value
        except GLib.Error as error:
            errors[field] = error_of(error)

    def method(interface, member, args=None):
        return lambda: bus.call(name, path, interface, member, args)

    def prop(interface, member):
        return lambda: bus.get(name, path, interface, member)

    ask("role", method(ACC, "GetRole"))
    ask("role_name", method(ACC, "GetRoleName"))
    ask("name", prop(ACC, "Name"))
    ask("description", prop(ACC, "Description"))
    ask("states", method(ACC, "GetState"), state_names)
    ask("interfaces", method(ACC, "GetInterfaces"))
    ask("parent", prop(ACC, "Parent"), list)
    ask("index_in_parent", method(ACC, "GetIndexInParent"))
    ask("child_count", prop(ACC, "ChildCount"))
    ask("attributes", method(ACC, "GetAttributes"))
    interfaces = out.get("interfaces") or []
    if ACTION in interfaces:
        ask("n_actions", prop(ACTION, "NActions"))
        out["actions"] = []
        for i in range(out.get("n_actions") or 0):
            ask(f"action_{i}", method(ACTION, "GetName", GLib.Variant("(i)", (i,))))
            out["actions"].append(out.pop(f"action_{i}", None))
    if TEXT in interfaces:
        ask("character_count", prop(TEXT, "CharacterCount"))
        ask("text", method(TEXT, "GetText", GLib.Variant("(ii)", (0, -1))))
        ask("caret", prop(TEXT, "CaretOffset"))
    if VALUE in interfaces:
        out["value"] = {}
        for short, member in (("current", "CurrentValue"), ("minimum", "MinimumValue"),
                              ("maximum", "MaximumValue"), ("increment", "MinimumIncrement")):
            ask(f"value_{short}", prop(VALUE, member))
            if f"value_{short}" in out:
                out["value"][short] = out.pop(f"value_{short}")
    if SELECTION in interfaces:
        ask("n_selected", prop(SELECTION, "NSelectedChildren"))
        out["selected"] = []
        for i in range(min(out.get("n_selected") or 0, 64)):
            ask(f"selected_{i}", method(SELECTION, "GetSelectedChild", GLib.Variant("(i)", (i,))))
            child = out.pop(f"selected_{i}", None)
            if child and child[1] != NULL:
                row = {"bus": child[0], "path": child[1]}
                try:
                    row["name"] = bus.get(child[0], child[1], ACC, "Name")
                except GLib.Error as error:
                    row["error"] = error_of(error)
                out["selected"].append(row)
    if TABLE_CELL in interfaces:
        ask("cell_position", prop(TABLE_CELL, "Position"), list)
    if COMPONENT in interfaces and extents:
        ask("extents", method(COMPONENT, "GetExtents", GLib.Variant("(u)", (0,))), list)
    if errors:
        out["errors"] = errors
    return out
