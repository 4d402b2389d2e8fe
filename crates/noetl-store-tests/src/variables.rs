//! Variables of executions.

use std::sync::Arc;

use noetl_store::{NewVariable, Store, Variable, VariableType};
use noetl_types::{ExecutionId, Value};

use crate::given::*;

const RUN: ExecutionId = ExecutionId(7);

fn variable(name: &str, value: impl Into<Value>) -> NewVariable {
    NewVariable {
        name: name.into(),
        variable_type: VariableType::Computed,
        value: value.into(),
        source_step: Some("work".into()),
    }
}

pub async fn reading_a_variable_counts_the_access(store: Arc<dyn Store>) {
    store.set_variables(RUN, &[variable("a", 1i64)], at(0)).await.unwrap();
    let read = store.read_variable(RUN, "a", at(3)).await.unwrap();
    let expected = Variable {
        variable: variable("a", 1i64),
        created_at: at(0),
        accessed_at: Some(at(3)),
        access_count: 1,
    };
    assert_eq!(read, Some(expected.clone()));
    assert_eq!(store.list_variables(RUN).await.unwrap(), [expected], "listing counts nothing");
    assert_eq!(store.read_variable(RUN, "b", at(3)).await.unwrap(), None);
    assert_eq!(store.read_variable(ExecutionId(8), "a", at(3)).await.unwrap(), None);
}

pub async fn setting_a_variable_again_replaces_its_value(store: Arc<dyn Store>) {
    store.set_variables(RUN, &[variable("a", 1i64)], at(0)).await.unwrap();
    store.read_variable(RUN, "a", at(1)).await.unwrap();
    let newer =
        NewVariable { source_step: None, variable_type: VariableType::UserDefined, ..variable("a", "x") };
    store.set_variables(RUN, &[newer.clone(), variable("b", Value::Null)], at(5)).await.unwrap();
    let all = store.list_variables(RUN).await.unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!((&all[0].variable, all[0].created_at, all[0].access_count), (&newer, at(0), 1));
    assert_eq!(all[1].variable, variable("b", Value::Null));
}

pub async fn variables_are_deleted_one_by_one_or_all(store: Arc<dyn Store>) {
    let other = ExecutionId(8);
    for execution in [RUN, other] {
        let all = [variable("a", 1i64), variable("b", 2i64), variable("c", 3i64)];
        store.set_variables(execution, &all, at(0)).await.unwrap();
    }
    assert!(store.delete_variable(RUN, "a").await.unwrap());
    assert!(!store.delete_variable(RUN, "a").await.unwrap());
    assert_eq!(store.delete_variables(RUN).await.unwrap(), 2);
    assert_eq!(store.list_variables(RUN).await.unwrap(), []);
    assert_eq!(store.list_variables(other).await.unwrap().len(), 3);
}
