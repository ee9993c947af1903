//! The only door: checks what the table says, then calls the one function that is the command's.

use super::{Command, Context, Permission};
use crate::envelope::Answer;
use crate::error::{Code, Error, Result};
use crate::platform::Policy;
use crate::policy::POLICY_FILE;
use crate::wait::place::Place;
use crate::wait::selector::Selector;
use crate::{
    apps, batch, capture, clipboard, debug, input, observe, overlay, session, skills, system, trace, wait, watch,
    windows,
};
use serde_json::json;

/// Runs a command and, where its session or `--trace` asks for it, records that it ran.
pub fn run(command: &Command, context: &Context) -> Answer {
    if !leaves_a_trace(command) {
        return explained(command, context);
    }
    let call = context.trace().begin(command, context)?;
    let answer = explained(command, context);
    if let Err(error) = &answer
        && error.code() == Code::PolicyDenied
    {
        // For whoever looks through an unattended run afterwards (decisions D8).
        context.trace().event("policy.denied", json!({"command": command.name(), "kind": error.kind_name()}));
    }
    context.trace().end(call, &answer);
    answer
}

/// What only tells about the program, and what keeps the sessions themselves, is no part of one.
fn leaves_a_trace(command: &Command) -> bool {
    !matches!(command, Command::Version(_) | Command::Skills(_) | Command::Session(_) | Command::Trace(_))
}

fn explained(command: &Command, context: &Context) -> Answer {
    carry_out(command, context).map_err(|error| match context.rules() {
        // What the rules hide is not told from what is not there: it was not looked at.
        Ok(Some(rules)) if matches!(error.code(), Code::WindowNotFound | Code::AppNotFound) => {
            error.detail("allowed", json!(rules.names()))
        }
        _ => error,
    })
}

/// Whatever refuses here has changed nothing.
fn carry_out(command: &Command, context: &Context) -> Answer {
    command.validate()?;
    admit(command, context)?;
    let page = debug::Page::reserve(context)?;
    if command.spec().permission == Permission::Accessibility {
        check_permission(command, context)?;
    }
    let Some(page) = page else { return waiting(command, context) };
    page.before(command, context);
    page.finish(command, context, waiting(command, context))
}

/// Runs the command, and waits afterwards where `--wait-for` and `--wait-for-gone` ask for it.
fn waiting(command: &Command, context: &Context) -> Answer {
    let Some(selector) = Selector::of(context.globals())? else { return pictured(command, context) };
    match command {
        Command::Snapshot(args) => wait::selector::wait_to_see(context, &selector, args),
        Command::Launch(_) => {
            let done = pictured(command, context)?;
            wait::selector::wait_after(context, &selector, Ok(Place::of_launched(&done, selector.gone())), done)
        }
        action => {
            let place = Place::of_action(context, action);
            let done = pictured(action, context)?;
            wait::selector::wait_after(context, &selector, place, done)
        }
    }
}

/// Runs the command, with pictures of the window before and after where the session keeps them.
fn pictured(command: &Command, context: &Context) -> Answer {
    let Some(pictures) = trace::artifacts::before(command, context) else { return dispatch(command, context) };
    let answer = dispatch(command, context);
    pictures.after(context, &answer);
    answer
}

