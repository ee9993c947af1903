//! The control socket: one JSON line in, one JSON line out.

use crate::engine::{Inbox, Msg};
use std::path::Path;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::oneshot;

/// Listens on a path that must not exist yet.
pub fn listen(path: &Path, inbox: Inbox) -> Result<(), String> {
    let listener = UnixListener::bind(path).map_err(|e| format!("{}: {e}", path.display()))?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(converse(stream, inbox.clone()));
        }
    });
    Ok(())
}

async fn converse(stream: UnixStream, inbox: Inbox) {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let (answer, answered) = oneshot::channel();
        if inbox.send(Msg::Control { line, answer }).is_err() {
            return;
        }
        let Ok(value) = answered.await else { return };
        let mut text = value.to_string();
        text.push('\n');
        if writer.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}
