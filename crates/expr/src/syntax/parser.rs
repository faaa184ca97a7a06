//! The grammar, by recursive descent. Depth is bounded, so hostile text cannot exhaust the stack.

use std::{ops::Range, sync::Arc};

use super::{
    ast::{Ast, Id, Kind, Literal, MAX_NODES},
    lexer::{self, Lexeme, Token},
    macros::MacroSet,
    mistakes::{Inside, starts_operand},
    operators::{Punct, reserved},
    rewrites::Rewrite,
};
use crate::issue::Issues;

/// Nesting that the reference allows for every rule of the grammar.
const DEPTH: u32 = 250;
/// Longer texts are refused unread.
const LONGEST: usize = 100_000;

/// Stops parsing: the problem has been reported.
pub(super) struct Stop;

/// Options of the grammar.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Syntax<'p> {
    /// `a.?b`, `a[?b]`, `[?a]`, `{?k: v}`.
    pub(crate) optionals: bool,
    /// Identifiers in backquotes.
    pub(crate) quoted_names: bool,
    /// Calls that are read as something else.
    pub(crate) rewrites: &'p [Rewrite],
}

/// Parses a text. Problems are left in `issues`; the tree is whole only if there are none.
pub(crate) fn parse(text: &str, syntax: Syntax<'_>, macros: MacroSet, issues: &mut Issues) -> Ast {
    let letters: Vec<char> = text.chars().collect();
    let mut ast = Ast::default();
    if letters.len() > LONGEST {
        issues.nowhere(format!(
            "expression code point size exceeds limit: size: {}, limit {LONGEST}",
            letters.len()
        ));
        return ast;
    }
    let (tokens, unrecognised) = lexer::tokens(&letters);
    let mut gaps = Vec::new();
    for error in unrecognised {
        gaps.push(error.at..error.at + error.text.chars().count());
        issues.at(
            error.at,
            format!("Syntax error: token recognition error at: '{}'", error.text),
        );
    }
    let mut parser = Parser {
        text: &letters,
        tokens,
        next: 0,
        ast: &mut ast,
        issues,
        syntax,
        macros,
        depth: 0,
        calc_depth: 0,
        relation_depth: 0,
        recovering: false,
        inside: Vec::new(),
        gaps,
    };
    if let Ok(root) = parser.start() {
        ast.root = root;
        if issues.is_empty() && ast.height(root) > DEPTH {
            issues.nowhere("max recursion depth exceeded");
        } else if issues.is_empty() && ast.nodes.len() > MAX_NODES {
            issues.nowhere(format!("expression has more than {MAX_NODES} nodes"));
        }
    }
    ast
}

/// The state of parsing one text.
pub(super) struct Parser<'p> {
    pub(super) text: &'p [char],
    tokens: Vec<Lexeme>,
    next: usize,
    pub(super) ast: &'p mut Ast,
    pub(super) issues: &'p mut Issues,
    pub(super) syntax: Syntax<'p>,
    pub(super) macros: MacroSet,
    depth: u32,
    calc_depth: u32,
    relation_depth: u32,
    pub(super) recovering: bool,
    /// Characters that belong to no token.
    pub(super) gaps: Vec<Range<usize>>,
    /// What the operand at hand stands in, innermost last.
    pub(super) inside: Vec<Inside>,
}

