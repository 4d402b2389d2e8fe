use std::collections::BTreeSet;

use noetl_server::app::Code;

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");
    let pages = std::fs::read_dir(folder).expect("the folder of pages");
    let pages: BTreeSet<String> = pages
        .map(|page| page.expect("a page").file_name().to_string_lossy().trim_end_matches(".md").to_owned())
        .collect();
    let codes: BTreeSet<String> = Code::ALL.iter().map(|code| code.name().to_owned()).collect();
    assert_eq!(pages, codes);
    for code in codes {
        let text = std::fs::read_to_string(format!("{folder}/{code}.md")).expect("a page");
        let title = text.lines().next().unwrap_or_default();
        assert!(title.starts_with("# ") && title.contains(&code), "{code}: {title}");
    }
}
