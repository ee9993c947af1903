"""The probes: name -> (what it measures, function that observes it). Answers are normalised: kinds, not addresses."""
import os
import subprocess
import sys
import time

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
for folder in ("fixtures", "oracle"):
    sys.path.insert(0, os.path.join(REPO, "tests", folder))
import atspi  # noqa: E402
from atspi import ACC, ACTION, APPLICATION, COMPONENT  # noqa: E402
from common import wait_until  # noqa: E402
from gi.repository import GLib  # noqa: E402
from prove_traps import Fixture  # noqa: E402

DESKTOP = ("gtk3", "gtk4", "qt5", "qt6")
CACHE = "/org/a11y/atspi/cache"


def answer(work):
    """What an answer is: its value, or the name of the D-Bus error."""
    try:
        return work()
    except GLib.Error as error:
        return atspi.error_of(error).split(": ")[0]


def integer(value):
    return GLib.Variant("(i)", (value,))


def slots():
    """One row is inserted at the top: which old addresses live on, and how many show another row."""
    out = {}
    for toolkit in (*DESKTOP, "chromium"):
        with Fixture(toolkit, "recycled") as f:
            wait_until("rows", lambda f=f: len(f.named("Delete")) > 4, 20)
            before = [(n, f.beside(n)) for n in f.named("Delete")[:400]]
            f.control("insert_row 0 NewTop")
            if f.web:  # the tree follows the page a moment later
                wait_until("the change", lambda f=f: any(f.beside(n) != t for n, t in before), 5)
            after = [(text, f.beside(n)) for n, text in before]
            dead = sum(now is None for _, now in after)
            other = sum(now is not None and now != text for text, now in after)
            kept = len(before) - dead - other
            out[toolkit] = {"dead": dead, "follow_the_row": "all" if kept == len(before) else "some" if kept else "none",
                            "show_another_row": other}
    return out


def dead():
    """A dialog is closed: what its OK answers then."""
    out = {}
    for toolkit in DESKTOP:
        with Fixture(toolkit, "dialogs") as f:
            f.control("show_dialog A")
            ok = f.one("OK")
            f.control("close_dialog")
            where = (ok["bus"], ok["path"])
            wait_until("its end", lambda f=f, ok=ok: f.name_of(ok) is None, 2) if toolkit != "gtk4" else time.sleep(0.5)
            states = answer(lambda: atspi.state_names(f.bus.call(*where, ACC, "GetState")))
            out[toolkit] = {
                "GetRole": answer(lambda: "answers" if f.bus.call(*where, ACC, "GetRole") is not None else None),
                "Name": answer(lambda: "answers" if f.bus.get(*where, ACC, "Name") is not None else None),
                "states": states if isinstance(states, str) else
                "none" if not states else "defunct" if "defunct" in states else "as if alive",
            }
    return out


def cache():
    """GetItems before anybody has asked for anything, after a knock, and how that compares with a walk."""
    out = {}
    for toolkit in DESKTOP:
        with Fixture(toolkit, "controls") as f:
            bus, nodes = f.application["bus"], len(f.walk())

            def items():
                got = answer(lambda: f.bus.call(bus, CACHE, "org.a11y.atspi.Cache", "GetItems"))
                return got if isinstance(got, str) else "nothing" if not got else \
                    "fewer than the walk" if len(got) < nodes - 1 else "as many as the walk or more"

            before = items()
            knock = answer(lambda: f.bus.call(bus, atspi.ROOT, APPLICATION, "GetApplicationBusAddress"))
            out[toolkit] = {
                "before": before,
                "knock": "an address" if str(knock).startswith("unix:") else knock or "an empty address",
                "after": items(),
            }
    return out


def handler_delay():
    """Whether a button's handler has run when DoAction answers, or runs later."""
    out = {}
    for toolkit in DESKTOP:
        with Fixture(toolkit, "controls") as f:
            save = f.one("Save")
            f.control("fence")
            count = len(f.events())
            f.press(save)
            begun = time.monotonic()
            while len(f.events()) == count and time.monotonic() - begun < 5:
                time.sleep(0.005)
            took = time.monotonic() - begun
            out[toolkit] = "with the reply" if took < 0.05 else "more than 50 ms after the reply"
    return out


def lies():
    """What DoAction answers where nothing can happen, and whether something happened."""
    out = {}
    for toolkit in DESKTOP:
        with Fixture(toolkit, "controls") as f:
            save, disabled = f.one("Save"), f.one("Disabled")
            beyond = answer(lambda: f.bus.call(save["bus"], save["path"], ACTION, "DoAction", integer(99)))
            insensitive = answer(lambda: f.bus.call(disabled["bus"], disabled["path"], ACTION, "DoAction", integer(0)))
            f.control("fence")
            time.sleep(0.4)
            out[toolkit] = {"index_out_of_range": beyond, "disabled_button": insensitive, "received": len(f.events())}
    return out


def extents_space():
    """Of what the window's extents are when the screen's were asked for, by the X server's word."""
    out = {}
    for toolkit in DESKTOP:
        with Fixture(toolkit, "controls") as f:
            xid = f.control("state")["xid"]
            subprocess.run(["wmctrl", "-i", "-r", hex(xid), "-e", "0,200,100,-1,-1"], check=True)

            def place(xid=xid):
                text = subprocess.run(["xwininfo", "-id", hex(xid)], capture_output=True, text=True, check=True).stdout
                number = lambda label: int(text.split(label)[1].split()[0])  # noqa: E731
                return number("Absolute upper-left X:"), number("Absolute upper-left Y:")

            wait_until("the move", lambda: place()[0] >= 150, 5)
            save = f.one("Save")
            time.sleep(0.5)

            def of(space, node, f=f):
                x, y = f.bus.call(node["bus"], node["path"], COMPONENT, "GetExtents", GLib.Variant("(u)", (space,)))[:2]
                px, py = place()
                return "beyond the window's corner" if x >= px - 2 and y >= py - 2 else "counted from the window"

            out[toolkit] = {"screen": of(0, save), "window": of(1, save)}
    return out


def orphans():
    """Whether an element whose window was closed can be told by asking its parents downwards."""
    out = {}
    for toolkit in DESKTOP:
        with Fixture(toolkit, "dialogs") as f:
            f.control("show_dialog A")
            ok = f.one("OK")
            f.control("replace_dialog B")
            f.one("OK")
            time.sleep(0.3)
            listed = {(n["bus"], n["path"]) for n in f.walk()}
            out[toolkit] = {"answers": f.name_of(ok) is not None, "listed_by_its_parents": (ok["bus"], ok["path"]) in listed}
    return out


PROBES = {
    "slots": ((*DESKTOP, "chromium"), slots),
    "dead": (DESKTOP, dead),
    "cache": (DESKTOP, cache),
    "handler_delay": (DESKTOP, handler_delay),
    "lies": (DESKTOP, lies),
    "extents_space": (DESKTOP, extents_space),
    "orphans": (DESKTOP, orphans),
}
