//! The signs that ref labels are made of, five dots wide and seven high.

/// Dots across.
pub(super) const WIDTH: i64 = 5;
/// Dots down.
pub(super) const HEIGHT: i64 = 7;

/// Rows of a sign from the top; the leftmost dot is bit 4. Unknown signs are a box.
pub(super) fn rows(sign: char) -> [u8; 7] {
    match sign {
        '0' => [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
        '1' => [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
        '2' => [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
        '3' => [0b11110, 0b00001, 0b00001, 0b01110, 0b00001, 0b00001, 0b11110],
        '4' => [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
        '5' => [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
        '6' => [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
        '7' => [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
        '8' => [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
        '9' => [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
        'e' => [0b00000, 0b00000, 0b01110, 0b10001, 0b11111, 0b10000, 0b01110],
        _ => [0b11111, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b11111],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_told_apart() {
        let all: Vec<_> = "e0123456789?".chars().map(rows).collect();
        for (at, sign) in all.iter().enumerate() {
            assert!(sign.iter().all(|row| *row < 32));
            assert!(all[at + 1..].iter().all(|other| {
                let dots: u32 = sign.iter().zip(other).map(|(a, b)| (a ^ b).count_ones()).sum();
                dots >= 3
            }));
        }
    }
}
