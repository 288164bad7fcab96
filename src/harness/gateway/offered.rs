//! The tools on offer as a request has them, written once for all rounds that offer the same.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::engine::model::Tool;

/// How many lists are remembered: sections that take turns have one each.
const MOST: usize = 8;

/// What the lists of tools that rounds offered last are in a request. A list is known by being the
/// very same, and is held as long, so that none other can take its place.
#[derive(Debug, Default)]
pub(super) struct OfferedTools(Mutex<Vec<Written>>);

#[derive(Debug)]
struct Written {
    tools: Arc<[Tool]>,
    json: Arc<RawValue>,
}

impl OfferedTools {
    /// The tools as JSON; `None` for none.
    pub(super) fn json(
        &self,
        tools: &Arc<[Tool]>,
    ) -> Result<Option<Arc<RawValue>>, serde_json::Error> {
        if tools.is_empty() {
            return Ok(None);
        }
        if let Some(json) = self.find(tools) {
            return Ok(Some(json));
        }
        let offered: Vec<_> = tools.iter().map(Offered::new).collect();
        let json: Arc<RawValue> = to_raw_value(&offered)?.into();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.truncate(MOST - 1);
        let written = Written {
            tools: tools.clone(),
            json: json.clone(),
        };
        known.insert(0, written);
        Ok(Some(json))
    }

    /// What a list is, where it is known; it is then the one that was used last.
    fn find(&self, tools: &Arc<[Tool]>) -> Option<Arc<RawValue>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |written: &Written| Arc::ptr_eq(&written.tools, tools);
        let found = known.iter().position(is_same)?;
        known.get_mut(..=found)?.rotate_right(1);
        known.first().map(|written| written.json.clone())
    }
}

#[derive(Serialize)]
struct Offered<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: &'a Tool,
}

impl<'a> Offered<'a> {
    fn new(function: &'a Tool) -> Self {
        Self {
            kind: "function",
            function,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lua::Data;

    fn tools(name: &str) -> Arc<[Tool]> {
        let tool = Tool {
            name: name.into(),
            description: "d".into(),
            parameters: Data::empty(),
        };
        Arc::new([tool])
    }

    fn json(known: &OfferedTools, tools: &Arc<[Tool]>) -> Arc<RawValue> {
        known.json(tools).expect("written").expect("some")
    }

    #[test]
    fn a_list_is_written_once() {
        let known = OfferedTools::default();
        let (a, b) = (tools("a"), tools("b"));
        let first = json(&known, &a);
        let expected =
            r#"[{"type":"function","function":{"name":"a","description":"d","parameters":{}}}]"#;
        assert_eq!(first.get(), expected);
        assert!(json(&known, &b).get().contains(r#""name":"b""#));
        assert!(Arc::ptr_eq(&json(&known, &a), &first));
        // Another list is another, whatever is in it.
        let again = json(&known, &tools("a"));
        assert!(!Arc::ptr_eq(&again, &first) && again.get() == first.get());
        let none: Arc<[Tool]> = Arc::new([]);
        assert!(known.json(&none).expect("written").is_none());
    }

    #[test]
    fn the_lists_used_last_are_remembered() {
        let known = OfferedTools::default();
        let often = tools("often");
        let first = json(&known, &often);
        let others: Vec<_> = (0..3 * MOST).map(|i| tools(&i.to_string())).collect();
        for other in &others {
            json(&known, other);
            assert!(Arc::ptr_eq(&json(&known, &often), &first));
        }
        assert_eq!(known.0.lock().expect("sound").len(), MOST);
        // What is forgotten is let go.
        assert_eq!(Arc::strong_count(&others[0]), 1);
        assert_eq!(Arc::strong_count(&often), 2);
    }
}
