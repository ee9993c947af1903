//! Combinations that would end programs, the session or the display (decisions D10).

use agent_desktop_core::vocab::key::{Combo, Key, Modifier};

/// Whether the combination is one of those, or one of those with further modifiers.
pub fn dangerous(combo: &Combo) -> bool {
    use Modifier::{Alt, Ctrl, Meta};
    let with = |modifiers: &[Modifier]| modifiers.iter().all(|m| combo.modifiers.contains(m));
    match combo.key {
        // Closes the window; with Ctrl as well it changes to another console.
        Some(Key::Function(4)) if with(&[Alt]) => true,
        // Other consoles.
        Some(Key::Function(1..=12)) => with(&[Ctrl, Alt]),
        // Ends the session, the server, or the machine: the two keys that are called delete, and the server's own.
        Some(Key::Backspace | Key::ForwardDelete) => with(&[Ctrl, Alt]),
        Some(Key::Character('l' | 'L')) => with(&[Meta]),
        // Where the kernel listens: any command of its own.
        Some(Key::PrintScreen) => with(&[Alt]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_and_supersets_of_them() {
        for bad in [
            "alt+f4",
            "shift+alt+f4",
            "ctrl+alt+delete",
            "ctrl+alt+forwarddelete",
            "alt+ctrl+shift+del",
            "ctrl+alt+backspace",
            "ctrl+alt+f1",
            "ctrl+alt+f12",
            "ctrl+alt+shift+f7",
            "super+l",
            "ctrl+super+L",
            "alt+sysrq",
            "ctrl+alt+printscreen",
        ] {
            assert!(dangerous(&Combo::parse(bad).unwrap()), "{bad}");
        }
        for good in
            ["f4", "ctrl+f4", "alt+f5", "ctrl+delete", "ctrl+l", "alt+l", "l", "printscreen", "ctrl+alt", "super"]
        {
            assert!(!dangerous(&Combo::parse(good).unwrap()), "{good}");
        }
    }
}
