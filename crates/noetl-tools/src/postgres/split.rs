//! Splits a script into statements, with PostgreSQL's own rules for quotes and comments, and tells what kind they are.

/// One statement without its semicolon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub sql: String,
    /// Its words outside of quotes, comments and parentheses, in upper case.
    words: Vec<String>,
}

/// The statements of a script. What is only space and comments is none.
pub fn split(script: &str) -> Vec<Statement> {
    let mut lexer = Lexer { text: script, at: 0 };
    let mut statements = Vec::new();
    let mut current = Draft::default();
    loop {
        let start = lexer.at;
        let token = lexer.next();
        match token {
            Some(Token::Semicolon) if !current.is_in_body() => {
                statements.extend(current.take().finish(&script[..start]));
                current.start = lexer.at;
            }
            Some(token) => current.add(token, &script[start..lexer.at]),
            None => {
                statements.extend(current.finish(script));
                return statements;
            }
        }
    }
}

impl Statement {
    fn starts_with(&self, words: &[&str]) -> bool {
        self.words.iter().map(String::as_str).take(words.len()).eq(words.iter().copied())
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|own| own == word)
    }

    /// What the statement does: `SELECT`, `INSERT` and so on, also behind a `WITH`.
    pub fn verb(&self) -> &str {
        const AFTER_WITH: &[&str] = &["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "TABLE"];
        let first = self.words.first().map_or("", String::as_str);
        match first {
            "WITH" => {
                self.words.iter().map(String::as_str).find(|word| AFTER_WITH.contains(word)).unwrap_or(first)
            }
            // A parenthesis comes first.
            "" => "SELECT",
            other => other,
        }
    }

    /// Whether it changes rows and so can tell how many.
    pub fn changes_rows(&self) -> bool {
        matches!(self.verb(), "INSERT" | "UPDATE" | "DELETE" | "MERGE" | "COPY")
    }

    /// Whether it controls transactions itself or refuses to run inside one.
    pub fn wants_no_transaction(&self) -> bool {
        const CONTROL: &[&str] = &[
            "ABORT",
            "BEGIN",
            "CALL",
            "COMMIT",
            "END",
            "RELEASE",
            "ROLLBACK",
            "SAVEPOINT",
            "START",
            "VACUUM",
        ];
        const OBJECTS: &[&str] = &["DATABASE", "SUBSCRIPTION", "TABLESPACE"];
        CONTROL.contains(&self.words.first().map_or("", String::as_str))
            || ["CREATE", "DROP", "ALTER"]
                .iter()
                .any(|verb| OBJECTS.iter().any(|object| self.starts_with(&[verb, object])))
            || self.starts_with(&["ALTER", "SYSTEM"])
            || self.starts_with(&["PREPARE", "TRANSACTION"])
            || (self.has("CONCURRENTLY") && (self.has("INDEX") || self.starts_with(&["REINDEX"])))
            || self.starts_with(&["REINDEX", "DATABASE"])
            || self.starts_with(&["REINDEX", "SYSTEM"])
            || (self.starts_with(&["CLUSTER"]) && self.words.len() == 1)
            || (self.starts_with(&["DO"]) && self.sql.to_ascii_uppercase().contains("COMMIT"))
    }

    /// Whether it leaves something in the session that cannot be reset.
    pub fn marks_session(&self) -> bool {
        matches!(self.verb(), "PREPARE" | "LOAD")
    }
}

/// A statement under way.
#[derive(Default)]
struct Draft {
    start: usize,
    words: Vec<String>,
    has_content: bool,
    parentheses: usize,
    /// How many `END`s are due until the body of an SQL routine (`BEGIN ATOMIC … END`) is over.
    body: usize,
}

impl Draft {
    fn is_in_body(&self) -> bool {
        self.body > 0
    }

    fn add(&mut self, token: Token, text: &str) {
        match token {
            Token::Space => return,
            Token::Word => self.add_word(text.to_ascii_uppercase()),
            Token::Open => self.parentheses += 1,
            Token::Close => self.parentheses = self.parentheses.saturating_sub(1),
            Token::Semicolon | Token::Other => {}
        }
        self.has_content = true;
    }

    fn add_word(&mut self, word: String) {
        match word.as_str() {
            "ATOMIC" if self.words.last().is_some_and(|last| last == "BEGIN") => self.body += 1,
            "CASE" if self.is_in_body() => self.body += 1,
            "END" if self.is_in_body() => self.body -= 1,
            _ => {}
        }
        if self.parentheses == 0 {
            self.words.push(word);
        }
    }

    fn take(&mut self) -> Draft {
        std::mem::take(self)
    }

