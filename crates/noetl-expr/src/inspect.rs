//! Looks at the syntax tree of a template before code is made of it: are all filters, tests, functions and methods known, and
//! which names does it read?

use std::collections::{BTreeSet, HashSet};

use minijinja::machinery::ast::{Call, CallArg, CallType, Expr, Stmt};
use minijinja::value::Value as Jinja;

use crate::compile::Problem;
use crate::{known_filters, known_functions, known_tests, methods, predicates};

/// What was found.
#[derive(Default)]
pub(crate) struct Inspection<'a> {
    /// The dotted names that are read and come from the scope.
    pub(crate) paths: BTreeSet<String>,
    pub(crate) problems: Vec<Problem>,
    /// Names that the template itself gives a meaning to somewhere.
    pub(crate) bound: HashSet<&'a str>,
}

/// Inspects a whole template.
pub(crate) fn template<'a>(stmt: &Stmt<'a>) -> Inspection<'a> {
    let mut inspector = Inspector::default();
    inspector.stmt(stmt);
    inspector.found
}

/// Inspects one expression.
pub(crate) fn expression<'a>(expr: &Expr<'a>) -> Inspection<'a> {
    let mut inspector = Inspector::default();
    inspector.expr(expr);
    inspector.found
}

#[derive(Default)]
struct Inspector<'a> {
    found: Inspection<'a>,
    /// The names that are bound where we are, innermost last.
    locals: Vec<&'a str>,
    /// Whether `break` and `continue` would have to leave a `with`, `set` or `filter` block, which the engine cannot.
    enclosed: bool,
}