impl Parser<'_> {
    pub(super) fn previous(&self) -> Option<Token> {
        self.next
            .checked_sub(1)
            .and_then(|place| self.tokens.get(place))
            .map(|last| last.token)
    }

    /// A node that stands for something missing.
    pub(super) fn broken(&mut self, at: usize) -> Id {
        self.add(Kind::Broken, at)
    }

    pub(super) fn peek(&self) -> Lexeme {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Lexeme {
        let last = self.tokens.len() - 1;
        self.tokens[(self.next + ahead).min(last)]
    }

    pub(super) fn advance(&mut self) -> Lexeme {
        let lexeme = self.peek();
        self.recovering = false;
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        lexeme
    }

    pub(super) fn is(&self, punct: Punct) -> bool {
        self.peek().token == Token::Punct(punct)
    }

    pub(super) fn take(&mut self, punct: Punct) -> Option<Lexeme> {
        self.is(punct).then(|| self.advance())
    }

    pub(super) fn text_of(&self, lexeme: Lexeme) -> String {
        self.text[lexeme.start..lexeme.end].iter().collect()
    }

    pub(super) fn add(&mut self, kind: Kind, at: usize) -> Id {
        self.ast.add(kind, u32::try_from(at).unwrap_or(u32::MAX))
    }

    pub(super) fn report(&mut self, at: usize, message: impl Into<String>) -> Id {
        self.issues.at(at, message);
        self.add(Kind::Broken, at)
    }

    fn too_deep(&mut self) -> Stop {
        self.issues
            .nowhere(format!("expression recursion limit exceeded: {DEPTH}"));
        Stop
    }

    fn start(&mut self) -> Result<Id, Stop> {
        let root = self.expr()?;
        self.expect_end()?;
        Ok(root)
    }

    pub(super) fn expr(&mut self) -> Result<Id, Stop> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.too_deep());
        }
        let condition = self.logical(Punct::Or)?;
        let result = match self.take(Punct::Question) {
            None => condition,
            Some(question) => {
                self.inside.push(Inside::Choice);
                let truthy = self.logical(Punct::Or)?;
                self.expect(Punct::Colon);
                let falsy = self.expr()?;
                self.call("_?_:_", vec![condition, truthy, falsy], question.start)
            }
        };
        self.depth -= 1;
        Ok(result)
    }

    /// `a || b || c` or `a && b && c`, as a balanced tree.
    fn logical(&mut self, operator: Punct) -> Result<Id, Stop> {
        let name = if operator == Punct::Or {
            "_||_"
        } else {
            "_&&_"
        };
        let mut terms = vec![self.logical_term(operator)?];
        let mut places = Vec::new();
        while let Some(found) = self.take(operator) {
            places.push(found.start);
            terms.push(self.logical_term(operator)?);
        }
        Ok(self.balance(name, &terms, &places))
    }

    fn logical_term(&mut self, operator: Punct) -> Result<Id, Stop> {
        if operator == Punct::Or {
            self.logical(Punct::And)
        } else {
            self.relation()
        }
    }

    fn balance(&mut self, name: &'static str, terms: &[Id], places: &[usize]) -> Id {
        if places.is_empty() {
            return terms[0];
        }
        let middle = places.len() / 2;
        let left = self.balance(name, &terms[..=middle], &places[..middle]);
        let right = self.balance(name, &terms[middle + 1..], &places[middle + 1..]);
        self.call(name, vec![left, right], places[middle])
    }

    fn relation(&mut self) -> Result<Id, Stop> {
        self.relation_depth += 1;
        if self.relation_depth > DEPTH {
            return Err(self.too_deep());
        }
        let mut left = self.calc(1)?;
        loop {
            let lexeme = self.peek();
            let name = match lexeme.token {
                Token::In => "@in",
                Token::Punct(punct) => match punct.relation() {
                    Some(name) => name,
                    None => break,
                },
                _ => break,
            };
            self.advance();
            let right = self.calc(1)?;
            left = self.call(name, vec![left, right], lexeme.start);
        }
        self.relation_depth -= 1;
        Ok(left)
    }

    fn calc(&mut self, tightness: u8) -> Result<Id, Stop> {
        self.calc_depth += 1;
        if self.calc_depth > DEPTH {
            return Err(self.too_deep());
        }
        let mut left = self.unary()?;
        while let Token::Punct(punct) = self.peek().token {
            let Some((name, binding)) = punct.arithmetic().filter(|found| found.1 >= tightness)
            else {
                break;
            };
            let operator = self.advance();
            let right = self.calc(binding + 1)?;
            left = self.call(name, vec![left, right], operator.start);
        }
        self.calc_depth -= 1;
        Ok(left)
    }

    fn unary(&mut self) -> Result<Id, Stop> {
        let first = self.peek();
        let (operator, name) = match first.token {
            Token::Punct(Punct::Not) => (Punct::Not, "!_"),
            Token::Punct(Punct::Minus) => {
                if matches!(self.peek_at(1).token, Token::Int | Token::Float) {
                    return self.member(); // a negative literal
                }
                (Punct::Minus, "-_")
            }
            _ => return self.member(),
        };
        let mut count = 0;
        while self.take(operator).is_some() {
            count += 1;
        }
        if operator == Punct::Minus && !starts_operand(self.peek().token) {
            let Stop = self.no_alternative(first.start);
            self.skip();
            return Ok(self.broken(first.start));
        }
        if matches!(self.peek().token, Token::Punct(Punct::Not))
            || self.is(Punct::Minus) && !matches!(self.peek_at(1).token, Token::Int | Token::Float)
        {
            return Err(self.no_alternative(first.start));
        }
        let operand = self.member()?;
        if count % 2 == 0 {
            return Ok(operand);
        }
        Ok(self.call(name, vec![operand], first.start))
    }

    fn member(&mut self) -> Result<Id, Stop> {
        let mut value = self.primary()?;
        loop {
            let lexeme = self.peek();
            match lexeme.token {
                Token::Punct(Punct::Dot) => value = self.select(value)?,
                Token::Punct(Punct::OpenBracket) => {
                    self.advance();
                    let optional = self.take(Punct::Question).is_some();
                    self.inside.push(Inside::Index);
                    let index = if optional {
                        self.expr()?
                    } else {
                        match self.expr_or(&[Punct::Question])? {
                            Some(index) => index,
                            None => self.broken(lexeme.start),
                        }
                    };
                    self.expect(Punct::CloseBracket);
                    if optional && !self.syntax.optionals {
                        value = self.report(lexeme.start, "unsupported syntax '[?'");
                        continue;
                    }
                    let name = if optional { "_[?_]" } else { "_[_]" };
                    value = self.call(name, vec![value, index], lexeme.start);
                }
                _ => return Ok(value),
            }
        }
    }

    fn select(&mut self, operand: Id) -> Result<Id, Stop> {
        let dot = self.advance();
        let optional = self.take(Punct::Question).is_some();
        if optional && !matches!(self.peek().token, Token::Ident | Token::Quoted) {
            let Some(lexeme) = self.field_name("") else {
                self.skip();
                return Ok(self.broken(dot.start));
            };
            return Ok(self.broken(lexeme.start));
        }
        let lexeme = self.peek();
        let field = match lexeme.token {
            Token::Ident => self.text_of(lexeme),
            Token::Quoted => {
                if !self.syntax.quoted_names {
                    self.report(lexeme.start, "unsupported syntax: '`'");
                }
                self.text_of(lexeme).trim_matches('`').to_owned()
            }
            Token::True | Token::False | Token::Null => {
                let word = self.text_of(lexeme);
                self.syntax_error(
                    lexeme.start,
                    &format!("mismatched input '{word}' expecting IDENTIFIER"),
                );
                return Err(Stop);
            }
            _ => {
                let Stop = self.no_alternative(dot.start);
                self.skip();
                return Ok(self.broken(lexeme.start));
            }
        };
        self.advance();
        if lexeme.token == Token::Ident && !optional && self.is(Punct::Open) {
            let open = self.advance();
            let args = self.arguments()?;
            return Ok(self.member_call(operand, &field, args, open.start));
        }
        let field: Arc<str> = field.into();
        if !optional {
            return Ok(self.add(
                Kind::Select {
                    operand,
                    field,
                    test: false,
                },
                dot.start,
            ));
        }
        if !self.syntax.optionals {
            return Ok(self.report(dot.start, "unsupported syntax '.?'"));
        }
        let name = self.add(Kind::Literal(Literal::String(field)), lexeme.start);
        Ok(self.call("_?._", vec![operand, name], dot.start))
    }

    pub(super) fn call(&mut self, name: &str, args: Vec<Id>, at: usize) -> Id {
        self.add(
            Kind::Call {
                target: None,
                name: name.into(),
                args,
            },
            at,
        )
    }

    /// Expressions up to the closing parenthesis.
    pub(super) fn arguments(&mut self) -> Result<Vec<Id>, Stop> {
        let mut args = Vec::new();
        if self.take(Punct::Close).is_some() {
            return Ok(args);
        }
        self.inside.push(Inside::Arguments);
        match self.expr_or(&[Punct::Close])? {
            Some(first) => args.push(first),
            None => {
                self.expect(Punct::Close);
                return Ok(args);
            }
        }
        while self.take(Punct::Comma).is_some() {
            args.push(self.expr()?);
        }
        self.expect(Punct::Close);
        Ok(args)
    }

    /// A name, a call of a function, or the braces of a named type.
    pub(super) fn named(&mut self) -> Result<Id, Stop> {
        let dot = self.take(Punct::Dot);
        let lexeme = self.advance();
        let start = dot.map_or(lexeme.start, |dot| dot.start);
        let word = self.text_of(lexeme);
        if let Some(length) = self.type_name_length() {
            let mut name = if dot.is_some() {
                format!(".{word}")
            } else {
                word
            };
            for _ in 0..length {
                let part = self.advance();
                name.push_str(&self.text_of(part));
            }
            return self.fields(&name);
        }
        let name = if dot.is_some() {
            format!(".{word}")
        } else {
            word.clone()
        };
        if self.is(Punct::Open) {
            let open = self.advance();
            if reserved(&word) {
                let broken = self.report(start, format!("reserved identifier: {word}"));
                self.arguments()?;
                return Ok(broken);
            }
            let args = self.arguments()?;
            return Ok(self.global_call(&name, args, open.start));
        }
        if reserved(&word) {
            return Ok(self.report(start, format!("reserved identifier: {word}")));
        }
        Ok(self.add(Kind::Ident(name.into()), lexeme.start))
    }

    /// How many tokens of `.b.c` stand before a brace, when they do.
    fn type_name_length(&self) -> Option<usize> {
        let mut ahead = 0;
        while self.peek_at(ahead).token == Token::Punct(Punct::Dot)
            && self.peek_at(ahead + 1).token == Token::Ident
        {
            ahead += 2;
        }
        (self.peek_at(ahead).token == Token::Punct(Punct::OpenBrace)).then_some(ahead)
    }
}
