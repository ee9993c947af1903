"""An independent D-Bus client (libdbus) for the provider's own tests.

Takes the session bus address as its argument. Reads one JSON line for each call:
{"dest", "path", "interface", "member", "signature", "args", "timeout_ms"}
and writes one: {"ok": value, "ms": N} or {"error": name, "message": text, "ms": N}.
A member of "Interface.Property" with the interface "get" reads a property.
"""

import json
import sys
import time

import dbus
from dbus.bus import BusConnection


def plain(value):
    if isinstance(value, (dbus.Boolean, bool)):
        return bool(value)
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int):
        return int(value)
    return None if value is None else str(value)


def main():
    session = BusConnection(sys.argv[1])
    launcher = session.get_object("org.a11y.Bus", "/org/a11y/bus")
    address = launcher.GetAddress(dbus_interface="org.a11y.Bus")
    bus = BusConnection(address)
    print(json.dumps({"address": str(address)}), flush=True)
    for line in sys.stdin:
        call = json.loads(line)
        interface, member = call["interface"], call["member"]
        signature, args = call.get("signature", ""), call.get("args", [])
        if interface == "get":
            short, name = member.split(".")
            interface, member = "org.freedesktop.DBus.Properties", "Get"
            signature, args = "ss", ["org.a11y.atspi." + short, name]
        elif interface == "set_double":
            short, name = member.split(".")
            interface, member = "org.freedesktop.DBus.Properties", "Set"
            signature = "ssv"
            args = ["org.a11y.atspi." + short, name, dbus.Double(args[0], variant_level=1)]
        elif "." not in interface:
            interface = "org.a11y.atspi." + interface
        start = time.monotonic()
        try:
            value = bus.call_blocking(
                call["dest"], call["path"], interface, member, signature, args,
                timeout=call.get("timeout_ms", 5000) / 1000,
            )
            answer = {"ok": plain(value)}
        except dbus.DBusException as error:
            answer = {"error": error.get_dbus_name(), "message": error.get_dbus_message()}
        answer["ms"] = int((time.monotonic() - start) * 1000)
        print(json.dumps(answer), flush=True)


main()
