//! `--stdin`: text that must not stand in the process list.

use agent_desktop_core::command::Command;
use agent_desktop_core::command::act::VALUE_MAX_BYTES;
use agent_desktop_core::error::{Error, Result};
use std::io::Read;

/// The command with its text from standard input, where it asks for that. Its other arguments are checked first, so
/// that a mistake is answered without waiting for input.
pub fn fill(mut command: Command) -> Result<Command> {
    command.validate()?;
    if let Some((slot, flag)) = command.stdin_slot() {
        *slot = Some(text(std::io::stdin().lock())?);
        *flag = false;
    }
    Ok(command)
}

/// All of the input as text, less one line break at its end.
fn text(input: impl Read) -> Result<String> {
    let mut bytes = Vec::new();
    input
        .take(VALUE_MAX_BYTES as u64 + 3)
        .read_to_end(&mut bytes)
        .map_err(|e| Error::invalid("standard input can't be read").platform(e.to_string()))?;
    let mut text = String::from_utf8(bytes).map_err(|_| Error::invalid("standard input is not valid UTF-8"))?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    if text.len() > VALUE_MAX_BYTES {
        return Err(Error::invalid(format!("standard input has more than {VALUE_MAX_BYTES} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_break_at_the_end_is_dropped() {
        assert_eq!(text(&b"secret\n"[..]).unwrap(), "secret");
        assert_eq!(text(&b"two\r\nlines\r\n"[..]).unwrap(), "two\r\nlines");
        assert_eq!(text(&b"x\n\n"[..]).unwrap(), "x\n");
        assert_eq!(text(&b""[..]).unwrap(), "");
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_without_being_shown() {
        let e = text(&b"pass\xffword"[..]).unwrap_err();
        assert!(!e.to_json().to_string().contains("pass"));
        assert!(text(&vec![b'a'; VALUE_MAX_BYTES + 1][..]).is_err());
        assert!(text(&vec![b'a'; VALUE_MAX_BYTES][..]).is_ok());
    }
}
