//! What a model is told of a page.

use std::sync::Arc;

use runvil::Outcome;
use runvil::harness::{Harness, Launch, Script};

use crate::ask::{policy, site, web};
use crate::server::{Step, reply};

const PROMPT: &str = "---
name: t
description: d
runvil: 0
uses: [web]
models: { m: { description: d } }
---
# T

## A

```lua
models.use('m')
packs.offer('web')
local talk = messages.new():user('go')
models.loop(talk)
for i, said in ipairs({ 'url: http://a.example/\\ntruncated: false\\nextraction: plain\\n\\nfine',
                        'scheme not allowed: ftp', 'port not allowed: 8080',
                        'web_fetch: missing url argument', 'web_search: invalid arguments' }) do
  local content = talk[i + 2].content
  assert(content == untrusted(said), content)
end
local ok, e = pcall(tools.call, 'web/fetch', { url = 'http://a.example:8080/' })
assert(not ok and e.kind == 'tool')
return tools.call('web/fetch', { url = 'ftp://a.example/' })
```
";

const SCRIPT: &str = "
rounds:
  - when: { contains: 'go' }
    calls:
      - { name: web_fetch, arguments: { url: 'http://a.example/' } }
      - { name: web_fetch, arguments: { url: 'ftp://a.example/' } }
      - { name: web_fetch, arguments: { url: 'http://a.example:8080/' } }
      - { name: web_fetch, arguments: { uri: 'http://a.example/' } }
      - { name: web_search, arguments: { query: 'q', more: 1 } }
  - reply: 'done'
";

#[test]
fn t149_soft_and_hard_failures_reach_a_model_as_wrapped_text() {
    let (_server, network) = site(|_, _| vec![Step::Send(reply("200 OK", "text/plain", "fine"))]);
    let harness = Harness::default().with_web(web(policy(&network)));
    let script = Script::from_yaml(SCRIPT).unwrap();
    let launch = Launch {
        model: Some(script.model().clone()),
        broker: Some(Arc::new(script)),
        ..Launch::default()
    };
    let report = harness.run(PROMPT, launch, &mut |_| {});
    // A soft failure reaches a script as text too.
    let Outcome::Completed(text) = report.outcome else {
        panic!("{:?}", report.outcome);
    };
    assert!(text.contains("\nscheme not allowed: ftp\n"), "{text}");
}
