//! Prints the description of the API. `cargo xtask generate` writes it to `docs/openapi.json`.

fn main() {
    let text = noetl_server::http::document().to_pretty_json();
    println!("{}", text.expect("the document consists of text, numbers, lists and maps"));
}