    fn finish(self, text: &str) -> Option<Statement> {
        let sql = text[self.start..].trim().to_owned();
        self.has_content.then_some(Statement { sql, words: self.words })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// White space or a comment.
    Space,
    Word,
    Open,
    Close,
    Semicolon,
    /// Quoted text, numbers and operators.
    Other,
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl Lexer<'_> {
    fn next(&mut self) -> Option<Token> {
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        let (token, length) = match first {
            _ if first.is_whitespace() => (Token::Space, run(rest, char::is_whitespace)),
            '-' if rest.starts_with("--") => (Token::Space, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (Token::Space, comment(rest)),
            '\'' => (Token::Other, quoted(rest, '\'', self.is_escape_string())),
            '"' => (Token::Other, quoted(rest, '"', false)),
            '$' => (Token::Other, dollar_quoted(rest).unwrap_or(1)),
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            ';' => (Token::Semicolon, 1),
            _ if first.is_alphabetic() || first == '_' => (Token::Word, run(rest, is_word_part)),
            // A dollar after a digit is a parameter such as $1, not a quote.
            _ if first.is_ascii_digit() => (Token::Other, run(rest, is_word_part)),
            _ => (Token::Other, first.len_utf8()),
        };
        self.at += length;
        Some(token)
    }

    /// Whether the quote at hand belongs to `E'…'`, in which a backslash escapes.
    fn is_escape_string(&self) -> bool {
        let mut before = self.text[..self.at].chars().rev();
        matches!(before.next(), Some('e' | 'E')) && !before.next().is_some_and(is_word_part)
    }
}

fn is_word_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !belongs(letter)).unwrap_or(text.len())
}

/// The length of a comment, which may hold further comments.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

/// The length of text in quotes. A doubled quote stands for itself, and so reads as two quoted texts in a row.
fn quoted(text: &str, quote: char, backslash_escapes: bool) -> usize {
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        if letter == quote {
            return at + 1;
        }
        if letter == '\\' && backslash_escapes {
            letters.next();
        }
    }
    text.len()
}

/// The length of `$tag$…$tag$`, if that is what begins here.
fn dollar_quoted(text: &str) -> Option<usize> {
    let tag_length = run(&text[1..], |letter| letter.is_alphanumeric() || letter == '_');
    let tag = text.get(..tag_length + 2)?;
    if !tag.ends_with('$') || tag[1..].starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    Some(text[tag.len()..].find(tag).map_or(text.len(), |end| tag.len() + end + tag.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, expected: &[&str]) {
        let statements: Vec<_> = split(script).into_iter().map(|statement| statement.sql).collect();
        assert_eq!(statements, expected);
    }

    fn one(sql: &str) -> Statement {
        let mut statements = split(sql);
        assert_eq!(statements.len(), 1, "{statements:?}");
        statements.remove(0)
    }

    #[test]
    fn semicolons_separate_and_empty_statements_vanish() {
        check("SELECT 1; SELECT 2;", &["SELECT 1", "SELECT 2"]);
        check(" ;; -- nothing\n /* nor here */ ;", &[]);
        check("", &[]);
    }

    #[test]
    fn semicolons_in_quotes_and_comments_do_not_count() {
        check(
            "SELECT 'a;b', \"c;d\" -- e;f\n, 1; SELECT 2",
            &["SELECT 'a;b', \"c;d\" -- e;f\n, 1", "SELECT 2"],
        );
        check("SELECT 'it''s; fine'; SELECT 2", &["SELECT 'it''s; fine'", "SELECT 2"]);
        check("SELECT E'\\'; x'; SELECT 2", &["SELECT E'\\'; x'", "SELECT 2"]);
        check("SELECT 'a\\'; SELECT 2", &["SELECT 'a\\'", "SELECT 2"]);
        check("SELECT type'a\\'; SELECT 2", &["SELECT type'a\\'", "SELECT 2"]);
        check("/* a; /* b; */ c; */ SELECT 1; SELECT 2", &["/* a; /* b; */ c; */ SELECT 1", "SELECT 2"]);
    }

    #[test]
    fn dollar_quotes_hold_whole_functions() {
        let body = "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $body$ BEGIN PERFORM $$;$$; RETURN 1; END; $body$";
        check(&format!("{body}; SELECT $1 + $2; SELECT a$b"), &[body, "SELECT $1 + $2", "SELECT a$b"]);
    }

    #[test]
    fn the_body_of_an_sql_routine_is_one_statement() {
        let routine = "CREATE FUNCTION f(x int) RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN x > 1 THEN 2 END; END";
        check(&format!("{routine}; SELECT 2"), &[routine, "SELECT 2"]);
    }

    #[test]
    fn unclosed_quotes_reach_to_the_end() {
        check("SELECT 'a; b", &["SELECT 'a; b"]);
        check("SELECT $x$ a; b", &["SELECT $x$ a; b"]);
        check("SELECT 1 /* a; b", &["SELECT 1 /* a; b"]);
    }

    #[test]
    fn the_verb_is_found_behind_comments_with_and_parentheses() {
        assert_eq!(one("-- note\nselect 1").verb(), "SELECT");
        assert_eq!(one("WITH a AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM a").verb(), "SELECT");
        assert_eq!(one("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a").verb(), "INSERT");
        assert_eq!(one("(SELECT 2 AS two)").verb(), "SELECT");
    }

    #[test]
    fn statements_that_refuse_a_transaction_are_known() {
        for sql in [
            "BEGIN",
            "rollback",
            "VACUUM t",
            "CREATE DATABASE x",
            "drop database x",
            "CREATE UNIQUE INDEX CONCURRENTLY i ON t (a)",
            "ALTER SYSTEM SET a = 1",
            "CALL p()",
            "DO $$ BEGIN COMMIT; END $$",
        ] {
            assert!(one(sql).wants_no_transaction(), "{sql}");
        }
        for sql in [
            "CREATE TABLE database (a int)",
            "SELECT 'BEGIN'",
            "CREATE INDEX i ON t (a)",
            "DO $$ BEGIN NULL; END $$",
        ] {
            assert!(!one(sql).wants_no_transaction(), "{sql}");
        }
    }
}
