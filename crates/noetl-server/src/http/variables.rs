//! Variables of an execution.

use axum::extract::State;
use noetl_api::variables::{
    NewVariable, SetVariables, Variable, VariableType, Variables, VariablesDeleted, VariablesSet,
};
use noetl_api::{ErrorBody, Id};
use noetl_types::ExecutionId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, Path};
use super::guard::{Scope, only};
use crate::app::{App, Code, Error};

const MOST_AT_ONCE: usize = 1000;
const LONGEST_NAME: usize = 1024;

pub fn router() -> OpenApiRouter<App> {
    let read = OpenApiRouter::new().routes(routes!(list)).routes(routes!(read));
    let write = OpenApiRouter::new().routes(routes!(set, delete_all)).routes(routes!(delete));
    only(Scope::Viewer, read).merge(only(Scope::Operator, write))
}

/// Set variables
#[utoipa::path(post, path = "/api/vars/{execution_id}", tag = "variables", params(("execution_id" = Id, Path)),
    request_body = SetVariables,
    responses((status = 200, body = VariablesSet), (status = 404, body = ErrorBody)))]
async fn set(
    State(app): State<App>,
    Path(execution): Path<Id>,
    Json(request): Json<SetVariables>,
) -> Result<Json<VariablesSet>, Error> {
    let given = match request {
        SetVariables::List(list) => list.variables,
        SetVariables::Map(map) => map.into_iter().map(|(name, value)| plain(name, value)).collect(),
    };
    if given.len() > MOST_AT_ONCE {
        let message = format!("at most {MOST_AT_ONCE} variables can be set at once");
        return Err(Error::new(Code::BodyInvalid, message));
    }
    if given.iter().any(|variable| !(1..=LONGEST_NAME).contains(&variable.var_name.len())) {
        let message = format!("the name of a variable has 1 to {LONGEST_NAME} bytes");
        return Err(Error::new(Code::BodyInvalid, message));
    }
    let variables: Vec<noetl_store::NewVariable> = given.into_iter().map(new_variable).collect();
    app.set_variables(ExecutionId(execution.0), &variables).await?;
    Ok(Json(VariablesSet {
        execution_id: execution,
        variables_set: variables.len(),
        status: "ok".to_owned(),
    }))
}

/// All variables of an execution
#[utoipa::path(get, path = "/api/vars/{execution_id}", tag = "variables", params(("execution_id" = Id, Path)),
    responses((status = 200, body = Variables), (status = 404, body = ErrorBody)))]
async fn list(State(app): State<App>, Path(execution): Path<Id>) -> Result<Json<Variables>, Error> {
    let variables = app.list_variables(ExecutionId(execution.0)).await?;
    let variables: Vec<Variable> = variables.into_iter().map(variable).collect();
    Ok(Json(Variables { execution_id: execution, count: variables.len(), variables }))
}

/// One variable
///
/// Reading it is counted.
#[utoipa::path(get, path = "/api/vars/{execution_id}/{name}", tag = "variables",
    params(("execution_id" = Id, Path), ("name" = String, Path)),
    responses((status = 200, body = Variable), (status = 404, body = ErrorBody)))]
async fn read(
    State(app): State<App>,
    Path((execution, name)): Path<(Id, String)>,
) -> Result<Json<Variable>, Error> {
    Ok(Json(variable(app.read_variable(ExecutionId(execution.0), &name).await?)))
}

/// Remove a variable
#[utoipa::path(delete, path = "/api/vars/{execution_id}/{name}", tag = "variables",
    params(("execution_id" = Id, Path), ("name" = String, Path)),
    responses((status = 200, body = VariablesDeleted), (status = 404, body = ErrorBody)))]
async fn delete(
    State(app): State<App>,
    Path((execution, name)): Path<(Id, String)>,
) -> Result<Json<VariablesDeleted>, Error> {
    app.delete_variable(ExecutionId(execution.0), &name).await?;
    Ok(deleted(execution, 1))
}

/// Remove all variables of an execution
#[utoipa::path(delete, path = "/api/vars/{execution_id}", tag = "variables", params(("execution_id" = Id, Path)),
    responses((status = 200, body = VariablesDeleted), (status = 404, body = ErrorBody)))]
async fn delete_all(
    State(app): State<App>,
    Path(execution): Path<Id>,
) -> Result<Json<VariablesDeleted>, Error> {
    let count = app.delete_variables(ExecutionId(execution.0)).await?;
    Ok(deleted(execution, count))
}

fn deleted(execution_id: Id, deleted: u64) -> Json<VariablesDeleted> {
    Json(VariablesDeleted { execution_id, deleted, status: "ok".to_owned() })
}

fn plain(var_name: String, var_value: noetl_types::Value) -> NewVariable {
    NewVariable { var_name, var_value, var_type: VariableType::default(), source_step: None }
}

fn new_variable(variable: NewVariable) -> noetl_store::NewVariable {
    noetl_store::NewVariable {
        name: variable.var_name.into(),
        variable_type: match variable.var_type {
            VariableType::UserDefined => noetl_store::VariableType::UserDefined,
            VariableType::StepResult => noetl_store::VariableType::StepResult,
            VariableType::Computed => noetl_store::VariableType::Computed,
            VariableType::IteratorState => noetl_store::VariableType::IteratorState,
        },
        value: variable.var_value,
        source_step: variable.source_step.map(Into::into),
    }
}

fn variable(stored: noetl_store::Variable) -> Variable {
    let noetl_store::Variable { variable, created_at, accessed_at, access_count } = stored;
    Variable {
        var_name: variable.name.to_string(),
        var_type: match variable.variable_type {
            noetl_store::VariableType::UserDefined => VariableType::UserDefined,
            noetl_store::VariableType::StepResult => VariableType::StepResult,
            noetl_store::VariableType::Computed => VariableType::Computed,
            noetl_store::VariableType::IteratorState => VariableType::IteratorState,
        },
        var_value: variable.value,
        source_step: variable.source_step.map(|step| step.to_string()),
        created_at: created_at.to_string(),
        accessed_at: accessed_at.map(|at| at.to_string()),
        access_count,
    }
}
