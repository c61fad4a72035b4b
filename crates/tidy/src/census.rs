//! Names and idioms counted: a ratchet, so that what is reached is not lost.
//!
//! Counted by syntax in what ships. `crates/tidy/tests/census.rs` holds the limits.

use crate::lines::test_files;
use crate::repository::Repository;
use std::collections::BTreeMap;
use syn::visit::{self, Visit};

/// Names of locals that do not say what the value is.
const VAGUE: [&str; 25] = [
    "all", "asked", "at", "both", "done", "each", "found", "given", "here", "kept", "left", "made",
    "now", "of", "one", "other", "rest", "said", "such", "taken", "that", "there", "wanted",
    "what", "which",
];

/// Counts over files.
#[derive(Default)]
pub struct Census {
    /// `let NAME` statements.
    pub locals: usize,
    /// Those of [`Census::locals`] whose name says nothing, as `path: name`.
    pub vague_locals: Vec<String>,
    /// Files with an arm `true =>` or `false =>`, one entry an arm.
    pub bool_arms: Vec<String>,
    /// Functions with a tuple as a parameter's pattern, as `path: function`.
    pub tuple_parameters: Vec<String>,
    /// Files that define each name of a struct, enum, trait or type alias.
    pub types: BTreeMap<String, Vec<String>>,
}

impl Census {
    /// Counts what the crates of a repository ship.
    ///
    /// # Errors
    /// Names a file that is not Rust.
    pub fn of_crates(repository: &Repository) -> Result<Census, String> {
        let tests = test_files(repository);
        let mut census = Census::default();
        for source in repository.below("crates/") {
            let is_shipped = source.is_rust()
                && source.path.split('/').nth(2) == Some("src")
                && !tests.contains(&source.path);
            if is_shipped {
                census.add(&source.path, &source.text)?;
            }
        }
        Ok(census)
    }

    /// Adds a file.
    ///
    /// # Errors
    /// It is not Rust.
    pub fn add(&mut self, path: &str, text: &str) -> Result<(), String> {
        let file = syn::parse_file(text).map_err(|error| format!("{path}: {error}"))?;
        let mut visitor = CensusVisitor { census: self, path };
        visitor.visit_file(&file);
        Ok(())
    }

    /// Names of types that more than one definition has, with the files of each.
    pub fn shared_types(&self) -> Vec<String> {
        let shared = self.types.iter().filter(|(_, paths)| paths.len() > 1);
        shared
            .map(|(name, paths)| format!("{name}: {}", paths.join(", ")))
            .collect()
    }
}

struct CensusVisitor<'a> {
    census: &'a mut Census,
    path: &'a str,
}

impl CensusVisitor<'_> {
    fn define(&mut self, name: &syn::Ident) {
        let paths = self.census.types.entry(name.to_string()).or_default();
        paths.push(self.path.to_owned());
    }

    fn look_at_parameters(&mut self, signature: &syn::Signature) {
        let tuples = signature.inputs.iter().filter(|input| {
            matches!(input, syn::FnArg::Typed(typed) if matches!(*typed.pat, syn::Pat::Tuple(_)))
        });
        let name = format!("{}: {}", self.path, signature.ident);
        let parameters = &mut self.census.tuple_parameters;
        parameters.extend(tuples.map(|_| name.clone()));
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let name = attribute.path().get_ident().map(ToString::to_string);
        let list = attribute.meta.require_list();
        match name.as_deref() {
            Some("test") => true,
            Some("cfg") => list.is_ok_and(|list| list.tokens.to_string() == "test"),
            _ => false,
        }
    })
}

impl<'ast> Visit<'ast> for CensusVisitor<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.look_at_parameters(signature);
        visit::visit_signature(self, signature);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let pattern = match &local.pat {
            syn::Pat::Type(typed) => &typed.pat,
            pattern => pattern,
        };
        if let syn::Pat::Ident(binding) = pattern {
            let name = binding.ident.to_string();
            self.census.locals += 1;
            if VAGUE.contains(&name.as_str()) {
                let place = format!("{}: {name}", self.path);
                self.census.vague_locals.push(place);
            }
        }
        visit::visit_local(self, local);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let is_bool = matches!(&arm.pat, syn::Pat::Lit(literal)
            if matches!(literal.lit, syn::Lit::Bool(_)));
        if is_bool {
            self.census.bool_arms.push(self.path.to_owned());
        }
        visit::visit_arm(self, arm);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.define(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.define(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.define(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.define(&item.ident);
        visit::visit_item_type(self, item);
    }
}
