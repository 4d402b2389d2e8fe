//! Keys as text, for databases: what their `Display` prints, read back.

use noetl_types::{CommandKey, Item, TimerKey, VisitId};

/// Reads what [`CommandKey`] prints: `3`, `3.i1`, `3.c0`, `3.i1+2`.
pub fn parse_command_key(text: &str) -> Option<CommandKey> {
    let (place, part) = match text.split_once('+') {
        Some((place, part)) => (place, part.parse().ok()?),
        None => (text, 0),
    };
    let (visit, item) = match place.split_once('.') {
        None => (place, Item::Whole),
        Some((visit, item)) => match (item.strip_prefix('i'), item.strip_prefix('c')) {
            (Some(index), _) => (visit, Item::At(index.parse().ok()?)),
            (_, Some(frame)) => (visit, Item::Claim(frame.parse().ok()?)),
            _ => return None,
        },
    };
    Some(CommandKey { visit: VisitId(visit.parse().ok()?), item, part })
}

/// Reads what [`TimerKey`] prints: `run`, `step 3`, `wake 3.i1+1`.
pub fn parse_timer_key(text: &str) -> Option<TimerKey> {
    match text.split_once(' ') {
        None if text == "run" => Some(TimerKey::Run),
        Some(("step", visit)) => Some(TimerKey::Step(VisitId(visit.parse().ok()?))),
        Some(("wake", command)) => Some(TimerKey::Wake(parse_command_key(command)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands() -> Vec<CommandKey> {
        let items = [Item::Whole, Item::At(0), Item::At(u32::MAX), Item::Claim(7)];
        let parts = [0, 1, u16::MAX];
        let keys = items
            .into_iter()
            .flat_map(|item| parts.map(|part| CommandKey { visit: VisitId(12), item, part }));
        keys.collect()
    }

    #[test]
    fn every_key_is_read_back() {
        for key in commands() {
            assert_eq!(parse_command_key(&key.to_string()), Some(key));
            assert_eq!(parse_timer_key(&TimerKey::Wake(key).to_string()), Some(TimerKey::Wake(key)));
        }
        for key in [TimerKey::Run, TimerKey::Step(VisitId(4))] {
            assert_eq!(parse_timer_key(&key.to_string()), Some(key));
        }
    }

    #[test]
    fn other_texts_are_no_keys() {
        for text in ["", "x", "1.", "1.x3", "1.i", "1+", "1+x", "-1"] {
            assert_eq!(parse_command_key(text), None, "{text}");
        }
        for text in ["", "runs", "step", "step x", "wake", "sleep 1"] {
            assert_eq!(parse_timer_key(text), None, "{text}");
        }
    }
}
