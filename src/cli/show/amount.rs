//! Times, sizes and counts as a person reads them.

/// A span of milliseconds.
pub fn span(millis: u64) -> String {
    match millis {
        0..1000 => format!("{millis}ms"),
        // Rounded down, so that what is below a minute never shows one.
        1000..60_000 => format!("{}.{:02}s", millis / 1000, millis % 1000 / 10),
        60_000..3_600_000 => format!("{}m {:02}s", millis / 60_000, millis / 1000 % 60),
        _ => format!("{}h {:02}m", millis / 3_600_000, millis / 60_000 % 60),
    }
}

/// A number of bytes.
pub fn size(bytes: usize) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    // A size is far below 2^53.
    let mut scaled = bytes as f64 / 1000.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if scaled < 999.95 {
            break;
        }
        (scaled, unit) = (scaled / 1000.0, next);
    }
    format!("{scaled:.1} {unit}")
}

/// A number, its thousands apart.
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// So many of something, by its name in the singular.
pub fn count(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{} {what}s", number(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_sizes_and_numbers_are_short() {
        let spans = [0, 999, 1000, 59_999, 60_000, 3_599_999, 3_600_000];
        let shown = spans.map(span);
        assert_eq!(
            shown,
            [
                "0ms", "999ms", "1.00s", "59.99s", "1m 00s", "59m 59s", "1h 00m"
            ]
        );
        assert_eq!(
            [999, 1000, 999_960].map(size),
            ["999 B", "1.0 KB", "1.0 MB"]
        );
        assert_eq!(
            [7, 1234, 1_234_567].map(number),
            ["7", "1,234", "1,234,567"]
        );
        assert_eq!(count(1, "round"), "1 round");
        assert_eq!(count(2000, "round"), "2,000 rounds");
    }
}
