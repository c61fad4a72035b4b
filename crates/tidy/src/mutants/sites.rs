//! Where a rule applies.

use proc_macro2::Span;
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block, Expr, Item, ReturnType, Signature, Stmt, Type, UnOp};

/// Stands for the switch in the text of an [`Edit`].
pub const ON: char = '\u{1}';

/// Text around a part of a file, with [`ON`] where the switch is asked.
#[derive(Debug, Clone)]
pub struct Edit {
    /// First byte of the part.
    pub start: usize,
    /// Byte behind the part.
    pub end: usize,
    /// Written before it.
    pub before: String,
    /// Written behind it.
    pub after: String,
}

/// A possible change.
#[derive(Debug, Clone)]
pub struct Site {
    /// Function, with its type.
    pub function: String,
    /// What is changed into what.
    pub change: String,
    /// Which of the like changes of its function, from 1.
    pub ordinal: usize,
    /// The change.
    pub edit: Edit,
}

impl Site {
    /// Names the change within its file.
    pub fn name(&self) -> String {
        match self.ordinal {
            1 => format!("{}: {}", self.function, self.change),
            n => format!("{}: {}, no. {n}", self.function, self.change),
        }
    }
}

/// Every possible change of a file, in the order of the text. Left out are tests, constants, code
/// inside macros, and implementations of `Debug`, `Display` and `Default`.
pub fn sites(text: &str) -> Result<Vec<Site>, String> {
    let file = syn::parse_file(text).map_err(|error| error.to_string())?;
    let mut search = Search {
        text,
        type_name: String::new(),
        function: String::new(),
        counts: HashMap::new(),
        sites: Vec::new(),
    };
    search.visit_file(&file);
    Ok(search.sites)
}

struct Search<'a> {
    text: &'a str,
    type_name: String,
    function: String,
    counts: HashMap<(String, String), usize>,
    sites: Vec<Site>,
}

impl<'a> Search<'a> {
    fn source(&self, span: Span) -> &'a str {
        &self.text[span.byte_range()]
    }

    fn add(&mut self, change: String, edit: Edit) {
        let key = (self.function.clone(), change.clone());
        let count = self.counts.entry(key).or_default();
        *count += 1;
        self.sites.push(Site {
            function: self.function.clone(),
            change,
            ordinal: *count,
            edit,
        });
    }

    /// `changed` in place of what is at `span`.
    fn replace(&mut self, span: Span, change: String, changed: &str) {
        let range = span.byte_range();
        let edit = Edit {
            start: range.start,
            end: range.end,
            before: format!("(if {ON} {{ {changed} }} else {{ "),
            after: " })".to_owned(),
        };
        self.add(change, edit);
    }

    fn body(&mut self, signature: &Signature, body: &Block) {
        if body.stmts.is_empty() {
            return;
        }
        let start = body.brace_token.span.open().byte_range().end;
        for value in values(&signature.output) {
            let edit = Edit {
                start,
                end: start,
                before: format!(" if {ON} {{ return {value}; }}"),
                after: String::new(),
            };
            let change = match value {
                "" => "does nothing".to_owned(),
                value => format!("is `{value}`"),
            };
            self.add(change, edit);
        }
    }

    fn function(&mut self, attributes: &[Attribute], signature: &Signature, body: &Block) {
        if signature.constness.is_some() || is_test(attributes) {
            return;
        }
        let name = signature.ident.to_string();
        let outer = std::mem::replace(
            &mut self.function,
            match self.type_name.as_str() {
                "" => name,
                type_name => format!("{type_name}::{name}"),
            },
        );
        self.body(signature, body);
        visit::visit_block(self, body);
        self.function = outer;
    }
}

/// What a function of this type may return instead.
fn values(output: &ReturnType) -> Vec<&'static str> {
    let ReturnType::Type(_, output) = output else {
        return vec![""];
    };
    let Type::Path(path) = &**output else {
        return match &**output {
            Type::Tuple(_) => vec!["Default::default()"],
            _ => Vec::new(),
        };
    };
    let Some(last) = path.path.segments.last() else {
        return Vec::new();
    };
    match last.ident.to_string().as_str() {
        "bool" => vec!["true", "false"],
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i32" | "i64" => vec!["0", "1"],
        "f32" | "f64" => vec!["0.0", "1.0"],
        "Option" => vec!["None", "Some(Default::default())"],
        "Self" | "String" => Vec::new(),
        _ => vec!["Default::default()"],
    }
}

