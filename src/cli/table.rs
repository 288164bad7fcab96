//! Tables on standard output.

use super::cell::width;

/// Rows whose columns stand under each other, two spaces apart.
pub fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (wide, text) in widths.iter_mut().zip(row) {
            *wide = width(text).max(*wide);
        }
    }
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (wide, text) in widths.iter().zip(row) {
            line += text;
            line += &" ".repeat(wide.saturating_sub(width(text)) + 2);
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}
