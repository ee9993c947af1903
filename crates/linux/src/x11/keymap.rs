//! The keyboard's layout as the server has it: which key gives which symbol with which modifiers, which keys are spare.

use super::connection::Connection;
use super::error::X11Error;
use super::keysym;
use x11rb::protocol::xkb::{self, ConnectionExt as _, ID, KeySymMap, KeyType, MapPart};
use x11rb::protocol::xproto::{ConnectionExt as _, ModMask};

/// The bit of Shift.
pub const SHIFT: u8 = 1;
/// The bit of Caps Lock.
pub const LOCK: u8 = 2;

/// How one symbol is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stroke {
    /// The key.
    pub keycode: u8,
    /// Modifier bits that must be down with it, beyond those that are locked.
    pub modifiers: u8,
}

/// Modifiers and group as they are now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Locked modifier bits: Caps Lock, Num Lock.
    pub locked: u8,
    /// Latched modifier bits: sticky keys.
    pub latched: u8,
    /// The group (layout) in force.
    pub group: u8,
}

/// The layout.
#[derive(Debug)]
pub struct Keymap {
    min: u8,
    keys: Vec<KeySymMap>,
    types: Vec<KeyType>,
    modifiers: [u8; 256],
}

fn core_keyboard() -> xkb::DeviceSpec {
    ID::USE_CORE_KBD.into()
}

/// Must be called once for a connection before anything else of this file.
///
/// # Errors
/// `Unsupported` where the server has no XKEYBOARD.
pub fn enable(x: &Connection) -> Result<(), X11Error> {
    match x.raw().xkb_use_extension(1, 0)?.reply()?.supported {
        true => Ok(()),
        false => Err(X11Error::Unsupported { what: "XKEYBOARD".to_owned() }),
    }
}

/// The state of the modifiers and the group.
pub fn state(x: &Connection) -> Result<State, X11Error> {
    let reply = x.raw().xkb_get_state(core_keyboard())?.reply()?;
    Ok(State {
        locked: u8::try_from(u16::from(reply.locked_mods)).unwrap_or_default(),
        latched: u8::try_from(u16::from(reply.latched_mods)).unwrap_or_default(),
        group: reply.group.into(),
    })
}

/// Locks the modifiers of `affect` that are in `locked`, unlocks the others of `affect`; clears latches among them.
pub fn set_locked(x: &Connection, affect: u8, locked: u8) -> Result<(), X11Error> {
    let mask = |bits: u8| ModMask::from(u16::from(bits));
    x.raw().xkb_latch_lock_state(
        core_keyboard(),
        mask(affect),
        mask(locked),
        false,
        xkb::Group::M1,
        mask(affect),
        false,
        0,
    )?;
    Ok(())
}

/// Reads the layout.
pub fn read(x: &Connection) -> Result<Keymap, X11Error> {
    let full = MapPart::KEY_TYPES | MapPart::KEY_SYMS | MapPart::MODIFIER_MAP;
    let none = MapPart::from(0u16);
    let reply = x
        .raw()
        .xkb_get_map(core_keyboard(), full, none, 0, 0, 0, 0, 0, 0, 0, 0, xkb::VMod::from(0u16), 0, 0, 0, 0, 0, 0)?
        .reply()?;
    let mut modifiers = [0; 256];
    for entry in reply.map.modmap_rtrn.unwrap_or_default() {
        modifiers[usize::from(entry.keycode)] = u16::from(entry.mods) as u8;
    }
    Ok(Keymap {
        min: reply.first_key_sym,
        keys: reply.map.syms_rtrn.unwrap_or_default(),
        types: reply.map.types_rtrn.unwrap_or_default(),
        modifiers,
    })
}

impl Keymap {
    /// All keys with their codes.
    fn keys(&self) -> impl Iterator<Item = (u8, &KeySymMap)> {
        (self.min..=u8::MAX).zip(&self.keys)
    }