/// Operators that may stand in place of one.
fn others(operator: &BinOp) -> &'static [&'static str] {
    match operator {
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::Lt(_) => &["==", ">", "<="],
        BinOp::Gt(_) => &["==", "<", ">="],
        BinOp::Le(_) => &["<", ">"],
        BinOp::Ge(_) => &[">", "<"],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::Add(_) => &["-", "*"],
        BinOp::Sub(_) => &["+", "/"],
        BinOp::Mul(_) => &["+", "/"],
        BinOp::Div(_) => &["%", "*"],
        BinOp::Rem(_) => &["/", "+"],
        BinOp::AddAssign(_) => &["-=", "*="],
        BinOp::SubAssign(_) => &["+=", "/="],
        BinOp::MulAssign(_) => &["+=", "/="],
        BinOp::BitAnd(_) => &["|", "^"],
        BinOp::BitOr(_) => &["&", "^"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        _ => &[],
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_list = attribute.path().is_ident("cfg");
        let tokens = attribute
            .meta
            .require_list()
            .map(|list| list.tokens.to_string());
        attribute.path().is_ident("test") || (is_list && tokens.is_ok_and(|t| t.contains("test")))
    })
}

fn holds_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => holds_let(&binary.left) || holds_let(&binary.right),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Fn(item) => self.function(&item.attrs, &item.sig, &item.block),
            Item::Mod(item) if is_test(&item.attrs) => {}
            Item::Impl(_) | Item::Mod(_) | Item::Trait(_) => visit::visit_item(self, item),
            _ => {}
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let last = item
            .trait_
            .as_ref()
            .and_then(|(path, _)| path.segments.last());
        let implemented = last.map(|segment| segment.ident.to_string());
        let of_text = ["Debug", "Display", "Default", "Error"];
        if is_test(&item.attrs) || implemented.is_some_and(|name| of_text.contains(&name.as_str()))
        {
            return;
        }
        let name = self.source(item.self_ty.span());
        self.type_name = name.split('<').next().unwrap_or_default().to_owned();
        for part in &item.items {
            if let syn::ImplItem::Fn(part) = part {
                self.function(&part.attrs, &part.sig, &part.block);
            }
        }
        self.type_name.clear();
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.type_name = item.ident.to_string();
        for part in &item.items {
            if let syn::TraitItem::Fn(part) = part
                && let Some(body) = &part.default
            {
                self.function(&part.attrs, &part.sig, body);
            }
        }
        self.type_name.clear();
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        if !holds_let(&binary.left) && !holds_let(&binary.right) {
            let (left, right) = (
                self.source(binary.left.span()),
                self.source(binary.right.span()),
            );
            let operator = self.source(binary.op.span());
            for other in others(&binary.op) {
                let change = format!("`{operator}` to `{other}`");
                let changed = match other.ends_with('=') && !operator.contains(['<', '>', '!']) {
                    true if operator != "==" => format!("{left} {other} {right}"),
                    _ => format!("({left}) {other} ({right})"),
                };
                self.replace(binary.span(), change, &changed);
            }
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_)) {
            let operand = self.source(unary.expr.span());
            let operator = self.source(unary.op.span());
            self.replace(unary.span(), format!("`{operator}` left out"), operand);
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_match(&mut self, matched: &'ast syn::ExprMatch) {
        let is_wild = |arm: &syn::Arm| matches!(arm.pat, syn::Pat::Wild(_));
        let has_wild = matched.arms.iter().any(is_wild);
        for arm in &matched.arms {
            let range = arm.pat.span().byte_range();
            let pattern = self.source(arm.pat.span());
            let pattern = pattern.split_whitespace().collect::<Vec<_>>().join(" ");
            if has_wild && !is_wild(arm) && !matches!(arm.pat, syn::Pat::Guard(_)) {
                let edit = Edit {
                    start: range.end,
                    end: range.end,
                    before: format!(" if !{ON}"),
                    after: String::new(),
                };
                self.add(format!("arm `{pattern}` left out"), edit);
            }
        }
        visit::visit_expr_match(self, matched);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(Expr::MethodCall(_) | Expr::Call(_) | Expr::Assign(_), Some(_)) =
            statement
        {
            let range = statement.span().byte_range();
            let text = &self.text[range.clone()];
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let short: String = text.trim_end_matches(';').chars().take(60).collect();
            let edit = Edit {
                start: range.start,
                end: range.end,
                before: format!("if !{ON} {{ "),
                after: " }".to_owned(),
            };
            self.add(format!("`{short}` left out"), edit);
        }
        visit::visit_stmt(self, statement);
    }

    // Constant parts, which a switch cannot be in.
    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_pat(&mut self, pattern: &'ast syn::Pat) {
        if let syn::Pat::Guard(guarded) = pattern {
            self.visit_expr(&guarded.guard);
        }
    }
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
}
