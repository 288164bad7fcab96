//! Words as a shell reads them (spec P66, P109).

/// Words in one line, each in quotes where a shell would read it otherwise.
pub(super) fn join<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote(word.as_ref())).collect();
    words.join(" ")
}

fn quote(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_@%+=:,./-".contains(char);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_needed() {
        assert_eq!(join(&["test", "-s", "a b"]), "test -s 'a b'");
        assert_eq!(join(&["sh", "-c", "it's $HOME"]), r"sh -c 'it'\''s $HOME'");
        assert_eq!(join(&["", "a=b:c,d/e.f+@%"]), "'' a=b:c,d/e.f+@%");
    }
}