    /// The modifier bits that a key sets.
    pub fn modifiers_of(&self, keycode: u8) -> u8 {
        self.modifiers[usize::from(keycode)]
    }

    /// The easiest way to type a symbol in a group while `locked` stays as it is.
    pub fn find(&self, wanted: impl Fn(u32) -> bool, group: u8, locked: u8) -> Option<Stroke> {
        let mut best: Option<Stroke> = None;
        for (keycode, key) in self.keys() {
            let Some((kind, symbols)) = self.group(key, group) else { continue };
            for (level, symbol) in symbols.iter().enumerate() {
                if !wanted(*symbol) {
                    continue;
                }
                for modifiers in candidates(kind) {
                    let reaches = level_of(kind, locked | modifiers) == level;
                    let easier = best.is_none_or(|b| modifiers.count_ones() < b.modifiers.count_ones());
                    if reaches && easier && self.can_press(modifiers) {
                        best = Some(Stroke { keycode, modifiers });
                    }
                }
            }
        }
        best
    }

    /// The key that types a character in a group.
    pub fn find_char(&self, c: char, group: u8, locked: u8) -> Option<Stroke> {
        self.find(|symbol| keysym::to_char(symbol) == Some(c), group, locked)
    }

    /// Whether a character stands on a key, in any group, that is also another character's, or is the key `at`.
    pub fn shares_a_key(&self, c: char, other: char, at: u8) -> bool {
        let has = |key: &KeySymMap, c: char| key.syms.iter().any(|s| keysym::to_char(*s) == Some(c));
        self.keys().any(|(code, key)| has(key, c) && (code == at || has(key, other)))
    }

    /// The key that has one of these symbols at its first level in any group: modifiers and keys of function.
    pub fn key_of(&self, symbols: &[u32]) -> Option<u8> {
        symbols.iter().find_map(|wanted| {
            self.keys()
                .find(|(_, key)| {
                    let width = usize::from(key.width).max(1);
                    key.syms.chunks(width).any(|group| group.first() == Some(wanted))
                })
                .map(|(keycode, _)| keycode)
        })
    }

    /// The keys to hold down for these modifier bits; none where one of them has no key of its own.
    pub fn keys_for(&self, bits: u8) -> Option<Vec<u8>> {
        (0..8).filter(|bit| bits & (1 << bit) != 0).map(|bit| self.key_for(1 << bit)).collect()
    }

    fn can_press(&self, bits: u8) -> bool {
        bits == 0 || self.keys_for(bits).is_some()
    }

    /// The key that sets exactly this bit while it is down and locks nothing.
    fn key_for(&self, bit: u8) -> Option<u8> {
        let shifts = |symbol: u32| {
            keysym::SHIFT.contains(&symbol) || symbol == keysym::LEVEL3_SHIFT || symbol == keysym::LEVEL5_SHIFT
        };
        self.keys()
            .find(|(keycode, key)| self.modifiers_of(*keycode) == bit && key.syms.first().is_some_and(|s| shifts(*s)))
            .map(|(keycode, _)| keycode)
    }

    /// Keys without any symbol or modifier: free to borrow.
    pub fn spare(&self) -> Vec<u8> {
        self.keys()
            .filter(|(keycode, key)| {
                key.syms.iter().all(|s| *s == keysym::NONE) && self.modifiers_of(*keycode) == 0 && *keycode > 8
            })
            .map(|(keycode, _)| keycode)
            .collect()
    }

    /// Type and symbols of the group that is in force on this key.
    fn group<'a>(&'a self, key: &'a KeySymMap, wanted: u8) -> Option<(&'a KeyType, &'a [u32])> {
        let count = key.group_info & 0x0f;
        if count == 0 || key.width == 0 {
            return None;
        }
        // What happens to a group that the key doesn't have stands in the upper bits (XKB protocol, 7.2.2).
        let group = match (wanted < count, key.group_info & 0xc0) {
            (true, _) => wanted,
            (false, 0x40) => count - 1,
            (false, 0x80) => Some((key.group_info >> 4) & 3).filter(|g| *g < count).unwrap_or(0),
            (false, _) => wanted % count,
        };
        let kind = self.types.get(usize::from(*key.kt_index.get(usize::from(group))?))?;
        let start = usize::from(group) * usize::from(key.width);
        let symbols = key.syms.get(start..start + usize::from(kind.num_levels.min(key.width)))?;
        Some((kind, symbols))
    }
}

