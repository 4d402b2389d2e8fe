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
        println!("first call {:?}", call(&toolbox).await);
        report("back to back", &toolbox, Duration::ZERO).await;
        report("with pauses of 20 ms", &toolbox, Duration::from_millis(20)).await;
    });
}

async fn report(name: &str, toolbox: &Toolbox, pause: Duration) {
    let mut times = Vec::new();
    for _ in 0..CALLS {
        tokio::time::sleep(pause).await;
        times.push(call(toolbox).await);
    }
    times.sort();
    let mean = times.iter().sum::<Duration>() / CALLS as u32;
    let (median, slowest) = (times[CALLS / 2], times[CALLS - 1]);
    println!("{CALLS} warm calls {name}: median {median:?}, mean {mean:?}, slowest {slowest:?}");
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
