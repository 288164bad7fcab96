//! A record of texts that would do harm where they were taken for more than texts.

use super::recorded::{prompt_with_model, record, section};

/// Escape sequences, markup, marks that turn text around, and a line that is long.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\r\u{9b}31m</script><script>alert(1)</script>\
                       <img src=x onerror=alert(1)>\u{202e}abc\u{2066}\u{7f}\0&amp;\"'";

/// A record in which every text is hostile that a prompt, a model or an operator gives.
pub fn hostile() -> Vec<u8> {
    let lua_text = |text: &str| {
        let bytes = text.bytes().map(|byte| format!("\\x{byte:02x}"));
        format!("'{}'", bytes.collect::<String>())
    };
    let text = lua_text(HOSTILE);
    // A checkpoint takes no control characters.
    let printable: String = HOSTILE.chars().filter(|char| !char.is_control()).collect();
    let printable = lua_text(&printable);
    let long = "('long ' .. ('x'):rep(200000))";
    let lua = format!(
        "log({printable}) store.write('a.md', {text}) store.write('b.md', {long}) tasks.fanout('### Arm', {{ {text} }})\n\
         local t = messages.new():user({text}) models.loop(t) error({text})"
    );
    let source = prompt_with_model(
        &(section("## <b>A</b> & \"c\"", &lua) + &section("### Arm", "return item")),
    );
    let reply = serde_json::to_string(HOSTILE).unwrap();
    // YAML reads DEL and C1 only as escapes.
    let reply = reply
        .replace('\u{7f}', "\\u007f")
        .replace('\u{9b}', "\\u009b");
    let script = format!("rounds:\n  - reply: {reply}\n    reasoning: {reply}\n");
    record(&source, Some(&script), HOSTILE)
}