/// Calls the one function that is the command's.
fn dispatch(command: &Command, context: &Context) -> Answer {
    if let Some(action) = command.ref_action() {
        return crate::act::command(context, action);
    }
    match command {
        Command::Snapshot(args) => observe::snapshot::snapshot(context, args),
        Command::Find(args) => observe::find::find(context, args),
        Command::Get(args) => observe::property::get(context, args),
        Command::Is(args) => observe::property::is(context, args),
        Command::Table(args) => observe::table::table(context, args),
        Command::ListSurfaces(args) => observe::list::surfaces(context, args),
        Command::Launch(args) => apps::launch::launch(context, args),
        Command::CloseApp(args) => apps::close::close(context, args),
        Command::ListApps(args) => observe::list::apps(context, args),
        Command::ListWindows(args) => observe::list::windows(context, args),
        Command::Wait(args) => wait::run(context, args),
        Command::Watch(args) => watch::watch(context, args),
        Command::Status(args) => system::status(context, args),
        Command::Permissions(args) => system::permissions(context, args),
        Command::Version(_) => system::version(),
        Command::Skills(args) => skills::answer(args),
        Command::Desktop(args) => system::desktop(context, args),
        Command::Screenshot(args) => capture::screenshot(context, args),
        Command::Press(args) => input::keyboard::press(context, args),
        Command::KeyDown(args) => input::held::key_down(context, args),
        Command::KeyUp(args) => input::held::key_up(context, args),
        Command::MouseDown(args) => input::held::mouse_down(context, args),
        Command::MouseUp(args) => input::held::mouse_up(context, args),
        Command::Hover(args) => input::pointer::hover(context, args),
        Command::Drag(args) => input::drag::drag(context, args),
        Command::MouseMove(args) => input::pointer::mouse_move(context, args),
        Command::MouseClick(args) => input::pointer::mouse_click(context, args),
        Command::MouseWheel(args) => input::pointer::mouse_wheel(context, args),
        Command::ListDisplays(_) => windows::displays(context),
        Command::FocusWindow(args) => windows::focus(context, args),
        Command::ResizeWindow(args) => windows::resize(context, args),
        Command::MoveWindow(args) => windows::move_to(context, args),
        Command::Minimize(args) => windows::minimize(context, args),
        Command::Maximize(args) => windows::maximize(context, args),
        Command::Restore(args) => windows::restore(context, args),
        Command::ClipboardGet(args) => clipboard::get(context, args),
        Command::ClipboardSet(args) => clipboard::set(context, args),
        Command::ClipboardClear(_) => clipboard::clear(context),
        Command::Batch(args) => batch::run(context, args),
        Command::Session(args) => session::run(context, args),
        Command::Trace(args) => trace::run(context, args),
        Command::CursorOverlay(args) => overlay::run(context, args),
        other => Err(not_available(other.name())),
    }
}

/// What is refused before anything is opened.
fn admit(command: &Command, context: &Context) -> Result<()> {
    let spec = command.spec();
    wait::selector::admit(command, context.globals())?;
    debug::admit(command, context)?;
    overlay::admit(command, context)?;
    if stdin_unread(command) {
        return Err(
            Error::invalid("--stdin works on the command line only").suggest("Put the text into the arguments.")
        );
    }
    if spec.headed && context.policy() < Policy::Headed {
        return Err(needs_headed(spec.name));
    }
    if !spec.built {
        return Err(not_available(spec.name));
    }
    let flag = match command {
        Command::Wait(args) => args.not_available(),
        _ => None,
    };
    flag.map_or(Ok(()), |flag| Err(not_available(flag)))
}

fn stdin_unread(command: &Command) -> bool {
    match command {
        Command::Type(args) => args.stdin,
        Command::SetValue(args) => args.stdin,
        Command::ClipboardSet(args) => args.stdin,
        _ => false,
    }
}

/// Fails only where the operating system says that the permission is denied; not knowing passes.
fn check_permission(command: &Command, context: &Context) -> Result<()> {
    if matches!(command, Command::Wait(args) if args.ms.is_some()) {
        return Ok(());
    }
    let platform = match (context.platform(), command) {
        // Letting go of keys needs neither the rules nor a permission.
        (Err(error), Command::KeyUp(_)) if error.kind_name() == Some(POLICY_FILE) => return Ok(()),
        (platform, _) => platform?,
    };
    let accessibility = &platform.permissions()["accessibility"];
    if accessibility["state"] != "denied" {
        return Ok(());
    }
    let suggestion =
        accessibility["suggestion"].as_str().unwrap_or("Run 'agent-desktop permissions' for how to grant it.");
    Err(Error::before(Code::PermDenied, "the accessibility permission is denied").suggest(suggestion))
}

/// `POLICY_DENIED`: the command is physical input.
fn needs_headed(name: &str) -> Error {
    Error::before(Code::PolicyDenied, format!("{name} moves the pointer or the focus: it needs --headed"))
        .kind("needs_headed")
        .suggest("Repeat with --headed only if taking over pointer and focus is acceptable.")
}

/// The answer of commands and flags that are not built yet.
pub fn not_available(what: &str) -> Error {
    Error::before(Code::PlatformNotSupported, format!("{what} is not available in this version"))
        .kind("not_available")
        .detail("what", what)
        .suggest("'agent-desktop skills get platform' lists what is.")
}
