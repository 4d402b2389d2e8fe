use noetl_types::{ErrorKind, Value, value};

use crate::harness::{assert_fails, data, run, shared};

#[test]
fn the_result_comes_back_as_it_is() {
    assert_eq!(*data(&run("noop", value!({"result": {"n": 1}, "message": "hi"}))), value!({"n": 1}));
    assert_eq!(*data(&run("noop", value!({"result": null, "message": "hi"}))), Value::Null);
}

#[test]
fn a_message_comes_back_under_its_name() {
    assert_eq!(*data(&run("noop", value!({"message": "hi 1"}))), value!({"message": "hi 1"}));
    assert_eq!(*data(&run("noop", value!({}))), Value::Null);
}

#[test]
fn an_unknown_kind_is_an_error_that_lists_the_known_ones() {
    assert_fails(&run("teleport", value!({})), ErrorKind::Config, "there is no tool of kind 'teleport'");
    assert_fails(&run("teleport", value!({})), ErrorKind::Config, "noop");
}

#[test]
fn every_kind_describes_its_fields_without_ambiguity() {
    for kind in shared().kinds() {
        let mut names: Vec<_> =
            kind.fields.iter().flat_map(|f| std::iter::once(&f.name).chain(f.aliases)).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "{} names a field twice", kind.kind);
        assert!(!kind.summary.is_empty() && !kind.result.is_empty());
        assert!(kind.fields.iter().all(|field| !field.doc.is_empty()));
    }
}
