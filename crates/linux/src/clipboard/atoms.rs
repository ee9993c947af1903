//! The atoms of selections, interned in one flight.

#![allow(missing_docs, reason = "the macro makes items that can't carry a text")]

x11rb::atom_manager! {
    /// Atoms of ICCCM §2 and of the formats that we read.
    pub Atoms: AtomsCookie {
        CLIPBOARD,
        TARGETS,
        TIMESTAMP,
        MULTIPLE,
        ATOM_PAIR,
        INCR,
        UTF8_STRING,
        // Our own property, on our own window.
        AGENT_DESKTOP_CLIPBOARD,
    }
}
