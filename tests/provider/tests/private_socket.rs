//! What only the private socket can carry: bytes that no message bus lets through.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Bus, Client, Provider};
use futures_util::StreamExt;
use serde_json::json;
use zbus::connection::Builder;
use zbus::message::Message;
use zbus::{Connection, MessageStream};

#[test]
fn bytes_that_are_not_utf8() {
    let bus = Bus::start();
    let mut client = Client::start(&bus);
    let mut provider = Provider::ready_made(&bus, "invalid-utf8");
    let name = provider.names[0].clone();
    let (garbled, ok) = (provider.path("garbled"), provider.path("ok"));
    let address = client.read(&name, common::ROOT, "Application", "GetApplicationBusAddress");
    let address = address.as_str().unwrap();

    let reply = block_on(get_privately(address, &garbled, "Name"));
    // A variant of a string whose bytes are the name and then no UTF-8.
    assert_eq!(reply.body().data().bytes()[..4], [1, b's', 0, 0]);
    assert_eq!(&reply.body().data().bytes()[8..], b"Garbled\xff\xfe\xc0\x80\0");
    let reply = block_on(get_privately(address, &ok, "Name"));
    assert_eq!(&reply.body().data().bytes()[8..], b"OK\0");
    block_on(press_privately(address, &ok));
    provider.must(json!({"cmd": "fence"}));
    assert_eq!(provider.log("write").len(), 1);
    assert_eq!(provider.name("status"), "OK was pressed");

    // Over the bus the same reply gets the application thrown out.
    let answer = client.call(&name, &garbled, "get", "Accessible.Name", "", json!([]));
    assert_eq!(answer["error"], "org.freedesktop.DBus.Error.NoReply", "{answer}");
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(provider.log("disconnected").len(), 1);
    let reply = block_on(get_privately(address, &ok, "Name"));
    assert_eq!(&reply.body().data().bytes()[8..], b"OK\0", "it still runs");
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

async fn join(address: &str) -> (Connection, MessageStream) {
    let stream = Builder::address(address).unwrap().p2p().build_message_stream().await.unwrap();
    (Connection::from(&stream), stream)
}

async fn ask(address: &str, call: Message) -> Message {
    let (connection, mut stream) = join(address).await;
    connection.send(&call).await.unwrap();
    stream.next().await.unwrap().unwrap()
}

async fn get_privately(address: &str, path: &str, property: &str) -> Message {
    let call = Message::method_call(path, "Get")
        .unwrap()
        .interface("org.freedesktop.DBus.Properties")
        .unwrap()
        .build(&("org.a11y.atspi.Accessible", property))
        .unwrap();
    ask(address, call).await
}

async fn press_privately(address: &str, path: &str) {
    let call = Message::method_call(path, "DoAction")
        .unwrap()
        .interface("org.a11y.atspi.Action")
        .unwrap()
        .build(&0i32)
        .unwrap();
    let reply = ask(address, call).await;
    assert!(reply.body().deserialize::<bool>().unwrap());
}
