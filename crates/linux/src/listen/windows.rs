//! What the X server announces: windows that come and go, the active one, titles. It tells of windows without a tree, and
//! of those whose application is silent on the bus.

use crate::x11::{self, Connection};
use rustix::event::{PollFd, PollFlags, Timespec};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask};

x11rb::atom_manager! {
    /// Properties whose changes count.
    Named: NamedCookie {
        _NET_CLIENT_LIST,
        _NET_ACTIVE_WINDOW,
        _NET_WM_NAME,
        _NET_WM_STATE,
    }
}

/// Time for a request.
const ASK: Duration = Duration::from_millis(1_000);
/// How often is looked whether anybody still listens.
const CHECK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Announces changes from a thread of its own, with a connection of its own, until nobody listens any more. Without a
/// display nothing is announced.
pub fn watch(display: Option<(&str, Option<&Path>)>) -> UnboundedReceiver<()> {
    let (tell, told) = unbounded_channel();
    if let Some((display, authority)) = display {
        let (display, authority) = (display.to_owned(), authority.map(Path::to_owned));
        // Ready before the first look: what changes right after it is heard.
        let (ready, is_ready) = std::sync::mpsc::channel();
        std::thread::spawn(move || follow(&display, authority, &tell, &ready));
        let _ = is_ready.recv_timeout(ASK);
    }
    told
}

fn follow(display: &str, authority: Option<PathBuf>, tell: &UnboundedSender<()>, ready: &std::sync::mpsc::Sender<()>) {
    let Ok(connection) = x11::connect(display, authority.as_deref(), Instant::now() + ASK) else { return };
    if let Err(error) = announce(&connection, tell, ready) {
        tracing::debug!(%error, "the display announces no more changes");
    }
    // The channel closes with this thread; whoever listens goes on by the bus and the safety net.
}

fn announce(
    x: &Connection,
    tell: &UnboundedSender<()>,
    ready: &std::sync::mpsc::Sender<()>,
) -> Result<(), x11rb::errors::ReplyOrIdError> {
    let raw = x.raw();
    let named = Named::new(raw)?.reply()?;
    let of_root = EventMask::PROPERTY_CHANGE | EventMask::SUBSTRUCTURE_NOTIFY;
    raw.change_window_attributes(x.root(), &ChangeWindowAttributesAux::new().event_mask(of_root))?.check()?;
    let mut followed = HashSet::new();
    follow_clients(x, &named, &mut followed)?;
    let _ = ready.send(());
    loop {
        x.set_deadline(Instant::now() + ASK);
        let mut changed = false;
        while let Some(event) = raw.poll_for_event()? {
            match event {
                Event::PropertyNotify(e) if e.window == x.root() && e.atom == named._NET_CLIENT_LIST => {
                    follow_clients(x, &named, &mut followed)?;
                    changed = true;
                }
                Event::PropertyNotify(e) if e.window == x.root() => changed |= e.atom == named._NET_ACTIVE_WINDOW,
                Event::PropertyNotify(e) => {
                    let counts = [named._NET_WM_NAME, named._NET_WM_STATE, AtomEnum::WM_NAME.into()];
                    changed |= counts.contains(&e.atom);
                }
                Event::MapNotify(_) | Event::UnmapNotify(_) | Event::DestroyNotify(_) => changed = true,
                _ => {}
            }
        }
        if changed && tell.send(()).is_err() {
            return Ok(());
        }
        let mut fds = [PollFd::from_borrowed_fd(x.socket(), PollFlags::IN)];
        match rustix::event::poll(&mut fds, Some(&CHECK)) {
            Ok(_) | Err(rustix::io::Errno::INTR) if tell.is_closed() => return Ok(()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(x11rb::errors::ConnectionError::IoError(error.into()).into()),
        }
    }
}

/// Titles and states are announced by each window for itself.
fn follow_clients(
    x: &Connection,
    named: &Named,
    followed: &mut HashSet<u32>,
) -> Result<(), x11rb::errors::ReplyOrIdError> {
    let raw = x.raw();
    let list = raw.get_property(false, x.root(), named._NET_CLIENT_LIST, AtomEnum::WINDOW, 0, 4_096)?.reply()?;
    for window in list.value32().into_iter().flatten() {
        if followed.insert(window) {
            // A window that is gone already is an error that nobody waits for.
            raw.change_window_attributes(
                window,
                &ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE),
            )?;
        }
    }
    raw.flush()?;
    Ok(())
}
