//! Any text as a script: no panic, errors that name a line of the text, and a script that is read
//! answers every round.

#![no_main]

use std::sync::Arc;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use runvil::engine::model::{Message, Origin, Role, Round};
use runvil::harness::Script;
use runvil::harness::model::{Abort, Broker, Taken, Terms};

fuzz_target!(|yaml: &str| {
    let script = match Script::from_yaml(yaml) {
        Ok(script) => script,
        Err(error) => {
            assert!(!error.message.is_empty(), "{error:?}");
            assert!((1..=yaml.len() + 1).contains(&error.line), "{error:?}");
            return;
        }
    };
    assert!(script.model().context > 0);
    for number in 0..3 {
        let round = Round {
            round: number,
            origin: Origin::Chat,
            model: script.model().id.clone(),
            messages: [Message::text(Role::User, yaml)].into(),
            tools: Arc::default(),
            temperature: None,
            max_tokens: None,
            thinking: None,
        };
        let terms = Terms {
            response_cap: 1,
            receive_timeout: Duration::from_secs(1),
            abort: Abort::default(),
            show: None,
            tap: None,
        };
        let taken = script.take(Arc::new(round), terms);
        assert!(matches!(taken, Taken::Known(..)), "a script knows its answers");
    }
});
