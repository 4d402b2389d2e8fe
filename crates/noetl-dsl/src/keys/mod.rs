//! The language as tables: which keys each construct has, what they take and what they mean. The key checker, the
//! suggestions and the JSON Schema all read these tables, so that they cannot disagree.

mod construct;
mod document;
mod looping;
mod routing;
mod step;
mod subscription;
mod task;

pub use construct::{Construct, Key, Shape, Status, Unknown, key, required};
pub use document::{EXECUTOR, EXECUTOR_SPEC, KEYCHAIN_ENTRY, METADATA, PLAYBOOK, WORKBOOK_TASK};
pub use looping::{CURSOR, FRAME, LOOP, LOOP_SPEC};
pub use routing::{ARC, ROUTER, ROUTER_SPEC};
pub use step::{ADMIT_RULE, STEP, STEP_SPEC};
pub use subscription::SUBSCRIPTION;
pub use task::{ACTIONS, BACKOFFS, OUTPUT, RULE, TASK, TASK_POLICY, TASK_SPEC, THEN};
