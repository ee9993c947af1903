//! Joining the accessibility bus and becoming visible to clients.

use crate::engine::{Engine, Inbox, Msg};
use crate::tree::ROOT_PATH;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::net::UnixListener;
use tokio::sync::mpsc::UnboundedReceiver;
use zbus::connection::Builder;
use zbus::zvariant::{ObjectPath, OwnedObjectPath};
use zbus::{Connection, Guid};

const REGISTRY: &str = "org.a11y.atspi.Registry";
/// How long the registry may take to list us.
const VISIBLE_WITHIN: Duration = Duration::from_secs(10);

/// Connects every application, embeds it and waits until clients can see it.
/// Returns the unique bus names.
pub async fn all(
    engine: &mut Engine,
    queue: &mut UnboundedReceiver<Msg>,
    inbox: &Inbox,
    sockets: &mut Vec<PathBuf>,
) -> Result<Vec<String>, String> {
    let address = bus_address().await?;
    let mut names = Vec::new();
    for app in 0..engine.app_count() {
        let builder = Builder::address(address.as_str()).map_err(text)?;
        let stream = builder.build_message_stream().await.map_err(text)?;
        let connection = Connection::from(&stream);
        let name = connection.unique_name().map(ToString::to_string).ok_or("the bus gave no name")?;
        engine.join(app, stream, name.clone());
        if engine.wants_private(app) {
            let (address, path) = private_socket(app, inbox.clone())?;
            engine.set_private_address(app, address);
            sockets.push(path);
        }
        let embedded = engine.serve_until(queue, embed(&connection, &name)).await?;
        engine.set_desktop(app, embedded.bus, embedded.path);
        if embedded.has_listener {
            engine.set_listener(app);
        }
        names.push(name);
    }
    engine.set_ready();
    Ok(names)
}

/// Address of the accessibility bus, asked from the session bus (which may start it).
async fn bus_address() -> Result<String, String> {
    let session = Connection::session().await.map_err(|e| format!("no session bus: {e}"))?;
    let reply = session
        .call_method(Some("org.a11y.Bus"), "/org/a11y/bus", Some("org.a11y.Bus"), "GetAddress", &())
        .await
        .map_err(|e| format!("no accessibility bus: {e}"))?;
    reply.body().deserialize::<String>().map_err(text)
}

struct Embedded {
    bus: String,
    path: String,
    has_listener: bool,
}

async fn embed(connection: &Connection, name: &str) -> Result<Embedded, String> {
    let root = ObjectPath::try_from(ROOT_PATH).map_err(text)?;
    let reply = connection
        .call_method(Some(REGISTRY), ROOT_PATH, Some("org.a11y.atspi.Socket"), "Embed", &((name, root),))
        .await
        .map_err(|e| format!("Embed: {e}"))?;
    let (bus, path) =
        reply.body().deserialize::<((String, OwnedObjectPath),)>().map(|(reference,)| reference).map_err(text)?;
    connection
        .call_method(
            Some("org.freedesktop.DBus"),
            "/org/freedesktop/DBus",
            Some("org.freedesktop.DBus"),
            "AddMatch",
            &"type='signal',interface='org.a11y.atspi.Registry',member='EventListenerRegistered'",
        )
        .await
        .map_err(text)?;
    let listeners = connection
        .call_method(Some(REGISTRY), "/org/a11y/atspi/registry", Some(REGISTRY), "GetRegisteredEvents", &())
        .await;
    let has_listener = listeners
        .ok()
        .and_then(|reply| reply.body().deserialize::<Vec<(String, String)>>().ok())
        .is_some_and(|list| !list.is_empty());
    wait_until_visible(connection, name).await?;
    Ok(Embedded { bus, path: path.to_string(), has_listener })
}

async fn wait_until_visible(connection: &Connection, name: &str) -> Result<(), String> {
    let start = Instant::now();
    while start.elapsed() < VISIBLE_WITHIN {
        let reply = connection
            .call_method(Some(REGISTRY), ROOT_PATH, Some("org.a11y.atspi.Accessible"), "GetChildren", &())
            .await
            .map_err(text)?;
        let children: Vec<(String, OwnedObjectPath)> = reply.body().deserialize().map_err(text)?;
        if children.iter().any(|(bus, _)| bus == name) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Err("the registry doesn't list the application".into())
}

/// A private socket; each client that joins becomes a link of the engine.
fn private_socket(app: usize, inbox: Inbox) -> Result<(String, PathBuf), String> {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    // Where atk-bridge has its own, which clients know without asking.
    let more = if app == 0 { String::new() } else { format!("-{app}") };
    let path = folder.join(format!("at-spi2-socket-{}{more}", std::process::id()));
    let listener = UnixListener::bind(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let guid = Guid::generate();
    let address = format!("unix:path={},guid={guid}", path.display());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (inbox, guid) = (inbox.clone(), guid.clone());
            tokio::spawn(async move {
                let builder = Builder::unix_stream(socket).p2p();
                let Ok(builder) = builder.server(guid) else {
                    return;
                };
                match builder.build_message_stream().await {
                    Ok(stream) => {
                        let stream = Box::new(stream);
                        let _ = inbox.send(Msg::Private { app, stream });
                    }
                    Err(error) => eprintln!("scripted-provider: private socket: {error}"),
                }
            });
        }
    });
    Ok((address, path))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
