//! Cases as JUnit XML, the form that CI systems read.

use std::fmt::Write;

use noetl_test::Problem;

use super::{Ran, TestFile};

pub fn document(files: &[TestFile], ran: &[Vec<Ran>]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (file, ran) in files.iter().zip(ran) {
        // Writing to a text can't fail.
        let _ = suite(&mut xml, file, ran);
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn suite(xml: &mut String, file: &TestFile, ran: &[Ran]) -> std::fmt::Result {
    let name = escaped(&file.document.name);
    let failed = ran.iter().filter(|ran| !ran.outcome.passed()).count();
    let errors = usize::from(file.ready.is_none());
    let time: f64 = ran.iter().map(|ran| ran.took.as_secs_f64()).sum();
    let tests = ran.len() + errors;
    writeln!(
        xml,
        r#"  <testsuite name="{name}" tests="{tests}" failures="{failed}" errors="{errors}" time="{time:.6}">"#
    )?;
    if errors > 0 {
        let message = file.diagnostics.first().map_or(String::new(), |found| escaped(&found.message));
        writeln!(
            xml,
            r#"    <testcase classname="{name}" name="(the file)"><error message="{message}"/></testcase>"#
        )?;
    }
    let cases = file.ready.iter().flat_map(|ready| &ready.cases);
    for (case, ran) in cases.zip(ran) {
        let (title, line, took) = (escaped(&case.name), case.place.line, ran.took.as_secs_f64());
        write!(
            xml,
            r#"    <testcase classname="{name}" name="{title}" file="{name}" line="{line}" time="{took:.6}""#
        )?;
        match ran.outcome.problems.first() {
            None => writeln!(xml, "/>")?,
            Some(first) => {
                let whole: Vec<String> =
                    ran.outcome.problems.iter().map(|problem| in_words(file, problem)).collect();
                let (message, text) = (escaped(&first.message), escaped(&whole.join("\n")));
                writeln!(xml, ">\n      <failure message=\"{message}\">{text}</failure>\n    </testcase>")?;
            }
        }
    }
    writeln!(xml, "  </testsuite>")
}

fn in_words(file: &TestFile, problem: &Problem) -> String {
    let mut text = format!("{}\n  at {}:{}", problem.message, file.document.name, problem.place.line);
    if let Some(source) = &problem.source {
        text += &format!("\n  of {}:{} ({})", source.file, source.line, source.what);
    }
    if let Some(difference) = &problem.difference {
        text += &format!("\n  expected: {}\n  actual:   {}", difference.expected, difference.actual);
    }
    text
}

/// Text as it may stand in an attribute and between tags. Characters that XML has no way to write are left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            control if control.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_means_something_by_is_written_in_another_way() {
        assert_eq!(escaped("a < b & \"c\"\n\u{7}d"), "a &lt; b &amp; &quot;c&quot;&#10;d");
    }
}
