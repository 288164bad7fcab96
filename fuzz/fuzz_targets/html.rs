//! Any text as a page: it is rendered, its article and whole, to no more than so many times its
//! size, and to the same each time.

#![no_main]

use libfuzzer_sys::fuzz_target;
use runvil::harness::model::Abort;
use runvil::harness::web::html;
use url::Url;

fuzz_target!(|html: &str| {
    let page = Url::parse("https://a.example/dir/page").unwrap();
    let render = |raw| html::render(html, &page, raw, &Abort::default()).unwrap();
    let [whole, article] = [true, false].map(render);
    assert!(!whole.is_article);
    for rendered in [&whole, &article] {
        assert!(
            rendered.text.len() <= 40 * html.len() + 100,
            "{}",
            rendered.text.len()
        );
        assert_eq!(rendered.text, rendered.text.trim());
    }
    match article.is_article {
        true => assert!(article.text.len() >= 100),
        false => assert_eq!(article, whole),
    }
    assert_eq!(render(false), article);
});
