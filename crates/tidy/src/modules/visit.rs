//! Finds the paths in the code of every file and turns them into arrows.

use super::resolve::{PathContext, PathTarget};
use super::tree::{Scope, Tree, imports};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, ImplItemFn, Item, ItemFn, ItemMod, ItemUse, Macro, PatIdent, Path, Stmt,
    TraitItemFn, VisRestricted,
};

/// Names by the files that they tie: from, to.
pub type ModuleArrows = BTreeMap<(usize, usize), BTreeSet<String>>;

/// All arrows of a crate, and the paths that were not found, with their files.
pub fn arrows(tree: &Tree) -> (ModuleArrows, Vec<(usize, String)>) {
    let (mut arrows, mut unresolved) = (ModuleArrows::new(), Vec::new());
    for (number, file) in tree.files.iter().enumerate() {
        let mut walk = PathVisitor {
            tree,
            file: number,
            module: file.module,
            blocks: Vec::new(),
            bound: BTreeSet::new(),
            arrows: &mut arrows,
            unresolved: &mut unresolved,
        };
        file.items.iter().for_each(|item| walk.visit_item(item));
    }
    (arrows, unresolved)
}

struct PathVisitor<'a> {
    tree: &'a Tree,
    file: usize,
    module: usize,
    blocks: Vec<Scope>,
    /// Variables of this function: a bare name that is one of them names no item.
    bound: BTreeSet<String>,
    arrows: &'a mut ModuleArrows,
    unresolved: &'a mut Vec<(usize, String)>,
}

impl PathVisitor<'_> {
    fn path(&mut self, path: &[String]) {
        let place = PathContext {
            module: self.module,
            blocks: &self.blocks,
        };
        let target = match path {
            [] => return,
            [name] if self.bound.contains(name) => return,
            // A name that a `use` imports for this file has its arrow from there.
            [name] => self.tree.resolve_bare(&place, name),
            _ => {
                let target = self.tree.resolve(&place, path);
                if target.is_none() {
                    self.unresolved.push((self.file, path.join("::")));
                }
                target
            }
        };
        self.arrow(target);
    }

    fn arrow(&mut self, target: Option<PathTarget>) {
        if let Some(PathTarget::Item { module, name }) = target {
            let to = self.tree.modules[module].file;
            if to != self.file {
                self.arrows.entry((self.file, to)).or_default().insert(name);
            }
        }
    }

    fn import(&mut self, path: &[String], is_public: bool) {
        let place = PathContext {
            module: self.module,
            blocks: &self.blocks,
        };
        let target = self.tree.resolve(&place, path);
        match &target {
            None => self.unresolved.push((self.file, path.join("::"))),
            // A facade re-exports items from below.
            Some(PathTarget::Item { module, .. })
                if is_public && self.tree.is_inside(*module, self.module) => {}
            _ => self.arrow(target),
        }
    }

    /// A macro by example called by its bare name, in textual scope.
    fn macro_name(&mut self, name: &str) {
        let Some(modules) = self.tree.macros.get(name) else {
            return;
        };
        let own = |module: &&usize| self.tree.modules[**module].file == self.file;
        if let (None, [module]) = (modules.iter().find(own), modules.as_slice()) {
            let (module, name) = (*module, name.to_owned());
            self.arrow(Some(PathTarget::Item { module, name }));
        }
    }

    /// Paths in the arguments of a macro, whose syntax is unknown.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        // Number of colons after the path; whether the next name is a field.
        let (mut colons, mut is_field) = (0, false);
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.path(&std::mem::take(&mut path));
                    }
                    let goes_on = colons == 2;
                    if !is_field && goes_on != path.is_empty() {
                        path.push(name.to_string());
                    }
                    (colons, is_field) = (0, false);
                }
                TokenTree::Punct(sign) if sign.as_char() == ':' => colons += 1,
                TokenTree::Punct(sign) => {
                    if sign.as_char() == '!' && path.len() == 1 {
                        self.macro_name(&path[0]);
                    }
                    self.path(&std::mem::take(&mut path));
                    (colons, is_field) = (0, sign.as_char() == '.');
                }
                TokenTree::Group(group) => {
                    self.path(&std::mem::take(&mut path));
                    (colons, is_field) = (0, false);
                    self.tokens(group.stream());
                }
                TokenTree::Literal(_) => {
                    self.path(&std::mem::take(&mut path));
                    (colons, is_field) = (0, false);
                }
            }
        }
        self.path(&path);
    }

    /// A function has its own variables.
    fn function(&mut self, inside: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.bound);
        inside(self);
        self.bound = outer;
    }
}

impl<'ast> Visit<'ast> for PathVisitor<'_> {
    fn visit_path(&mut self, path: &'ast Path) {
        if path.leading_colon.is_none() {
            let names = path.segments.iter().map(|part| part.ident.to_string());
            self.path(&names.collect::<Vec<_>>());
        }
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        for import in imports(item) {
            // A `*` makes arrows only through the names used.
            if import.name.is_some() {
                self.import(&import.path, import.is_public);
            }
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let Some((_, items)) = &item.content else {
            return;
        };
        let Some(child) = self.tree.child(self.module, &item.ident.to_string()) else {
            return;
        };
        let outer = std::mem::replace(&mut self.module, child);
        items.iter().for_each(|item| self.visit_item(item));
        self.module = outer;
    }

    fn visit_block(&mut self, block: &'ast Block) {
        let items = block.stmts.iter().filter_map(|statement| match statement {
            Stmt::Item(item) => Some(item),
            _ => None,
        });
        let items: Vec<&Item> = items.collect();
        self.blocks.push(Scope::of(items));
        visit::visit_block(self, block);
        self.blocks.pop();
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(|walk| visit::visit_item_fn(walk, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(|walk| visit::visit_impl_item_fn(walk, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.function(|walk| visit::visit_trait_item_fn(walk, item));
    }

    fn visit_pat_ident(&mut self, bound: &'ast PatIdent) {
        let name = bound.ident.to_string();
        if name.starts_with(char::is_uppercase) {
            // A constant or a variant to compare with.
            self.path(&[name]);
        } else {
            self.bound.insert(name);
        }
        visit::visit_pat_ident(self, bound);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        if let Some(name) = call.path.get_ident() {
            self.macro_name(&name.to_string());
        }
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }

    /// Attributes of serde name functions and modules in strings.
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let (true, syn::Meta::List(list)) = (attribute.path().is_ident("serde"), &attribute.meta)
        {
            for token in list.tokens.clone() {
                let text = token.to_string();
                if let Ok(path) = syn::parse_str::<Path>(text.trim_matches('"')) {
                    self.visit_path(&path);
                }
            }
        }
    }

    /// `pub(in path)` uses nothing.
    fn visit_vis_restricted(&mut self, _: &'ast VisRestricted) {}
}
