//! The page of `runvil show --html` (spec C16), in Chromium where it is installed. `RUNVIL_CHROMIUM=1`
//! makes that a must.

#![allow(clippy::unwrap_used)]

#[allow(dead_code, reason = "the other tests of `show` use the rest")]
mod process;

#[path = "show/hostile_record.rs"]
mod hostile_record;
#[allow(dead_code, reason = "the other tests of `show` use the rest")]
#[path = "show/recorded.rs"]
mod recorded;

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use process::{finish, runvil};
use recorded::{example, prompt_with_model, record, section};

/// The page of a record, in a folder of its own.
fn page(record: &[u8], words: &[&str]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r.jsonl"), record).unwrap();
    let words = ["show", "r.jsonl", "--html", "page.html"]
        .iter()
        .chain(words);
    let mut command = runvil(folder.path(), words);
    let finished = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()), "");
    assert_eq!((finished.status, finished.stderr.as_str()), (Some(0), ""));
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    (folder, page)
}

/// The browser, where there is one.
fn chromium() -> Option<String> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = names.into_iter().find(|name| {
        let mut command = Command::new(name);
        let asked = command
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        asked.status().is_ok_and(|status| status.success())
    });
    let is_required = env::var_os("RUNVIL_CHROMIUM").is_some_and(|value| value == "1");
    assert!(found.is_some() || !is_required, "there is no Chromium");
    if found.is_none() {
        println!("skipped: there is no Chromium");
    }
    found.map(str::to_owned)
}

/// The document as the browser has it once the script has run, and what it says on its console.
fn opened(browser: &str, folder: &Path, address: &str) -> (String, String) {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
        ])
        .args(["--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync", "--dump-dom"])
        .args([
            "--virtual-time-budget=3000",
            "--enable-logging=stderr",
            "--v=0",
        ])
        .args(["--window-size=1400,900", "--force-prefers-reduced-motion"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}/{address}", folder.display()))
        .output()
        .unwrap();
    assert!(output.status.success());
    let console = String::from_utf8_lossy(&output.stderr);
    let console: Vec<&str> = console
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect();
    (
        String::from_utf8(output.stdout).unwrap(),
        console.join("\n"),
    )
}

/// What a page names outside of itself: an attribute or a style that fetches something.
fn outside(page: &str) -> Vec<&str> {
    let fetching = [
        "src=", "url(", "@import", "srcset=", "<link", "<iframe", "<object", "<embed", "<base",
        "http://", "https://",
    ];
    let own = page.replace("http://www.w3.org/2000/svg", "");
    fetching.into_iter().filter(|it| own.contains(it)).collect()
}

#[test]
fn a_page_needs_nothing_but_itself() {
    let (_folder, page) = page(&example("panel", "what is the sea?"), &[]);
    assert!(page.starts_with("<!doctype html>\n"));
    assert_eq!(outside(&page), [""; 0]);
    assert!(page.contains("content=\"default-src 'none'; style-src 'sha256-"));
    assert!(
        !page.contains("style="),
        "the policy lets no such style apply"
    );
    for text in [
        "Whoever is asked tells of himself.",
        "Sum these answers up in one sentence:",
        "You are a sailor.",
    ] {
        assert!(page.contains(text), "{text} is missing");
    }
    // Every link leads somewhere, and no id is there twice.
    let ids: Vec<&str> = attributes(&page, " id=\"").collect();
    let mut once = ids.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), ids.len());
    for link in attributes(&page, " href=\"#") {
        assert!(ids.contains(&link), "#{link} leads nowhere");
    }
}

fn attributes<'a>(page: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    page.split(name)
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
}

#[test]
fn messages_that_were_sent_before_are_named_and_not_repeated() {
    let lua = "local t = messages.new():user('first question')\n\
               for i = 1, 20 do models.loop(t) t:user('question ' .. i) end return 'x'";
    let script = "rounds:\n  - reply: \"an answer\"\n";
    let record = record(&prompt_with_model(&section("## A", lua)), Some(script), "");
    let (_folder, page) = page(&record, &[]);
    assert_eq!(page.matches(">first question</pre>").count(), 1);
    assert_eq!(page.matches(">question 7</pre>").count(), 1);
    // Once as the reply; what the next round sends of it is no news.
    assert_eq!(page.matches(">an answer</pre>").count(), 20);
    assert!(page.contains("<p class=repeated>2 messages before, as in <a href="));
}

#[test]
fn no_text_of_a_record_is_markup() {
    let (_folder, page) = page(&hostile_record::hostile(), &[]);
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert_eq!(page.matches("</script").count(), 1);
    assert!(!page.contains("<img"));
    let harmful = |char: &char| {
        let turns = matches!(*char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        turns || (char.is_control() && !matches!(char, '\n' | '\t'))
    };
    let found: Vec<char> = page.chars().filter(harmful).collect();
    assert!(found.is_empty(), "{found:?}");
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)"));
}

#[test]
fn a_browser_opens_it_without_a_complaint() {
    let Some(browser) = chromium() else { return };
    for record in [
        example("panel", "what is the sea?"),
        example("race", ""),
        hostile_record::hostile(),
        record("no prompt", None, ""),
    ] {
        let (folder, _) = page(&record, &[]);
        let (document, console) = opened(&browser, folder.path(), "page.html");
        assert_eq!(console, "");
        // The script has run: it unhides the buttons. Its style applies, or this would not fit.
        assert!(document.contains("data-zoom=\"fit\""));
        assert!(
            !document.contains("data-script=\"\" hidden"),
            "the script has not run"
        );
        assert!(document.contains("</html>"));
    }
}

#[test]
fn a_link_into_what_is_closed_opens_it() {
    let Some(browser) = chromium() else { return };
    let (folder, page) = page(&example("panel", "what is the sea?"), &[]);
    // The last round of the run's own chain.
    let ids = attributes(&page, " id=\"").filter(|id| id.starts_with("t0-"));
    let id = ids.last().unwrap();
    let (document, console) = opened(&browser, folder.path(), &format!("page.html#{id}"));
    assert_eq!(console, "");
    let before = document.split(&format!(" id=\"{id}\"")).next().unwrap();
    let (_, around) = before.rsplit_once("<details").unwrap();
    let open = around.split('>').next().unwrap();
    assert!(
        open.contains("item round") && open.contains(" open"),
        "<details{open}>"
    );
}

#[test]
fn a_thousand_rounds_open() {
    let lua = "for i = 1, 1000 do models.infer('question ' .. i) end return 'x'";
    let script = "rounds:\n  - reply: \"an answer of some length, which goes on for a while\"\n";
    let record = record(&prompt_with_model(&section("## A", lua)), Some(script), "");
    let (folder, text) = page(&record, &[]);
    assert_eq!(text.matches("<details class=\"item round\"").count(), 1000);
    assert!(text.len() < 4_000_000, "{} bytes", text.len());
    let Some(browser) = chromium() else { return };
    let begun = std::time::Instant::now();
    let (document, console) = opened(&browser, folder.path(), "page.html");
    println!("{} bytes, opened in {:?}", text.len(), begun.elapsed());
    assert_eq!(console, "");
    assert!(!document.contains("data-script=\"\" hidden"));
}
