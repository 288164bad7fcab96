//! The rules of spec part 04 as they stand, one after the other and without haste: what the
//! store's own reading of them is compared with.

use runvil::engine::store::Rule;

const MAX_BYTES: usize = 1024;

/// The first rule of spec S15 that a path breaks.
pub fn path_rule(path: &str) -> Option<Rule> {
    let devices = ["CON", "PRN", "AUX", "NUL"].map(str::to_owned).into_iter();
    let ports = (1..=9).flat_map(|n| [format!("COM{n}"), format!("LPT{n}")]);
    let devices: Vec<String> = devices.chain(ports).collect();
    let whole = [
        (Rule::Empty, path.is_empty()),
        (Rule::TooLong, path.len() > MAX_BYTES),
        (Rule::Absolute, path.as_bytes().first() == Some(&b'/')),
        (
            Rule::Control,
            path.bytes().any(|byte| byte.is_ascii_control()),
        ),
        (Rule::Backslash, path.contains('\\')),
    ];
    let by_segment = path.split('/').flat_map(|segment| {
        let base = segment.split('.').next().unwrap_or("").to_ascii_uppercase();
        [
            (Rule::EmptySegment, segment.is_empty()),
            (Rule::Traversal, segment == "." || segment == ".."),
            (
                Rule::UnsafeSuffix,
                segment.ends_with('.') || segment.ends_with(' '),
            ),
            (Rule::ReservedName, devices.contains(&base)),
        ]
    });
    first_broken(whole.into_iter().chain(by_segment))
}

/// The first rule of spec S37 that a pattern breaks.
pub fn pattern_rule(pattern: &str) -> Option<Rule> {
    let stars_fill_segments = pattern.split('/').all(|segment| match segment.find("**") {
        Some(_) => segment.len() == 2,
        None => true,
    });
    first_broken([
        (Rule::Empty, pattern.is_empty()),
        (Rule::TooLong, pattern.len() > MAX_BYTES),
        (
            Rule::Control,
            pattern.bytes().any(|byte| byte.is_ascii_control()),
        ),
        (Rule::Backslash, pattern.contains('\\')),
        (Rule::Wildcard, !stars_fill_segments),
    ])
}

fn first_broken(rules: impl IntoIterator<Item = (Rule, bool)>) -> Option<Rule> {
    rules
        .into_iter()
        .find(|(_, broken)| *broken)
        .map(|(rule, _)| rule)
}

/// Whether a pattern matches a path (spec S34, S35): a table of every rest of the one against
/// every rest of the other, filled from the ends.
pub fn glob(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern
        .strip_suffix('/')
        .unwrap_or(pattern)
        .split('/')
        .collect();
    let path: Vec<&str> = path.split('/').collect();
    table(
        &pattern,
        &path,
        |segment, is_last| match (*segment, is_last) {
            ("**", true) => Wild::Some,
            ("**", false) => Wild::Any,
            _ => Wild::No,
        },
        |segment, name| {
            table(
                segment.as_bytes(),
                name.as_bytes(),
                |byte, _| {
                    if *byte == b'*' { Wild::Any } else { Wild::No }
                },
                |left, right| left == right,
            )
        },
    )
}

/// How many items a wildcard stands for.
enum Wild {
    No,
    Any,
    /// At least one.
    Some,
}

fn table<T>(
    pattern: &[T],
    items: &[T],
    wild: impl Fn(&T, bool) -> Wild,
    same: impl Fn(&T, &T) -> bool,
) -> bool {
    // `rest[j]` tells whether the pattern from here on matches `items[j..]`.
    let mut rest = vec![false; items.len() + 1];
    rest[items.len()] = true;
    for (i, piece) in pattern.iter().enumerate().rev() {
        // `later[j]` tells whether it matches any end of `items[j..]`.
        let mut later = rest.clone();
        for j in (0..items.len()).rev() {
            later[j] |= later[j + 1];
        }
        rest = (0..=items.len())
            .map(|j| match wild(piece, i + 1 == pattern.len()) {
                Wild::Any => later[j],
                Wild::Some => j < items.len() && later[j + 1],
                Wild::No => j < items.len() && rest[j + 1] && same(piece, &items[j]),
            })
            .collect();
    }
    rest[0]
}

/// The lines of a text (spec S22).
pub fn lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for character in text.chars() {
        if character != '\n' {
            line.push(character);
            continue;
        }
        if line.ends_with('\r') {
            line.pop();
        }
        lines.push(std::mem::take(&mut line));
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The selected lines with their numbers, or the text of the range error (spec S26).
pub fn select(
    text: &str,
    start: Option<i64>,
    end: Option<i64>,
) -> Result<Vec<(i64, String)>, &'static str> {
    let lines: Vec<(i64, String)> = (1..).zip(lines(text)).collect();
    let last = lines.len() as i64;
    match (start, end) {
        (None, Some(_)) => Err("start is required when end is given"),
        (None, None) => Ok(lines),
        (Some(start), _) if start < 1 => Err("start must be at least 1"),
        (Some(start), _) if start > last => Ok(Vec::new()),
        (Some(start), Some(end)) if end < start => Err("end must not be before start"),
        (Some(start), end) => {
            let end = end.unwrap_or(last);
            Ok(lines
                .into_iter()
                .filter(|(n, _)| (start..=end).contains(n))
                .collect())
        }
    }
}

/// What `store.read` gives (spec S23, S24).
pub fn read(text: &str, start: Option<i64>, end: Option<i64>) -> Result<String, &'static str> {
    let selected = select(text, start, end)?;
    if start.is_none() {
        return Ok(text.to_owned());
    }
    Ok(selected
        .into_iter()
        .map(|(_, line)| line)
        .collect::<Vec<_>>()
        .join("\n"))
}

/// What `store.read_numbered` gives (spec S25).
pub fn read_numbered(
    text: &str,
    start: Option<i64>,
    end: Option<i64>,
) -> Result<String, &'static str> {
    let selected = select(text, start, end)?;
    let width = selected
        .last()
        .map_or(0, |(number, _)| number.to_string().len());
    let numbered = selected.into_iter().map(|(number, line)| {
        let number = number.to_string();
        format!("{}{number}| {line}", " ".repeat(width - number.len()))
    });
    Ok(numbered.collect::<Vec<_>>().join("\n"))
}