/// Sets of modifiers that are worth trying for a type: none, and those that its table names, never Caps Lock.
fn candidates(kind: &KeyType) -> impl Iterator<Item = u8> + '_ {
    let named = kind.map.iter().filter(|e| e.active).map(|e| bits(e.mods_mask)).filter(|bits| bits & LOCK == 0);
    std::iter::once(0).chain(named)
}

fn level_of(kind: &KeyType, state: u8) -> usize {
    let counted = state & bits(kind.mods_mask);
    kind.map.iter().find(|e| e.active && bits(e.mods_mask) == counted).map_or(0, |e| usize::from(e.level))
}

fn bits(mask: ModMask) -> u8 {
    u16::from(mask) as u8
}

/// Gives borrowed keys symbols, two each: alone and with Shift; none for those that are given back.
///
/// One request for all, whatever lies between them: window managers grab all their keys anew for each change of the
/// layout (openbox; eighteen changes in a row kept it from managing windows for seconds). What lies between is written
/// as it is read, with the server grabbed meanwhile, so that nobody's change is lost.
///
/// # Errors
/// Where the display fails.
pub fn assign(x: &Connection, keys: &[(u8, Option<[u32; 2]>)]) -> Result<(), X11Error> {
    x.raw().grab_server()?;
    let done = assign_all(x, keys);
    x.raw().ungrab_server()?;
    x.raw().get_input_focus()?.reply()?;
    done
}

fn assign_all(x: &Connection, keys: &[(u8, Option<[u32; 2]>)]) -> Result<(), X11Error> {
    /// The type of two levels, the second with Shift: the second of the four that every layout has (XKB protocol 7.2.3).
    const TWO_LEVEL: u8 = 1;
    let (Some(first), Some(last)) = (keys.iter().map(|(k, _)| *k).min(), keys.iter().map(|(k, _)| *k).max()) else {
        return Ok(());
    };
    let now = read(x)?;
    let symbols: Vec<KeySymMap> = now
        .keys()
        .filter(|(code, _)| (first..=last).contains(code))
        .map(|(code, key)| match keys.iter().find(|(k, _)| *k == code) {
            None => key.clone(),
            Some((_, Some(pair))) => {
                KeySymMap { kt_index: [TWO_LEVEL, 0, 0, 0], group_info: 1, width: 2, syms: pair.to_vec() }
            }
            Some((_, None)) => KeySymMap { kt_index: [0; 4], group_info: 0, width: 0, syms: Vec::new() },
        })
        .collect();
    let count = u8::try_from(symbols.len()).unwrap_or(u8::MAX);
    let total = u16::try_from(symbols.iter().map(|k| k.syms.len()).sum::<usize>()).unwrap_or(u16::MAX);
    let values = xkb::SetMapAux::new().syms(symbols);
    let no_flags = xkb::SetMapFlags::from(0u16);
    let no_mods = xkb::VMod::from(0u16);
    let sent = x.raw().xkb_set_map(
        core_keyboard(),
        no_flags,
        now.min,
        u8::MAX,
        0,
        0,
        first,
        count,
        total,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        no_mods,
        &values,
    )?;
    Ok(sent.check()?)
}

/// Takes the symbols of borrowed keys away again.
///
/// # Errors
/// Where the display fails.
pub fn clear(x: &Connection, keys: &[u8]) -> Result<(), X11Error> {
    assign(x, &keys.iter().map(|k| (*k, None)).collect::<Vec<_>>())
}
