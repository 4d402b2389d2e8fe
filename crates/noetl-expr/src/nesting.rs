//! Refuses text whose syntax tree would be too deep. The engine's parser and code generator call themselves for every level,
//! and long chains such as `not not not …` or `a + b + c …` are levels too.

use minijinja::machinery::{Token, Tokenizer};

use crate::environment::syntax;

/// Levels within one expression: brackets that are open plus operators, filters and attributes that are chained.
const LEVELS: usize = 400;

/// `elif` in one text.
const BRANCHES: usize = 200;

pub(crate) struct TooDeep {
    pub(crate) offset: usize,
}

/// Checks the text, which is one expression or a template. Text that does not parse is left for the parser to refuse.
pub(crate) fn check(text: &str, is_expression: bool) -> Result<(), TooDeep> {
    let mut tokens = Tokenizer::new(text, "", is_expression, syntax());
    let mut levels = Levels { open: vec![0], total: 0 };
    let mut branches = 0;
    while let Ok(Some((token, span))) = tokens.next_token() {
        match token {
            Token::VariableStart | Token::BlockStart => levels = Levels { open: vec![0], total: 0 },
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => {
                levels.deepen();
                levels.open.push(0);
            }
            Token::ParenClose | Token::BracketClose | Token::BraceClose => levels.close(),
            Token::Comma => levels.restart(),
            Token::Ident("elif") => branches += 1,
            Token::Ident("not" | "if" | "else" | "is" | "and" | "or" | "in") => levels.deepen(),
            Token::Ident(_)
            | Token::Str(_)
            | Token::String(_)
            | Token::Int(_)
            | Token::Int128(_)
            | Token::Float(_) => {}
            Token::TemplateData(_) | Token::VariableEnd | Token::BlockEnd | Token::Colon | Token::Assign => {}
            _ => levels.deepen(),
        }
        if levels.total > LEVELS || branches > BRANCHES {
            return Err(TooDeep { offset: span.start_offset as usize });
        }
    }
    Ok(())
}

struct Levels {
    /// For each open bracket, the chain so far.
    open: Vec<usize>,
    total: usize,
}

impl Levels {
    fn deepen(&mut self) {
        if let Some(chain) = self.open.last_mut() {
            *chain += 1;
        }
        self.total += 1;
    }

    fn restart(&mut self) {
        if let Some(chain) = self.open.last_mut() {
            self.total -= std::mem::take(chain);
        }
    }

    fn close(&mut self) {
        self.restart();
        if self.open.len() > 1 {
            self.open.pop();
        }
    }
}
