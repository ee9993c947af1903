//! Modes and owners, where the system has them. Elsewhere the user's profile is private by itself, and links are
//! refused by the checks on metadata alone.

use std::fs::{DirBuilder, Metadata, OpenOptions};

#[cfg(unix)]
mod imp {
    use super::{DirBuilder, Metadata, OpenOptions};
    use rustix::fs::OFlags;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};

    pub fn ours(meta: &Metadata) -> bool {
        meta.uid() == rustix::process::geteuid().as_raw()
    }

    pub fn closed(meta: &Metadata) -> bool {
        meta.mode() & 0o077 == 0
    }

    pub fn writable_by_others(meta: &Metadata) -> bool {
        // A group of the user's own name, with only that user in it, is the default of many systems.
        let by_group = meta.mode() & 0o020 != 0 && meta.gid() != rustix::process::getegid().as_raw();
        by_group || meta.mode() & 0o002 != 0
    }

    pub fn runtime_dir() -> std::path::PathBuf {
        format!("/tmp/agent-desktop-{}", rustix::process::geteuid().as_raw()).into()
    }

    pub fn private_dir(builder: &mut DirBuilder) {
        builder.mode(0o700);
    }

    pub fn private_file(options: &mut OpenOptions) {
        // Not blocking: a pipe put in the place of a file must not hang the command. Regular files don't care.
        options.mode(0o600).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    }

    pub fn same_file(a: &Metadata, b: &Metadata) -> bool {
        a.dev() == b.dev() && a.ino() == b.ino()
    }
}

#[cfg(not(unix))]
mod imp {
    use super::{DirBuilder, Metadata, OpenOptions};

    pub fn ours(_: &Metadata) -> bool {
        true
    }

    pub fn closed(_: &Metadata) -> bool {
        true
    }

    pub fn writable_by_others(_: &Metadata) -> bool {
        false
    }

    pub fn runtime_dir() -> std::path::PathBuf {
        std::env::temp_dir().join("agent-desktop")
    }

    pub fn private_dir(_: &mut DirBuilder) {}

    pub fn private_file(_: &mut OpenOptions) {}

    pub fn same_file(_: &Metadata, _: &Metadata) -> bool {
        true
    }
}

/// Whether the file belongs to the user that runs us.
pub(super) fn ours(meta: &Metadata) -> bool {
    imp::ours(meta)
}

/// Whether nobody else has access.
pub(super) fn closed(meta: &Metadata) -> bool {
    imp::closed(meta)
}

/// The user's directory for what lives only while something runs. It doesn't depend on HOME or any other variable:
/// inside a private desktop, over SSH and from cron it must be the same one (spec 1 §7 "Interaction lease").
pub(super) fn runtime_dir() -> std::path::PathBuf {
    imp::runtime_dir()
}

/// Directories are made 0700.
pub(super) fn private_dir(builder: &mut DirBuilder) {
    imp::private_dir(builder);
}

/// Files are made 0600 and opened without following a link.
pub(super) fn private_file(options: &mut OpenOptions) {
    imp::private_file(options);
}

/// Whether the two are one file.
pub(super) fn same_file(a: &Metadata, b: &Metadata) -> bool {
    imp::same_file(a, b)
}

/// Whether others than the user may write there.
pub(super) fn writable_by_others(meta: &Metadata) -> bool {
    imp::writable_by_others(meta)
}
