//! What a Python step costs beyond the user's code: the first call, which starts the interpreter, and the calls after it.

use std::time::{Duration, Instant};

use noetl_tools::{Call, CodeText, Environment, ToolConfig, Toolbox};
use noetl_types::value;

const CALLS: usize = 40;

fn main() {
    let mut config = ToolConfig::default();
    config.process.environment = Environment::inherited(std::env::vars(), &[]);
    let toolbox = Toolbox::builtin(config);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let first = call(&toolbox).await;
        let mut warm = Vec::new();
        for _ in 0..CALLS {
            warm.push(call(&toolbox).await);
        }
        warm.sort();
        let mean = warm.iter().sum::<Duration>() / CALLS as u32;
        println!("first call {first:?}");
        println!(
            "{CALLS} warm calls: median {:?}, mean {mean:?}, slowest {:?}",
            warm[CALLS / 2],
            warm[CALLS - 1]
        );
    });
}

async fn call(toolbox: &Toolbox) -> Duration {
    let mut call = Call::new(value!({}));
    call.input = value!({"n": 20});
    call.code = Some(CodeText::new("result = {'n': n + 1}"));
    let start = Instant::now();
    let report = toolbox.call("python", call).await;
    assert_eq!(report.data.as_inline(), Some(&value!({"n": 21})), "{report:?}");
    start.elapsed()
}
