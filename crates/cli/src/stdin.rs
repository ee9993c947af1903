//! `--stdin`: text that must not stand in the process list.

use agent_desktop_core::command::Command;
use agent_desktop_core::error::{Error, Result};
use std::io::Read;

/// The command with its text from standard input, where it asks for that. Its other arguments are checked first, so
/// that a mistake is answered without waiting for input.
pub fn fill(mut command: Command) -> Result<Command> {
    command.validate()?;
    if let Some(max) = command.stdin_limit() {
        if !crate::streams::input_is_open() {
            return Err(Error::invalid("standard input is closed: there is no text to read"));
        }
        command.fill_stdin(text(std::io::stdin().lock(), max)?);
    }
    Ok(command)
}

/// All of the input as text, less one line break at its end.
fn text(input: impl Read, max: usize) -> Result<String> {
    let mut bytes = Vec::new();
    input
        .take(max as u64 + 3)
        .read_to_end(&mut bytes)
        .map_err(|e| Error::invalid("standard input can't be read").platform(e.to_string()))?;
    let mut text = String::from_utf8(bytes).map_err(|_| Error::invalid("standard input is not valid UTF-8"))?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    if text.len() > max {
        return Err(Error::invalid(format!("standard input has more than {max} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_desktop_core::command::act::VALUE_MAX_BYTES;

    #[test]
    fn one_line_break_at_the_end_is_dropped() {
        assert_eq!(text(&b"secret\n"[..], VALUE_MAX_BYTES).unwrap(), "secret");
        assert_eq!(text(&b"two\r\nlines\r\n"[..], VALUE_MAX_BYTES).unwrap(), "two\r\nlines");
        assert_eq!(text(&b"x\n\n"[..], VALUE_MAX_BYTES).unwrap(), "x\n");
        assert_eq!(text(&b""[..], VALUE_MAX_BYTES).unwrap(), "");
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_without_being_shown() {
        let e = text(&b"pass\xffword"[..], VALUE_MAX_BYTES).unwrap_err();
        assert!(!e.to_json().to_string().contains("pass"));
        assert!(text(&vec![b'a'; VALUE_MAX_BYTES + 1][..], VALUE_MAX_BYTES).is_err());
        assert!(text(&vec![b'a'; VALUE_MAX_BYTES][..], VALUE_MAX_BYTES).is_ok());
    }
}
