//! Just enough of Rust's lexical grammar to read sources without their comments, strings and tests.

/// A word or a single punctuation character, and the line it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// The tokens of a source, without comments and literals.
pub fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let mut out = Vec::new();
    let mut line = 1;
    let mut at = 0;
    while at < chars.len() {
        let end = match chars[at] {
            '/' if chars.get(at + 1) == Some(&'/') => end_of_line(&chars, at),
            '/' if chars.get(at + 1) == Some(&'*') => end_of_comment(&chars, at),
            '"' => end_of_string(&chars, at),
            '\'' => end_of_quote(&chars, at),
            char if is_word(char) => {
                let end = (at..chars.len())
                    .find(|&i| !is_word(chars[i]))
                    .unwrap_or(chars.len());
                match raw_string(&chars, at, end) {
                    Some(end) => end,
                    None => {
                        out.push(Token {
                            text: chars[at..end].iter().collect(),
                            line,
                        });
                        end
                    }
                }
            }
            char if char.is_whitespace() => at + 1,
            char => {
                out.push(Token {
                    text: char.to_string(),
                    line,
                });
                at + 1
            }
        };
        line += chars[at..end].iter().filter(|&&char| char == '\n').count();
        at = end;
    }
    out
}

/// The tokens that are not under a `#[cfg(test)]`.
pub fn without_tests(tokens: &[Token]) -> Vec<Token> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if is_at(tokens, at, &MARK) {
            at = end_of_item(tokens, at + MARK.len());
        } else {
            out.push(tokens[at].clone());
            at += 1;
        }
    }
    out
}

/// Whether these words stand at a place.
pub fn is_at(tokens: &[Token], at: usize, words: &[&str]) -> bool {
    let Some(found) = tokens.get(at..at + words.len()) else {
        return false;
    };
    found
        .iter()
        .zip(words)
        .all(|(token, word)| token.text == *word)
}

/// Every path of the source with the line of its last segment; a `use` group is spelled out.
pub fn paths(tokens: &[Token]) -> Vec<(usize, Vec<String>)> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let starts = is_name(&tokens[at]) && !ends_with_separator(&tokens[..at]);
        if starts {
            at = read_path(tokens, at, &[], &mut out)
        } else {
            at += 1
        }
    }
    out
}

/// Reads one path that may end in a group; gives the index after it.
fn read_path(
    tokens: &[Token],
    mut at: usize,
    prefix: &[String],
    out: &mut Vec<(usize, Vec<String>)>,
) -> usize {
    let mut path = prefix.to_vec();
    let mut line = tokens[at].line;
    while let Some(token) = tokens.get(at).filter(|token| is_name(token)) {
        path.push(token.text.clone());
        line = token.line;
        at += 1;
        if !is_at(tokens, at, &[":", ":"]) {
            break;
        }
        at += 2;
    }
    let in_group =
        tokens.get(at).is_some_and(|token| token.text == "{") && ends_with_separator(&tokens[..at]);
    if !in_group {
        out.push((line, path));
        return at;
    }
    at += 1;
    while at < tokens.len() && tokens[at].text != "}" {
        let inner = is_name(&tokens[at]) || tokens[at].text == "{";
        at = if inner {
            read_path(tokens, at, &path, out)
        } else {
            at + 1
        };
    }
    at + 1
}

fn ends_with_separator(tokens: &[Token]) -> bool {
    tokens.len() >= 2 && is_at(tokens, tokens.len() - 2, &[":", ":"])
}

fn is_name(token: &Token) -> bool {
    token
        .text
        .starts_with(|char: char| char.is_alphabetic() || char == '_')
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

fn end_of_line(chars: &[char], at: usize) -> usize {
    (at..chars.len())
        .find(|&i| chars[i] == '\n')
        .unwrap_or(chars.len())
}

fn end_of_comment(chars: &[char], at: usize) -> usize {
    let mut depth = 0;
    let mut i = at;
    while i < chars.len() {
        match (chars[i], chars.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            break;
        }
    }
    i.min(chars.len())
}

fn end_of_string(chars: &[char], at: usize) -> usize {
    let mut i = at + 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

/// A character literal, or the tick of a lifetime.
fn end_of_quote(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => {
            let close = (at + 3..chars.len()).find(|&i| chars[i] == '\'');
            close.map_or(chars.len(), |i| i + 1)
        }
        (Some(_), Some('\'')) => at + 3,
        _ => at + 1,
    }
}

/// The end of a raw string whose prefix is the word from `at` to `word`.
fn raw_string(chars: &[char], at: usize, word: usize) -> Option<usize> {
    let prefix: String = chars[at..word].iter().collect();
    if !matches!(prefix.as_str(), "r" | "br" | "cr") {
        return None;
    }
    let open = (word..chars.len()).find(|&i| chars[i] != '#')?;
    let hashes = open - word;
    if chars[open] != '"' {
        return None;
    }
    let closes = |i: usize| {
        chars[i] == '"' && (1..=hashes).all(|offset| chars.get(i + offset) == Some(&'#'))
    };
    (open + 1..chars.len())
        .find(|&i| closes(i))
        .map(|i| i + 1 + hashes)
}

/// The index after the item that starts here: after its block, or after its semicolon.
fn end_of_item(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token.text.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => break,
            "}" => depth -= 1,
            ";" if depth == 0 => break,
            _ => {}
        }
    }
    at
}
