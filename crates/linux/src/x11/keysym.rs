//! Key symbols: the numbers that layouts and applications mean characters and keys by.

use agent_desktop_core::vocab::key::{Key, Modifier};

/// No symbol.
pub const NONE: u32 = 0;
/// Chooses the third level: AltGr.
pub const LEVEL3_SHIFT: u32 = 0xfe03;
/// Chooses the fifth level.
pub const LEVEL5_SHIFT: u32 = 0xfe11;
/// The shift keys.
pub const SHIFT: [u32; 2] = [0xffe1, 0xffe2];

/// Where the Unicode numbers begin: `0x0100_0000` + code point (X protocol, appendix A).
const UNICODE: u32 = 0x0100_0000;

/// The symbol that means this character in every toolkit that was tried: Latin-1 by its number, all else by code point.
pub fn of_char(c: char) -> u32 {
    match u32::from(c) {
        latin @ (0x20..=0x7e | 0xa0..=0xff) => latin,
        code => UNICODE + code,
    }
}

/// The character that a symbol types. None for keys of function, keypads, dead keys and the old symbols that toolkits
/// don't agree about: a character that is found on no key is typed by a spare key, which is slower and as exact.
pub fn to_char(symbol: u32) -> Option<char> {
    match symbol {
        0x20..=0x7e | 0xa0..=0xff => char::from_u32(symbol),
        UNICODE..=0x0110_ffff => char::from_u32(symbol - UNICODE),
        _ => {
            let (first, run) = OLD.iter().rev().find(|(first, _)| *first <= symbol)?;
            run.chars().nth((symbol - first) as usize).filter(|c| *c != ' ')
        }
    }
}

/// The symbol of a key that is no character.
pub fn of_key(key: Key) -> u32 {
    match key {
        Key::Return => 0xff0d,
        Key::Escape => 0xff1b,
        Key::Tab => 0xff09,
        Key::Space => 0x20,
        Key::Backspace => 0xff08,
        Key::ForwardDelete => 0xffff,
        Key::Left => 0xff51,
        Key::Up => 0xff52,
        Key::Right => 0xff53,
        Key::Down => 0xff54,
        Key::Home => 0xff50,
        Key::End => 0xff57,
        Key::PageUp => 0xff55,
        Key::PageDown => 0xff56,
        Key::Insert => 0xff63,
        Key::Menu => 0xff67,
        Key::PrintScreen => 0xff61,
        Key::Function(n) => 0xffbd + u32::from(n),
        Key::Character(c) => of_char(c),
    }
}

/// The symbols of a modifier key, the preferred one first.
pub fn of_modifier(modifier: Modifier) -> &'static [u32] {
    match modifier {
        Modifier::Shift => &SHIFT,
        Modifier::Ctrl => &[0xffe3, 0xffe4],
        Modifier::Alt => &[0xffe9, 0xffea],
        Modifier::Meta => &[0xffeb, 0xffec],
    }
}

/// The symbols from before Unicode that layouts still use, in runs; a blank stands for none of ours. The numbers are
/// the protocol's; checked against GDK's own table by the tests of typing.
const OLD: &[(u32, &str)] = &[
    (0x1a1, "Ą˘Ł ĽŚ  ŠŞŤŹ ŽŻ ą˛ł ľśˇ šşťź˝žżŔ  Ă ĹĆ Č Ę Ě  ĎĐŃŇ  Ő  ŘŮ Ű  Ţ ŕ  ă ĺć č ę ě  ďđńň  ő  řů ű  ţ˙"),
    (0x2a1, "Ħ"),
    (0x2a6, "Ĥ  İ ĞĴ"),
    (0x2b1, "ħ"),
    (0x2b6, "ĥ  ı ğĵ"),
    (0x2c5, "ĊĈ"),
    (0x2d5, "Ġ  Ĝ"),
    (0x2dd, "ŬŜ"),
    (0x2e5, "ċĉ"),
    (0x2f5, "ġ  ĝ"),
    (0x2fd, "ŭŝ"),
    (0x3a2, "ĸŖ ĨĻ   ĒĢŦ"),
    (0x3b3, "ŗ ĩļ   ēģŧŊ ŋĀ"),
    (0x3c7, "Į"),
    (0x3cc, "Ė  Ī ŅŌĶ"),
    (0x3d9, "Ų   ŨŪ ā"),
    (0x3e7, "į"),
    (0x3ec, "ė  ī ņōķ"),
    (0x3f9, "ų   ũū"),
    (0x5ac, "،"),
    (
        0x5bb,
        "\u{61b}   \u{61f} \u{621}\u{622}\u{623}\u{624}\u{625}\u{626}\u{627}\u{628}\u{629}\u{62a}\u{62b}\u{62c}\u{62d}\u{62e}\u{62f}\u{630}\u{631}\u{632}\u{633}\u{634}\u{635}\u{636}\u{637}\u{638}\u{639}\u{63a}",
    ),
    (
        0x5e0,
        "\u{640}\u{641}\u{642}\u{643}\u{644}\u{645}\u{646}\u{647}\u{648}\u{649}\u{64a}\u{64b}\u{64c}\u{64d}\u{64e}\u{64f}\u{650}\u{651}\u{652}",
    ),
    (0x6a1, "ђѓёєѕіїјљњћќ ўџ№ЂЃЁЄЅІЇЈЉЊЋЌ ЎЏюабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ"),
    (0x7a1, "ΆΈΉΊΪ ΌΎΫ Ώ  ΅― άέήίϊΐόύϋΰώ"),
    (0x7c1, "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣ ΤΥΦΧΨΩ"),
    (0x7e1, "αβγδεζηθικλμνξοπρσςτυφχψω"),
    (
        0xcdf,
        "‗\u{5d0}\u{5d1}\u{5d2}\u{5d3}\u{5d4}\u{5d5}\u{5d6}\u{5d7}\u{5d8}\u{5d9}\u{5da}\u{5db}\u{5dc}\u{5dd}\u{5de}\u{5df}\u{5e0}\u{5e1}\u{5e2}\u{5e3}\u{5e4}\u{5e5}\u{5e6}\u{5e7}\u{5e8}\u{5e9}\u{5ea}",
    ),
    (
        0xda1,
        "กขฃคฅฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรฤลฦวศษสหฬอฮฯะ\u{e31}าำ\u{e34}\u{e35}\u{e36}\u{e37}\u{e38}\u{e39}\u{e3a}",
    ),
    (0xddf, "฿เแโใไๅๆ\u{e47}\u{e48}\u{e49}\u{e4a}\u{e4b}\u{e4c}\u{e4d}  ๐๑๒๓๔๕๖๗๘๙"),
    (0x13bc, "ŒœŸ"),
    (0x20a0, "₠₡₢₣₤₥₦₧₨₩₪₫€"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        for (symbol, c) in
            [(0x61, 'a'), (0xe4, 'ä'), (0x6c1, 'а'), (0x7e1, 'α'), (0x20ac, '€'), (0x1ea, 'ę'), (0x0101_f600, '😀')]
        {
            assert_eq!(to_char(symbol), Some(c), "{symbol:#x}");
        }
        assert_eq!(to_char(0x6ff), Some('Ъ'));
        assert_eq!((of_char('ä'), of_char('中'), of_char('😀')), (0xe4, 0x0100_4e2d, 0x0101_f600));
        // Dead keys, keypad and keys of function are no characters.
        for none in [0xfe51, 0xffb1, 0xff0d, 0xffe1, 0, 0x6c0 - 0x20, 0x00ff_ffff] {
            assert_eq!(to_char(none), None, "{none:#x}");
        }
    }
}
