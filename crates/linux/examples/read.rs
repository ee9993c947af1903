//! By hand: joins the desktop and prints what the adapter reads.
use agent_desktop_core::deadline::Deadline;
use agent_desktop_linux::bus::{Bus, Call, Object, Wire};

fn main() {
    let start = std::time::Instant::now();
    let bus = match Bus::join(Deadline::after_ms(3_000)) {
        Ok(bus) => bus,
        Err(e) => {
            eprintln!("{}", e.to_json());
            std::process::exit(1)
        }
    };
    println!("joined {:?}", start.elapsed());
    println!("id {:?} {:?}", bus.id(Deadline::after_ms(500)), start.elapsed());
    println!("status {:?}", bus.status(Deadline::after_ms(500)));
    let registry = Object::new("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root");
    let r = bus.call(Call::new(&registry, "org.a11y.atspi.Accessible", "GetChildren"), Deadline::after_ms(500));
    println!("{:?} {:?}", r.and_then(|r| r.objects()), start.elapsed());
}
