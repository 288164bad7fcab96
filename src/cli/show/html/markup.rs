//! Markup that cannot hold a text unescaped: what is not the program's own goes through [`Markup::text`]
//! or [`Markup::attr`].

use runvil::harness::record::timeline::Clip;

use crate::cli::escape::turns_text;
use crate::cli::show::amount::size;

/// Markup that is being written.
#[derive(Default)]
pub struct Markup(String);

impl Markup {
    pub fn into_string(self) -> String {
        self.0
    }

    /// Markup of the program's own.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// A text. Characters that would not be seen, or would turn others around, are shown as escapes.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for char in text.chars() {
            match char {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '\n' | '\t' => self.0.push(char),
                _ if char.is_control() || turns_text(char) => {
                    self.0.push_str("<b class=ctl>");
                    self.0.extend(char.escape_default());
                    self.0.push_str("</b>");
                }
                _ => self.0.push(char),
            }
        }
        self
    }

    /// An attribute, with the space before it.
    pub fn attr(&mut self, name: &'static str, value: &str) -> &mut Self {
        self.0.push(' ');
        self.0.push_str(name);
        self.0.push_str("=\"");
        for char in value.chars() {
            match char {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\n' | '\t' => self.0.push(char),
                _ if char.is_control() || turns_text(char) => self.0.extend(char.escape_default()),
                _ => self.0.push(char),
            }
        }
        self.0.push('"');
        self
    }

    /// A text that is an element's whole content.
    pub fn element(&mut self, open: &'static str, text: &str, close: &'static str) -> &mut Self {
        self.raw(open).text(text).raw(close)
    }

    /// A text as it stands, in a box that scrolls where it is long, and what there is more of it.
    pub fn block(&mut self, clip: &Clip) -> &mut Self {
        let is_long = clip.text.len() > 2000 || clip.text.lines().count() > 24;
        // What scrolls must be reached with the keyboard.
        match is_long {
            true => self.raw("<pre dir=auto class=long tabindex=0>"),
            false => self.raw("<pre dir=auto>"),
        };
        // A parser drops the first newline of a `pre`.
        if clip.text.starts_with('\n') {
            self.raw("\n");
        }
        self.text(&clip.text).raw("</pre>");
        if clip.left_out > 0 {
            let more = format!("{} more are in the record", size(clip.left_out));
            self.element("<p class=cut>… ", &more, "</p>");
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        let mut markup = Markup::default();
        let hostile = "</script><img src=x onerror='a()'>&\"\u{1b}[2J\u{202e}\u{7f}";
        markup
            .raw("<i")
            .attr("title", hostile)
            .raw(">")
            .text(hostile);
        let shown = markup.into_string();
        assert_eq!(
            shown,
            "<i title=\"&lt;/script&gt;&lt;img src=x onerror='a()'&gt;&amp;&quot;\\u{1b}[2J\\u{202e}\
             \\u{7f}\">&lt;/script&gt;&lt;img src=x onerror='a()'&gt;&amp;\"\
             <b class=ctl>\\u{1b}</b>[2J<b class=ctl>\\u{202e}</b><b class=ctl>\\u{7f}</b>"
        );
    }
}