impl<'a> Inspector<'a> {
    fn stmts(&mut self, stmts: &[Stmt<'a>]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    /// Statements whose assignments end with them.
    fn scoped(&mut self, stmts: &[Stmt<'a>]) {
        let outer = self.locals.len();
        self.stmts(stmts);
        self.locals.truncate(outer);
    }

    fn enclosed(&mut self, enclosed: bool, stmts: &[Stmt<'a>]) {
        let outer = std::mem::replace(&mut self.enclosed, enclosed);
        self.scoped(stmts);
        self.enclosed = outer;
    }

    fn stmt(&mut self, stmt: &Stmt<'a>) {
        match stmt {
            Stmt::Template(template) => self.stmts(&template.children),
            Stmt::EmitExpr(emit) => self.expr(&emit.expr),
            Stmt::EmitRaw(_) => {}
            Stmt::ForLoop(each) => {
                self.expr(&each.iter);
                let outer = self.locals.len();
                self.bind(&each.target);
                self.locals.push("loop");
                if let Some(filter) = &each.filter_expr {
                    self.expr(filter);
                }
                self.enclosed(false, &each.body);
                self.locals.truncate(outer);
                self.scoped(&each.else_body);
            }
            Stmt::IfCond(choice) => {
                self.expr(&choice.expr);
                // An assignment in a branch may or may not happen; the name counts as bound from there on.
                self.stmts(&choice.true_body);
                self.stmts(&choice.false_body);
            }
            Stmt::WithBlock(with) => {
                let outer = self.locals.len();
                for (target, value) in &with.assignments {
                    self.expr(value);
                    self.bind(target);
                }
                self.enclosed(true, &with.body);
                self.locals.truncate(outer);
            }
            Stmt::Set(set) => {
                self.expr(&set.expr);
                self.bind(&set.target);
            }
            Stmt::SetBlock(set) => {
                self.enclosed(true, &set.body);
                if let Some(filter) = &set.filter {
                    self.expr(filter);
                }
                self.bind(&set.target);
            }
            Stmt::FilterBlock(block) => {
                self.enclosed(true, &block.body);
                self.expr(&block.filter);
            }
            Stmt::AutoEscape(block) => {
                self.problem(block.span().start_offset, "`autoescape` is not part of the language".into());
            }
            Stmt::Continue(stmt) => self.leave(stmt.span().start_offset),
            Stmt::Break(stmt) => self.leave(stmt.span().start_offset),
            Stmt::Do(stmt) => self.call(&stmt.call, stmt.call.span().start_offset),
        }
    }

    fn leave(&mut self, offset: u32) {
        if self.enclosed {
            let message = "`break` and `continue` cannot leave a `with`, `set` or `filter` block";
            self.problem(offset, message.into());
        }
    }

    fn problem(&mut self, offset: u32, message: String) {
        self.found.problems.push(Problem { offset: offset as usize, message });
    }

    /// The names that an assignment binds.
    fn bind(&mut self, target: &Expr<'a>) {
        match target {
            Expr::Var(var) => {
                self.locals.push(var.id);
                self.found.bound.insert(var.id);
            }
            Expr::List(list) => list.items.iter().for_each(|item| self.bind(item)),
            Expr::Tuple(tuple) => tuple.items.iter().for_each(|item| self.bind(item)),
            // An attribute of a namespace; the namespace itself is read.
            Expr::GetAttr(attr) => self.expr(&attr.expr),
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr<'a>) {
        if let Some(path) = self.read_path(expr) {
            self.found.paths.insert(path);
            return;
        }
        match expr {
            Expr::Var(_) | Expr::Const(_) => {}
            Expr::Slice(slice) => {
                self.expr(&slice.expr);
                [&slice.start, &slice.stop, &slice.step]
                    .into_iter()
                    .flatten()
                    .for_each(|bound| self.expr(bound));
            }
            Expr::UnaryOp(unary) => self.expr(&unary.expr),
            Expr::BinOp(binary) => {
                self.expr(&binary.left);
                self.expr(&binary.right);
            }
            Expr::Compare(chain) => {
                self.expr(&chain.expr);
                chain.ops.iter().for_each(|op| self.expr(&op.expr));
            }
            Expr::IfExpr(choice) => {
                self.expr(&choice.test_expr);
                self.expr(&choice.true_expr);
                choice.false_expr.iter().for_each(|expr| self.expr(expr));
            }
            Expr::Filter(filter) => {
                filter.expr.iter().for_each(|expr| self.expr(expr));
                self.args(&filter.args);
                self.filter(filter.name, &filter.args, filter.span().start_offset);
            }
            Expr::Test(test) => {
                self.expr(&test.expr);
                self.args(&test.args);
                self.known("test", test.name, known_tests().contains(&test.name), test.span().start_offset);
            }
            Expr::GetAttr(attr) => self.expr(&attr.expr),
            Expr::GetItem(item) => {
                self.expr(&item.expr);
                self.expr(&item.subscript_expr);
            }
            Expr::Call(call) => self.call(call, call.span().start_offset),
            Expr::List(list) => list.items.iter().for_each(|item| self.expr(item)),
            Expr::Tuple(tuple) => tuple.items.iter().for_each(|item| self.expr(item)),
            Expr::Map(map) => map.keys.iter().chain(&map.values).for_each(|item| self.expr(item)),
        }
    }

    fn args(&mut self, args: &[CallArg<'a>]) {
        for arg in args {
            match arg {
                CallArg::Pos(expr) | CallArg::Kwarg(_, expr) => self.expr(expr),
                CallArg::PosSplat(expr) | CallArg::KwargSplat(expr) => {
                    let message = "arguments cannot be taken from a list or map";
                    self.problem(expr.span().start_offset, message.into());
                }
            }
        }
    }

    fn known(&mut self, what: &str, name: &str, is_known: bool, offset: u32) {
        if !is_known {
            self.problem(offset, format!("there is no {what} `{name}`"));
        }
    }

    /// A filter, and what it names in turn: `map('upper')`, `selectattr('x', 'equalto', 1)`.
    fn filter(&mut self, name: &str, args: &[CallArg<'a>], offset: u32) {
        self.known("filter", name, known_filters().contains(&name), offset);
        let position = if name.ends_with("attr") { 1 } else { 0 };
        let Some(CallArg::Pos(Expr::Const(named))) = args.get(position) else {
            return;
        };
        let Some(text) = named.value.as_str() else {
            return;
        };
        match name {
            "map" => self.known("filter", text, known_filters().contains(&text), named.span().start_offset),
            "select" | "reject" | "selectattr" | "rejectattr" => {
                self.known("test", text, predicates::is_known(text), named.span().start_offset);
            }
            _ => {}
        }
    }

    fn call(&mut self, call: &Call<'a>, offset: u32) {
        match call.identify_call() {
            CallType::Function(name) => {
                let is_loop = name == "loop" && self.locals.contains(&name);
                self.known("function", name, is_loop || known_functions().contains(&name), offset);
            }
            CallType::Method(object, name) => {
                self.expr(object);
                let end = call.expr.span().end_offset;
                self.known("method", name, methods::is_known(name), end.saturating_sub(name.len() as u32));
            }
            CallType::Object(_) => self.problem(offset, "only functions and methods can be called".into()),
        }
        self.args(&call.args);
    }

    /// The dotted name that an expression reads from the scope, up to the first key that is not written out.
    fn read_path(&self, expr: &Expr<'a>) -> Option<String> {
        match expr {
            Expr::Var(var) => (!self.locals.contains(&var.id)).then(|| var.id.to_owned()),
            Expr::GetAttr(attr) => Some(self.read_path(&attr.expr)? + "." + attr.name),
            Expr::GetItem(item) => match literal(&item.subscript_expr)?.as_str() {
                Some(key) => Some(self.read_path(&item.expr)? + "." + key),
                None => None,
            },
            _ => None,
        }
    }
}

fn literal<'e>(expr: &'e Expr) -> Option<&'e Jinja> {
    match expr {
        Expr::Const(value) => Some(&value.value),
        _ => None,
    }
}
